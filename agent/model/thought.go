package model

import "strings"

// Models that reason aloud put their thoughts between these marks at the start of the text.
const (
	thoughtOpen  = "<think>"
	thoughtClose = "</think>"
)

// thoughts takes the thoughts from the front of a streamed text.
type thoughts struct {
	held     string // what is not decided yet; inside thoughts, only what their closing mark may begin in
	thinking bool
	done     bool // the text proper has begun
}

// pass returns what of a piece is text proper.
func (t *thoughts) pass(piece string) string {
	if t.done {
		return piece
	}
	t.held += piece
	if !t.thinking {
		t.held = strings.TrimLeft(t.held, " \n\r\t")
		if strings.HasPrefix(thoughtOpen, t.held) && t.held != thoughtOpen {
			return "" // nothing yet, or the beginning of the mark
		}
		t.thinking = strings.HasPrefix(t.held, thoughtOpen)
	}
	if t.thinking {
		_, after, closed := strings.Cut(t.held, thoughtClose)
		if !closed {
			t.held = t.held[max(0, len(t.held)-len(thoughtClose)+1):]
			return ""
		}
		t.thinking = false
		t.held = strings.TrimLeft(after, " \n\r\t")
		return t.pass("") // thoughts may follow each other
	}
	t.done = true
	return t.held
}

// rest returns what was held back when the text has ended: a text that only looked as if thoughts began.
func (t *thoughts) rest() string {
	if t.done || t.thinking {
		return ""
	}
	return t.held
}
