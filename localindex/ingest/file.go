package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Limits of an authoring folder.
const (
	MaxTextBytes    = 8 << 20  // one text file
	MaxPictureBytes = 64 << 20 // one picture
	MaxMegapixels   = 100      // of one picture
	MaxFolderFiles  = 100_000  // looked at in one folder and those below it
)

// readText reads a text file of the folder: UTF-8 with or without a byte order mark, any line ends, brought to NFC.
// It reports what is wrong with it and then returns false.
func readText(root *os.Root, name string, rep *report) ([]byte, bool) {
	data, err := readLimited(root, name, MaxTextBytes)
	if err != nil {
		rep.errorf(name, 0, "%s", fileProblem(err, "text", MaxTextBytes))
		return nil, false
	}
	text, line, problem := cleanText(data)
	if problem != "" {
		rep.errorf(name, line, "%s", problem)
		return nil, false
	}
	return text, true
}

// errTooLarge is returned by readLimited.
var errTooLarge = errors.New("file is too large")

func readLimited(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := openPlain(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, errTooLarge
	}
	return data, nil
}

// errNotPlain is returned for folders, pipes and devices.
var errNotPlain = errors.New("not a plain file")

// openPlain opens a plain file for reading. Opening a pipe would wait for a writer, so it looks first.
func openPlain(root *os.Root, name string) (*os.File, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotPlain
	}
	return root.Open(name)
}

// fileProblem says in plain words why a file cannot be read.
func fileProblem(err error, what string, limit int64) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case errors.Is(err, fs.ErrPermission):
		return "this file may not be read: its permissions forbid it"
	case errors.Is(err, errTooLarge):
		return fmt.Sprintf("this file is larger than %d MiB, the most a %s may have", limit>>20, what)
	case errors.Is(err, errNotPlain):
		return "this is not a plain file"
	}
	return fmt.Sprintf("this file cannot be read: %v", err)
}

var (
	utf8BOM    = []byte{0xEF, 0xBB, 0xBF}
	utf16LEBOM = []byte{0xFF, 0xFE}
	utf16BEBOM = []byte{0xFE, 0xFF}
)

// cleanText takes off a byte order mark, unifies line ends and brings the text to NFC. Where that cannot be, problem
// says why and line where.
func cleanText(data []byte) (text []byte, line int, problem string) {
	data = bytes.TrimPrefix(data, utf8BOM)
	if bytes.HasPrefix(data, utf16LEBOM) || bytes.HasPrefix(data, utf16BEBOM) {
		return nil, 1, "this file is UTF-16; save it as UTF-8"
	}
	if !utf8.Valid(data) {
		return nil, invalidLine(data), "this is not UTF-8 text; save the file as UTF-8"
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
	for i, b := range data {
		if b < ' ' && b != '\n' && b != '\t' && b != '\f' || b == 0x7F {
			return nil, 1 + bytes.Count(data[:i], []byte("\n")), fmt.Sprintf("there is a control character (code %d) in the text; is this a text file?", b)
		}
	}
	return norm.NFC.Bytes(data), 0, ""
}

// invalidLine is the line of the first byte that is not UTF-8.
func invalidLine(data []byte) int {
	line := 1
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		data = data[size:]
	}
	return line
}

// skipped reports whether a file or folder is passed over without a word: hidden ones, and what editors and file
// managers leave behind.
func skipped(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || strings.HasSuffix(name, "~") ||
		strings.EqualFold(name, "readme.md") || strings.EqualFold(name, "thumbs.db") || strings.EqualFold(name, "desktop.ini")
}
