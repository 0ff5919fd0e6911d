package charset

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"

	"docent/localindex/document"
)

const (
	simplified  = "青花缠枝莲纹瓶于一九五一年由收藏家郑德坤先生捐赠，原编号瓷-204，入藏时口沿有一处小冲线，后由修复师陆宗润修补。\n同年入藏的还有粉彩花蝶纹盘一件。"
	traditional = "青花纏枝蓮紋瓶於一九五一年由收藏家鄭德坤先生捐贈，原編號瓷-204，入藏時口沿有一處小衝線，後由修復師陸宗潤修補。\n同年入藏的還有粉彩花蝶紋盤一件。"
	french      = "Le vase à fleurs bleues a été offert en 1951 par un collectionneur éclairé, très connu à l’époque."
	english     = "The vase was given in 1951 by a collector."
)

func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		in         encoding.Encoding
		want       string // "" is refused
	}{
		{"UTF-8", simplified, encoding.Nop, "UTF-8"},
		{"GB18030", simplified, simplifiedchinese.GB18030, "GB18030"},
		{"GBK of traditional characters", traditional, simplifiedchinese.GBK, "GB18030"},
		{"GB18030, hardly any Chinese", english + " 瓷瓶。", simplifiedchinese.GB18030, "GB18030"},
		{"GB18030, a word", "青花瓷瓶", simplifiedchinese.GB18030, "GB18030"},
		{"GB18030, rare characters", "夔龙纹、饕餮纹、簋、盨、簠、甗、罍、觥、卣、斝", simplifiedchinese.GB18030, "GB18030"},
		{"Big5", traditional, traditionalchinese.Big5, "Big5"},
		{"Big5 and English", english + strings.Repeat(traditional, 3), traditionalchinese.Big5, "Big5"},
		{"UTF-16 with a mark", simplified, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "UTF-16"},
		{"UTF-16 little end first", simplified, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "UTF-16"},
		{"UTF-16 big end first", traditional, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "UTF-16"},
		{"UTF-16 of English", english, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "UTF-16"},
		{"UTF-16 of both", english + simplified, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "UTF-16"},
		{"Windows-1252", french, charmap.Windows1252, "Windows-1252"},
		{"Windows-1252, capitals", "MUSÉE", charmap.Windows1252, "Windows-1252"},
		{"Windows-1251 of Russian", "Ваза была подарена музею в 1951 году известным коллекционером.", charmap.Windows1251, ""},
		{"Shift JIS", "この花瓶は一九五一年に収集家から寄贈されたものです。", japanese.ShiftJIS, ""},
		{"EUC-KR", "이 꽃병은 천구백오십일년에 수집가가 기증한 것입니다.", korean.EUCKR, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data, err := tt.in.NewEncoder().String(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			got, name, err := Decode([]byte(data))
			if tt.want == "" {
				if !errors.Is(err, document.ErrBroken) {
					t.Fatalf("read as %s: %q, want it refused", name, got)
				}
				return
			}
			if err != nil || name != tt.want || got != tt.text {
				t.Errorf("read as %q: %q, %v", name, got, err)
			}
		})
	}
}

// FuzzDecode: whatever the bytes are, what comes out is UTF-8 without the ends of lines of other systems.
func FuzzDecode(f *testing.F) {
	for _, enc := range []encoding.Encoding{encoding.Nop, simplifiedchinese.GB18030, traditionalchinese.Big5, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)} {
		if data, err := enc.NewEncoder().Bytes([]byte(traditional)); err == nil {
			f.Add(data)
		}
	}
	f.Add([]byte(french))
	f.Fuzz(func(t *testing.T, data []byte) {
		text, name, err := Decode(data)
		if err == nil && (name == "" || strings.ToValidUTF8(text, "") != text || strings.Contains(text, "\r")) {
			t.Errorf("%q is %q", name, text)
		}
	})
}
