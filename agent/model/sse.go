package model

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Limits of a stream. An answer is some 2 KiB of text in some 100 KiB of events.
const (
	maxLine   = 256 << 10 // bytes of one line, and of the data of one event
	maxStream = 8 << 20   // bytes of the whole stream
	maxText   = 64 << 10  // bytes of the text in it
)

// sseReader reads server-sent events.
type sseReader struct {
	r      *bufio.Reader
	line   []byte
	data   []byte
	skipLF bool // the line before ended with CR, whose LF may follow
	// unterminated is set when the last event was not followed by a blank line: it may be a half one.
	unterminated bool
}

func newSSEReader(r io.Reader) *sseReader {
	return &sseReader{r: bufio.NewReader(&limitedReader{r: r, left: maxStream})}
}

// next returns the data of the next event that has any, valid until the call after it. Comments, heartbeats and empty
// events are skipped. The error is io.EOF at the end of the stream, ErrTooLarge above a limit, ErrMalformed where a
// line is no server-sent event, or the reader's own. A line of bare JSON, as some proxies send an error, is an event.
func (s *sseReader) next() ([]byte, error) {
	s.data = s.data[:0]
	hasData := false
	for {
		line, err := s.readLine()
		if err != nil && !(errors.Is(err, io.EOF) && len(line) > 0) {
			if errors.Is(err, io.EOF) && hasData {
				s.unterminated = true
				return s.data, nil
			}
			return nil, err
		}
		atEnd := err != nil
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case len(line) == 0:
			if hasData && len(s.data) > 0 {
				return s.data, nil
			}
			hasData = false
		case line[0] == ':':
		case line[0] == '{' && !hasData:
			s.unterminated = atEnd
			return line, nil
		case string(name) == "data":
			if hasData {
				s.data = append(s.data, '\n')
			}
			s.data = append(s.data, bytes.TrimPrefix(value, []byte(" "))...)
			hasData = true
			if len(s.data) > maxLine {
				return nil, fmt.Errorf("%w: an event of more than %d bytes", ErrTooLarge, maxLine)
			}
		case string(name) == "event", string(name) == "id", string(name) == "retry":
		case atEnd && isFieldStart(line):
			return nil, io.EOF
		default:
			return nil, fmt.Errorf("%w: a line begins with %q", ErrMalformed, shorten(string(line), 40))
		}
	}
}

// isFieldStart reports whether a line cut off by the end of the stream may have been going to be a field.
func isFieldStart(line []byte) bool {
	for _, field := range []string{"data", "event", "id", "retry"} {
		if bytes.HasPrefix([]byte(field), line) {
			return true
		}
	}
	return false
}

// readLine returns the next line without its end (LF, CR LF or CR). At the end of the stream it returns what is left
// together with io.EOF.
func (s *sseReader) readLine() ([]byte, error) {
	s.line = s.line[:0]
	for {
		b, err := s.r.ReadByte()
		if err != nil {
			return s.line, err
		}
		if s.skipLF {
			s.skipLF = false
			if b == '\n' {
				continue
			}
		}
		switch b {
		case '\n':
			return s.line, nil
		case '\r':
			s.skipLF = true
			return s.line, nil
		}
		if len(s.line) >= maxLine {
			return nil, fmt.Errorf("%w: a line of more than %d bytes", ErrTooLarge, maxLine)
		}
		s.line = append(s.line, b)
	}
}

// limitedReader ends with ErrTooLarge after left bytes.
type limitedReader struct {
	r    io.Reader
	left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, int64(maxStream))
	}
	if int64(len(p)) > l.left {
		p = p[:l.left]
	}
	n, err := l.r.Read(p)
	l.left -= int64(n)
	return n, err
}

// shorten cuts a text to n characters.
func shorten(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}
