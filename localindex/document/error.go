package document

import (
	"errors"
	"strings"
)

// Why a document could not be read; test with errors.Is.
var (
	ErrEmpty       = errors.New("there is no text in it")
	ErrTooLarge    = errors.New("it is over a limit")
	ErrBroken      = errors.New("it is broken")
	ErrEncrypted   = errors.New("it is encrypted")
	ErrUnsupported = errors.New("this format is not read")
	ErrNeedsOCR    = errors.New("its pages are pictures of text")
	ErrTooSlow     = errors.New("reading it took too long")
	ErrUnsafe      = errors.New("it holds what is refused")
)

// Error is why one file could not be read. Other files are not touched by it.
type Error struct {
	Op     string // what was being done: "open", "read page 3"
	Name   string // the file
	Reason string // in plain words
	Hint   string // what whoever wrote the file can do, may be empty
	Err    error  // one of the sentinels of this package, or a context's error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Name != "" {
		b.WriteString(" " + e.Name)
	}
	b.WriteString(": " + e.Reason)
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Broken is the error of a file whose inside does not hold to its format.
func Broken(op, reason string) *Error {
	return &Error{Op: op, Reason: reason, Hint: "open it in the program it was made with and save it again", Err: ErrBroken}
}

// Lasting reports whether an error lies in the file itself, so that reading it again gives the same.
func Lasting(err error) bool {
	for _, kind := range []error{ErrEmpty, ErrTooLarge, ErrBroken, ErrEncrypted, ErrUnsupported, ErrNeedsOCR, ErrUnsafe} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
