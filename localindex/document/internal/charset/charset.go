// Package charset turns the bytes of a text file into text: UTF-8, UTF-16, GB18030 (and with it GBK and GB2312), Big5,
// and Windows-1252 where nothing else fits and it may be that. What is in none of them is refused: letters that nobody
// wrote must not be shown to anybody.
package charset

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode/utf32"

	xunicode "golang.org/x/text/encoding/unicode"

	"docent/localindex/document"
)

// maxBroken is the share of characters that may not fit into an encoding for it still to be that one.
const maxBroken = 0.002

// sampled is how many bytes an encoding is guessed from.
const sampled = 256 << 10

// Decode returns the text with line ends made "\n", and the name of its encoding. A file that holds bytes that no
// text has, or is in an encoding that is not known, is broken.
func Decode(data []byte) (text, name string, err error) {
	enc, name := detect(data)
	if name == "" {
		reason := "its characters are in an encoding that is not known"
		if binary(latin(data)) {
			reason = "it is not a text"
		}
		return "", "", &document.Error{Op: "decode", Reason: reason, Hint: "save it as UTF-8 text", Err: document.ErrBroken}
	}
	if enc == nil {
		text = string(bytes.TrimPrefix(data, []byte("\uFEFF")))
	} else {
		decoded, err := enc.NewDecoder().Bytes(data)
		if err != nil {
			return "", "", document.Broken("decode", "its characters are not "+name)
		}
		text = strings.TrimPrefix(string(decoded), "\uFEFF")
	}
	if binary(text) {
		return "", "", &document.Error{Op: "decode", Reason: "it is not a text", Hint: "save it as UTF-8 text", Err: document.ErrBroken}
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n").Replace(strings.ToValidUTF8(text, "\uFFFD")), name, nil
}

// detect returns nil for UTF-8, and no name for what is not known.
func detect(data []byte) (encoding.Encoding, string) {
	switch {
	case bytes.HasPrefix(data, []byte("\xFF\xFE\x00\x00")):
		return utf32.UTF32(utf32.LittleEndian, utf32.UseBOM), "UTF-32"
	case bytes.HasPrefix(data, []byte("\xFF\xFE")), bytes.HasPrefix(data, []byte("\xFE\xFF")):
		return xunicode.UTF16(xunicode.LittleEndian, xunicode.UseBOM), "UTF-16"
	case utf8.Valid(data) && !bytes.Contains(data[:min(len(data), 1024)], []byte{0}):
		return nil, "UTF-8"
	}
	if order, ok := withoutMark(data); ok {
		return xunicode.UTF16(order, xunicode.IgnoreBOM), "UTF-16"
	}
	sample := data[:min(len(data), sampled)]
	if len(sample) < len(data) {
		sample = sample[:len(sample)-sampleTail(sample)]
	}
	if brokenShare(string(sample)) <= maxBroken {
		return nil, "UTF-8"
	}
	big5 := fit(traditionalchinese.Big5, big5Common, sample)
	switch {
	case big5 >= minBig5Share && big5 > fit(simplifiedchinese.GB18030, gbkCommon, sample):
		return traditionalchinese.Big5, "Big5"
	case fit(simplifiedchinese.GB18030, gb2312, sample) >= minGBShare && !hangul(sample):
		return simplifiedchinese.GB18030, "GB18030"
	case western(sample):
		return charmap.Windows1252, "Windows-1252"
	}
	return nil, ""
}

// A text is Big5 if so many of its double bytes are characters in everyday use, and there are so many of them that this is
// no accident: a dash and a quotation mark of another encoding may well be one. Texts in GB18030 have two thirds at most of
// what would be everyday characters of Big5, since their own are spread over more leading bytes. A text is GB18030 if some
// are of GB 2312; traditional characters are not, nor is a letter of western Europe with the one behind it.
const (
	minBig5Share = 0.8
	minBig5      = 10
	minGBShare   = 0.3
	minSyllables = 20 // of Korean
)

// fit is the share of double bytes that are among those known, 0 where the text cannot be in an encoding.
func fit(enc encoding.Encoding, known func(lead, trail byte) bool, sample []byte) float64 {
	decoded, err := enc.NewDecoder().Bytes(sample)
	if err != nil || brokenShare(string(decoded)) > maxBroken || !chinese(string(decoded)) {
		return 0
	}
	fits, all := 0, 0
	for i := 0; i+1 < len(sample); i++ {
		if sample[i] < 0x80 {
			continue
		}
		if known(sample[i], sample[i+1]) {
			fits++
		}
		all++
		i++
	}
	if enc == traditionalchinese.Big5 && all < minBig5 {
		return 0
	}
	return float64(fits) / float64(max(all, 1))
}

// gb2312: punctuation and the 6,763 characters of GB 2312.
func gb2312(lead, trail byte) bool {
	return trail >= 0xA1 && (lead >= 0xA1 && lead <= 0xA3 || lead >= 0xB0 && lead <= 0xF7)
}

// gbkCommon: punctuation and the 3,755 characters of the first level of GB 2312.
func gbkCommon(lead, trail byte) bool {
	return trail >= 0xA1 && (lead >= 0xA1 && lead <= 0xA3 || lead >= 0xB0 && lead <= 0xD7)
}

// big5Common: punctuation and the 5,401 characters of the first level of Big5.
func big5Common(lead, trail byte) bool {
	return lead >= 0xA1 && lead <= 0xC6 && (trail >= 0x40 && trail <= 0x7E || trail >= 0xA1)
}

// hangul reports whether a text that may be GB 18030 is Korean (EUC-KR): its syllables end at C8, where only two thirds of
// the characters of Chinese have begun.
func hangul(sample []byte) bool {
	syllables := 0
	for i := 0; i+1 < len(sample); i++ {
		switch lead := sample[i]; {
		case lead < 0x80:
			continue
		case lead >= 0xB0 && lead <= 0xC8 && sample[i+1] >= 0xA1:
			syllables++
		case lead > 0xC8, lead < 0xA1, sample[i+1] < 0xA1:
			return false
		}
		i++
	}
	return syllables >= minSyllables
}

// western reports whether a text may be one of western Europe: its letters beyond ASCII stand between those of it. In
// texts of other scripts most bytes are beyond ASCII.
func western(sample []byte) bool {
	beyond, letters := 0, 0
	for _, b := range sample {
		switch {
		case b >= 0x80:
			beyond++
			letters++
		case b >= 'A' && b <= 'Z', b >= 'a' && b <= 'z':
			letters++
		}
	}
	return beyond*3 <= letters || letters < 4
}

// withoutMark finds text in UTF-16 that does not begin with its mark: where every other byte is zero as often as it is in
// Latin text, or where pairs of bytes are Chinese characters.
func withoutMark(data []byte) (xunicode.Endianness, bool) {
	head := data[:min(len(data), 4096)]
	var zeros [2]int
	for i, b := range head {
		if b == 0 {
			zeros[i%2]++
		}
	}
	half := len(head) / 2
	switch {
	case half >= 4 && zeros[1]*3 > half && zeros[0]*20 < half:
		return xunicode.LittleEndian, true
	case half >= 4 && zeros[0]*3 > half && zeros[1]*20 < half:
		return xunicode.BigEndian, true
	case wideChinese(head, 1):
		return xunicode.LittleEndian, true
	case wideChinese(head, 0):
		return xunicode.BigEndian, true
	}
	return xunicode.LittleEndian, false
}

// wideChinese reports whether nine of ten pairs of bytes, whose byte at high is the greater, are characters of Chinese
// text. Pairs of bytes of other encodings look like Chinese characters, too, but not like those in everyday use.
func wideChinese(head []byte, high int) bool {
	fits, han, everyday := 0, 0, 0
	pairs := len(head) / 2
	for i := range pairs {
		r := rune(head[2*i+high])<<8 | rune(head[2*i+1-high])
		switch {
		case r >= 0x4E00 && r <= 0x9FA5:
			han++
			fits++
			if isEveryday(r) {
				everyday++
			}
		case r >= 0x3000 && r <= 0x303F, r >= 0xFF00 && r <= 0xFFEF, r >= 0x2010 && r <= 0x2030, r >= 0x20 && r < 0x7F, r == '\n', r == '\r', r == '\t', r == 0xB7:
			fits++
		}
	}
	return pairs >= 4 && fits*10 >= pairs*9 && han*2 >= pairs && everyday*3 >= han*2
}

// isEveryday reports whether a character is of the first level of GB 2312 or of Big5.
func isEveryday(r rune) bool {
	gbk, err := simplifiedchinese.GBK.NewEncoder().Bytes([]byte(string(r)))
	if err == nil && len(gbk) == 2 && gbkCommon(gbk[0], gbk[1]) {
		return true
	}
	big5, err := traditionalchinese.Big5.NewEncoder().Bytes([]byte(string(r)))
	return err == nil && len(big5) == 2 && big5Common(big5[0], big5[1])
}

// sampleTail is the length of what comes after the last line end of a sample, where that is near: a sample should not
// end within a character.
func sampleTail(sample []byte) int {
	if i := bytes.LastIndexByte(sample, '\n'); i >= 0 && len(sample)-i < 4096 {
		return len(sample) - i
	}
	return 0
}

// brokenShare is the share of characters beyond ASCII that did not fit.
func brokenShare(s string) float64 {
	broken, all := 0, 0
	for _, r := range s {
		if r == utf8.RuneError {
			broken++
		}
		if r >= utf8.RuneSelf {
			all++
		}
	}
	if all == 0 {
		return 0
	}
	return float64(broken) / float64(all)
}

// chinese reports whether what is not ASCII is mostly Chinese characters and punctuation that are in use: decoding
// other encodings as GB18030 gives rare ones.
func chinese(s string) bool {
	common, all := 0, 0
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			continue
		case r >= 0x4E00 && r <= 0x9FA5, r >= 0x3000 && r <= 0x303F, r >= 0xFF00 && r <= 0xFFEF, unicode.IsPunct(r):
			common++
		}
		all++
	}
	return all > 0 && common*10 >= all*9
}

// latin makes a character of each byte.
func latin(data []byte) string {
	data = data[:min(len(data), sampled)]
	runes := make([]rune, len(data))
	for i, b := range data {
		runes[i] = rune(b)
	}
	return string(runes)
}

// binary reports whether more than one in a hundred characters are control characters that no text has.
func binary(s string) bool {
	control, all := 0, 0
	for _, r := range s {
		if r == 0 || unicode.IsControl(r) && !unicode.IsSpace(r) && r != 0x1A && r != 0x1B {
			control++
		}
		all++
		if all == sampled {
			break
		}
	}
	return control*100 > all
}
