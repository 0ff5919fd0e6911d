package model

import "strings"

// toolMarks begin a tool call that a server passed on as text.
var toolMarks = []string{"<tool_call", "<|tool_call", "<function=", "<function_call", "[TOOL_CALLS]", "<|python_tag|>"}

// longestToolMark is how much of the text so far a mark can begin in.
const longestToolMark = 16

// maxToolHead is how many bytes from its beginning a text that starts like JSON is looked at.
const maxToolHead = 512

// toolWatch looks for a tool call written out as text, in the pieces of a stream.
type toolWatch struct {
	head string // the text so far, at most maxToolHead bytes
	tail string // its last bytes
}

// calls takes the next piece and reports whether the text so far holds a tool call.
func (w *toolWatch) calls(piece string) bool {
	if room := maxToolHead - len(w.head); room > 0 {
		w.head += piece[:min(len(piece), room)]
	}
	w.tail += piece
	for _, mark := range toolMarks {
		if strings.Contains(w.tail, mark) {
			return true
		}
	}
	w.tail = w.tail[max(0, len(w.tail)-longestToolMark):]

	head := strings.TrimSpace(w.head)
	head = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(head, "```json"), "```"))
	return strings.HasPrefix(head, "{") && strings.Contains(head, `"name"`) &&
		(strings.Contains(head, `"arguments"`) || strings.Contains(head, `"parameters"`))
}
