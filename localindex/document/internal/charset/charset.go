// Package charset turns the bytes of a text file into text: UTF-8, UTF-16, GB18030 (and with it GBK and GB2312), and
// Windows-1252 where nothing else fits.
package charset

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode/utf32"

	xunicode "golang.org/x/text/encoding/unicode"

	"docent/localindex/document"
)

// maxBroken is the share of characters that may not fit into an encoding for it still to be that one.
const maxBroken = 0.002

// sampled is how many bytes an encoding is guessed from.
const sampled = 256 << 10

// Decode returns the text with line ends made "\n", and the name of its encoding. A file that holds bytes that no
// text has is broken.
func Decode(data []byte) (text, name string, err error) {
	enc, name := detect(data)
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

// detect returns nil for UTF-8.
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
	if decoded, err := simplifiedchinese.GB18030.NewDecoder().Bytes(sample); err == nil && brokenShare(string(decoded)) <= maxBroken && chinese(string(decoded)) {
		return simplifiedchinese.GB18030, "GB18030"
	}
	return charmap.Windows1252, "Windows-1252"
}

// withoutMark reports whether every other byte is zero as often as it is in Latin text in UTF-16.
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
	}
	return xunicode.LittleEndian, false
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
