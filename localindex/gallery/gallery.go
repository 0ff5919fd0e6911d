// Package gallery holds the words of the house about content: galleries, halls, exhibits, sections, passages and
// venue facts. It is data only, and imports nothing.
package gallery

// Localized is one text in several languages, keyed by language tag ("en", "zh").
type Localized map[string]string

// In returns the text in lang, else in the first of fallbacks that has one, else in any language (the smallest
// tag, so that the choice is stable), else "". A title is thus never empty where any language has it.
func (l Localized) In(lang string, fallbacks ...string) string {
	if s := l[lang]; s != "" {
		return s
	}
	for _, f := range fallbacks {
		if s := l[f]; s != "" {
			return s
		}
	}
	first := ""
	for tag, s := range l {
		if s != "" && (first == "" || tag < first) {
			first = tag
		}
	}
	return l[first]
}

// Point is a place on the plan, in metres from its lower left corner.
type Point [2]float64

// Gallery is all content of one gallery, as authored.
type Gallery struct {
	ID        string    `json:"id"` // lower case letters, digits, dashes
	Name      Localized `json:"name"`
	Languages []string  `json:"languages"` // first is the default
	TimeZone  string    `json:"time_zone"` // IANA name
	Halls     []Hall    `json:"halls"`
	Kiosks    []Place   `json:"kiosks,omitempty"` // where kiosks stand
	Exhibits  []Exhibit `json:"exhibits"`
	Venue     Venue     `json:"venue"`
	Sections  []Section `json:"sections"`
	// Attract are short lines for the attract loop.
	Attract []Localized `json:"attract,omitempty"`
	// Recognition holds an author's overrides for recognising exhibits on photos.
	Recognition Recognition `json:"recognition,omitzero"`
	// Search holds an author's overrides for searching the texts.
	Search Search `json:"search,omitzero"`
	// Documents holds an author's overrides for dividing documents that do not say it themselves.
	Documents Division `json:"documents,omitzero"`
}

// Recognition says how exhibits are recognised on photos.
type Recognition struct {
	Index  string `json:"index,omitempty"` // auto, exact, hnsw; empty means auto
	Neural Neural `json:"neural,omitzero"`
}

// Neural is a neural network that describes pictures beside their local features. Without a model there is none.
type Neural struct {
	Model  string     `json:"model,omitempty"`  // ONNX file, a slash-separated path below the gallery's folder
	SHA256 string     `json:"sha256,omitempty"` // of the file, hex
	Input  [2]int     `json:"input"`            // width and height in pixels
	Mean   [3]float64 `json:"mean"`             // of red, green and blue from 0 to 1
	Std    [3]float64 `json:"std"`
	Layer  string     `json:"layer,omitempty"` // whose output describes a picture; empty means the model's own output
}

// Division says how documents are divided into sections and passages. Empty and 0 leave it to what a document's looks
// recommend.
type Division struct {
	Chunkers []string `json:"chunkers,omitempty"` // structure, model, semantic, recursive
	Section  int      `json:"section,omitempty"`  // most characters of a section
	Passage  int      `json:"passage,omitempty"`  // most characters of a Chinese passage; 7/4 of it in English
}

// Search says how the texts are searched. A number that is 0 means the usual value.
type Search struct {
	// Dense says where vectors of meaning come from: auto (a server where one is named, else the texts themselves),
	// texts, server, or off. Empty means auto.
	Dense           string     `json:"dense,omitempty"`
	KeywordWeight   float64    `json:"keyword_weight,omitempty"`   // in the fusion of ranks, 0.4
	DenseWeight     float64    `json:"dense_weight,omitempty"`     // 0.6, lowered at build where it does harm; a number written here is kept
	FusionK         float64    `json:"fusion_k,omitempty"`         // 60
	SimilarityFloor float64    `json:"similarity_floor,omitempty"` // least cosine similarity, 0.45
	KeywordFloor    float64    `json:"keyword_floor,omitempty"`    // least share of the best keyword score, 0.35
	Embeddings      Embeddings `json:"embeddings,omitzero"`
	// Synonyms are groups of words that mean the same to visitors, from the gallery's file of synonyms.
	Synonyms [][]string `json:"synonyms,omitempty"`
}

// Embeddings names a server that turns texts into vectors when a release is built.
type Embeddings struct {
	BaseURL   string `json:"base_url,omitempty"` // such as http://127.0.0.1:8081/v1
	Model     string `json:"model,omitempty"`
	Dimension int    `json:"dimension,omitempty"` // that is expected; 0 takes what comes
	Batch     int    `json:"batch,omitempty"`     // texts in one request, 32
}

// Hall is one room of the gallery.
type Hall struct {
	ID      string    `json:"id"`
	Name    Localized `json:"name"`
	About   Localized `json:"about,omitempty"`
	Floor   int       `json:"floor"`
	Outline []Point   `json:"outline"` // polygon on the plan of its floor
	Doors   []Door    `json:"doors,omitempty"`
}

// Door joins two halls; it is listed in one of them.
type Door struct {
	To       string `json:"to"`
	At       Point  `json:"at"`
	StepFree bool   `json:"step_free"`
}

// Place is a named spot on the plan.
type Place struct {
	ID   string `json:"id"`
	Hall string `json:"hall"`
	At   Point  `json:"at"`
}

