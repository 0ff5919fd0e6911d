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
	// Summary is of the turns before History, a line each, oldest first; empty where there were none.
	Summary string
}

// Exchange is a question of the visit and what was answered.
type Exchange struct {
	Question string
	Answer   string
}
