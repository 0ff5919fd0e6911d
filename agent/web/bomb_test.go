package web

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

// bomb is a small file that unpacks to more than a page may have.
func bomb(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	for range 2 * maxPage / 1024 {
		if _, err := w.Write([]byte(strings.Repeat("a", 1024))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
