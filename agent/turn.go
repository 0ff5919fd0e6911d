package agent

import "docent/localindex/gallery"

// Turn is one thing a visitor asks of the guide.
type Turn struct {
	Visit    string
	Exhibit  string // id of the exhibit in hand; empty means none
	Question string // as typed; ignored when Explain is set
	Explain  bool   // give the exhibit's default explanation, about one minute when read aloud
	// Language is the visit's language tag. A question is answered in its own language where its script tells it.
	Language string
	Level    gallery.Level // empty means general
	History  []Exchange    // of this visit, oldest first
	Place    string        // id of the kiosk, where a route begins
	Seen     []string      // exhibits of this visit, which a route leaves out
	// Summary is of the turns before History, a line each, oldest first; empty where there were none.
	Summary string
	// Remembered is what the visitor said about themselves, this question included, the most important first.
	Remembered []Remembered
}

// Remembered is one thing that the visitor said about themselves.
type Remembered struct {
	Kind string // time, access, children, allergy, booking, name, style, todo, interest, note
	Key  string // one for each thing: "access/wheelchair"
	// Value is for programs: an RFC 3339 time for time and booking, a word for access and style, likes or dislikes for
	// interest, the thing itself for allergy, name and todo, an age or nothing for children. Empty where the visitor
	// wrote the text.
	Value     string
	Text      string // a sentence in the visit's language
	Confirmed bool   // by the visitor, who saw it
}

// Exchange is a question of the visit and what was answered.
type Exchange struct {
	Question string
	Answer   string
}
