package agent

// EventType names what an [Event] carries.
type EventType string

// The events of one turn, in the order they come: stages as they begin, then sources before the first token that
// cites them, tokens, follow-ups, and exactly one done at the end. While a model writes, sources come more than once;
// each time they are the whole list so far. A turn that cannot be finished ends with an error event instead of done,
// and one whose context is done ends with neither.
const (
	EventStage     EventType = "stage"
	EventSources   EventType = "sources"
	EventToken     EventType = "token"
	EventFollowUps EventType = "follow_ups"
	EventClarify   EventType = "clarify" // the guide asks back; its question comes as tokens too, its choices as follow-ups too
	EventReset     EventType = "reset"   // what was streamed so far is withdrawn; the text starts again
	EventDone      EventType = "done"
	EventError     EventType = "error"
)

// Event is one step of an answer. Only the fields of its type are set.
type Event struct {
	Type      EventType `json:"type"`
	Stage     string    `json:"stage,omitempty"` // retrieve, write, check
	Text      string    `json:"text,omitempty"`  // token: a piece of the answer, with [n] marks
	Aside     bool      `json:"aside,omitempty"` // token: it warns of this turn only, and is not to be remembered
	Sources   []Source  `json:"sources,omitempty"`
	FollowUps []string  `json:"follow_ups,omitempty"`
	Clarify   *Clarify  `json:"clarify,omitempty"`
	Done      *Done     `json:"done,omitempty"`
	Message   string    `json:"message,omitempty"` // error: one sentence in the visitor's language
}

// Clarify is a question back, with answers to tap.
type Clarify struct {
	Text    string   `json:"text"`
	Choices []Choice `json:"choices"`
}

// Choice is one answer to tap. Ask is the whole question it stands for.
type Choice struct {
	Label string `json:"label"`
	Ask   string `json:"ask"`
}

// Source is a passage that the answer cites as [N].
type Source struct {
	N        int    `json:"n"` // 1-based
	Passage  string `json:"passage"`
	Section  string `json:"section"`
	Exhibit  string `json:"exhibit,omitempty"`
	Title    string `json:"title"`   // exhibit title or document name
	Heading  string `json:"heading"` // section heading
	Quote    string `json:"quote"`   // the passage's text
	Document string `json:"document"`
	URL      string `json:"url,omitempty"`  // of a page in the web, which no passage of the gallery is
	Page     int    `json:"page,omitempty"` // on which the passage begins, 1-based; 0 where the document has no pages
	// LastPage is the page on which the passage ends, where that is another.
	LastPage int `json:"last_page,omitempty"`
	// Published are the works the section's text names as its own sources.
	Published []Published `json:"published,omitempty"`
}

// Published is a work that a section rests on.
type Published struct {
	Title string `json:"title"`
	URL   string `json:"url,omitempty"`
}

// WrittenBy says what made the words of an answer.
type WrittenBy string

// The makers of answers.
const (
	WrittenByGallery WrittenBy = "gallery" // sentences of the gallery's own texts
	WrittenByModel   WrittenBy = "model"   // a language model, from the same evidence
	WrittenByTools   WrittenBy = "tools"   // computed from the gallery's facts: a route, the hours of a day, a comparison
	WrittenByWeb     WrittenBy = "web"     // sentences of a page in the web that the house allows; the gallery has nothing on it
	WrittenByNobody  WrittenBy = "nobody"  // the gallery has nothing on it, and says so
)

// Reply says what kind of answer a turn had where it was not one to a question.
type Reply string

// The replies that are no gap in the gallery's texts.
const (
	ReplyClarify  Reply = "clarify"  // asked back
	ReplyCourtesy Reply = "courtesy" // a greeting returned, an insult let pass
	ReplyMemory   Reply = "memory"   // told what the visitor had said or asked
)

// Done ends a turn.
type Done struct {
	Answered  bool      `json:"answered"` // false where the gallery has nothing on it
	WrittenBy WrittenBy `json:"written_by"`
	Reply     Reply     `json:"reply,omitempty"`
	Language  string    `json:"language"`
	Millis    int64     `json:"ms"`
	// ModelError says why the model's answer was not used, for the trace; never shown to visitors.
	ModelError string `json:"model_error,omitempty"`
}