// Exhibit is one thing on show.
type Exhibit struct {
	ID        string    `json:"id"`
	Label     string    `json:"label"` // number on the wall, for the number pad
	Hall      string    `json:"hall"`
	At        Point     `json:"at"`
	Title     Localized `json:"title"`
	Maker     Localized `json:"maker,omitempty"`
	Date      Localized `json:"date,omitempty"`
	Materials Localized `json:"materials,omitempty"`
	Accession string    `json:"accession,omitempty"`
	Credit    Localized `json:"credit,omitempty"`
	Pictures  []Picture `json:"pictures"` // the first is the one shown
	Keywords  []string  `json:"keywords,omitempty"`
	Related   []string  `json:"related,omitempty"` // exhibit ids
	Sources   []Source  `json:"sources,omitempty"`
	Minutes   float64   `json:"minutes,omitempty"` // viewing time
}

// Picture is one reference picture of an exhibit.
type Picture struct {
	File   string    `json:"file"` // slash-separated path below the gallery or release folder
	Alt    Localized `json:"alt,omitempty"`
	Width  int       `json:"width"`
	Height int       `json:"height"`
}

// Source is a published work that a text rests on.
type Source struct {
	Key   string `json:"key"` // used in texts as [^key]
	Title string `json:"title"`
	URL   string `json:"url,omitempty"`
}

// Domain says what a text is about.
type Domain string

// The domains of texts.
const (
	DomainExhibit Domain = "exhibit"
	DomainVenue   Domain = "venue"
	DomainEvent   Domain = "event"
	DomainService Domain = "service"
)

// Level is the audience a text is written for; empty means everybody.
type Level string

// The audience levels.
const (
	LevelChild   Level = "child"
	LevelGeneral Level = "general"
	LevelExpert  Level = "expert"
)

// Section is one headed text, the unit an answer is given from (the parent of passages).
type Section struct {
	ID       string   `json:"id"` // unique in the release, such as "penrose-tiling/en/2"
	Exhibit  string   `json:"exhibit,omitempty"`
	Hall     string   `json:"hall,omitempty"`
	Domain   Domain   `json:"domain"`
	Language string   `json:"language"`
	Level    Level    `json:"level,omitempty"`
	Heading  string   `json:"heading"`
	Path     []string `json:"path,omitempty"`    // headings above, outermost first
	Text     string   `json:"text"`              // plain text, paragraphs separated by a blank line
	Sources  []string `json:"sources,omitempty"` // keys of the exhibit's sources named in the text
	Document string   `json:"document"`          // file the text came from
	Page     int      `json:"page,omitempty"`    // 1-based page in it, 0 where there are none
	// Keywords are further words the section is found by; they are never shown.
	Keywords []string `json:"keywords,omitempty"`
}

// Passage is a part of a section, the unit that is searched (a child).
type Passage struct {
	ID      string `json:"id"` // section id plus "#" and a number
	Section string `json:"section"`
	Text    string `json:"text"`
	Page    int    `json:"page,omitempty"` // 1-based, where it is another than the section's
	// LastPage is the page on which the passage ends, where that is another than the one on which it begins.
	LastPage int `json:"last_page,omitempty"`
}

// Venue holds the facts of the house that must never be guessed.
type Venue struct {
	Address  Localized   `json:"address,omitempty"`
	Phone    string      `json:"phone,omitempty"`
	Hours    []Hours     `json:"hours,omitempty"`
	Closures []Closure   `json:"closures,omitempty"`
	Tickets  []Ticket    `json:"tickets,omitempty"`
	Services []Service   `json:"services,omitempty"`
	Events   []Event     `json:"events,omitempty"`
	Rules    []Localized `json:"rules,omitempty"`
}

// Hours are the opening hours of one weekday; a weekday that has none is closed.
type Hours struct {
	Day       string `json:"day"`                  // "monday" … "sunday"
	Open      string `json:"open"`                 // "10:00"
	Close     string `json:"close"`                // "18:00"
	LastEntry string `json:"last_entry,omitempty"` // "17:30"
}

// Closure is a date on which other hours hold: closed where Open is empty.
type Closure struct {
	Date   string    `json:"date"` // "2026-12-25"
	Open   string    `json:"open,omitempty"`
	Close  string    `json:"close,omitempty"`
	Reason Localized `json:"reason,omitempty"`
}

// Ticket is one price.
type Ticket struct {
	Name  Localized `json:"name"`
	Price Localized `json:"price"` // with its currency, as printed
}

// Service is something the house offers: toilets, café, cloakroom, wheelchairs.
type Service struct {
	ID       string    `json:"id"`
	Name     Localized `json:"name"`
	Where    Localized `json:"where,omitempty"`
	Hall     string    `json:"hall,omitempty"`
	About    Localized `json:"about,omitempty"`
	StepFree bool      `json:"step_free,omitempty"`
}

// Event is something that happens at a time.
type Event struct {
	ID      string    `json:"id"`
	Name    Localized `json:"name"`
	When    Localized `json:"when"`
	Day     string    `json:"day,omitempty"`  // weekday it repeats on
	Date    string    `json:"date,omitempty"` // or the date it happens
	Start   string    `json:"start,omitempty"`
	Minutes int       `json:"minutes,omitempty"`
	Hall    string    `json:"hall,omitempty"`
	About   Localized `json:"about,omitempty"`
}
