package tesseract

import (
	"math"
	"strings"
	"testing"
)

// FuzzReadTSV reads whatever a program may print: no word is made up, and the confidence stays a share.
func FuzzReadTSV(f *testing.F) {
	for _, s := range []string{
		"", "5", "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext",
		"5\t1\t1\t1\t1\t1\t0\t0\t9\t9\t96.5\tThe\n5\t1\t1\t1\t1\t2\t0\t0\t9\t9\t90\tgallery\r\n5\t1\t1\t2\t1\t1\t0\t0\t9\t9\t90\t图案\n",
		"5\t1\t1\t1\t1\t1\t0\t0\t9\t9\tNaN\tx", "5\t1\t1\t1\t1\t1\t0\t0\t9\t9\t+Inf\tx", "5\t1\t1\t1\t1\t1\t0\t0\t9\t9\t1e308\tx",
		"5\t\t\t\t\t\t\t\t\t\t90\t\xff\xfe\ty",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, table string) {
		text, confidence := readTSV(table)
		if math.IsNaN(confidence) || confidence < 0 || confidence > 1 {
			t.Errorf("confidence %v", confidence)
		}
		if (text == "") != (confidence == 0) {
			t.Errorf("text %q with confidence %v", text, confidence)
		}
		for _, word := range strings.Fields(text) {
			for r := range strings.SplitSeq(word, "") {
				if !strings.Contains(table, r) {
					t.Errorf("%q is not in the table", r)
				}
			}
		}
	})
}
