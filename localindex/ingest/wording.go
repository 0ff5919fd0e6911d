package ingest

import (
	"fmt"
	"strings"
	"time"

	"docent/localindex/gallery"
)

// wording turns facts into sentences of one language. Each function returns whole sentences, or "" where there is
// nothing to say. Texts are given as authors wrote them.
type wording struct {
	// weekday names the i-th day of the week, Monday being 0.
	weekday [7]string
	// Headings of sections.
	headHours, headClosures, headTickets, headContact, headRules, headGallery, headFacts string

	// Hours. days is one day or "Tuesday to Sunday"; spans are such as "10:00" to "18:00".
	daysFromTo  func(from, to string) string
	daysAnd     func(a, b string) string
	openOn      func(days string, spans []span) string
	closedOn    func(days string) string
	closedDate  func(date time.Time, reason string) string
	openDate    func(date time.Time, s span, reason string) string
	openSummary func(name string, parts []string) string
	openPart    func(days string, spans []span) string

	tickets  func(prices [][2]string) string
	address  func(string) string
	phone    func(string) string
	where    func(name, where, hall string) string
	stepFree string
	when     func(name, when string) string
	lasts    func(minutes int, hall string) string

	room      func(number string) string // names a hall that only has a number
	hallFloor func(name string, floor int) string
	hallShows func(exhibits []string) string
	named     func(title, label string) string // "Penrose tiling (101)"
	overview  func(name string, halls []string, exhibits int) string

	exhibitPlace func(title, label, hall string) string
	maker        func(string) string
	date         func(string) string
	materials    func(string) string
	accession    func(string) string
	credit       func(string) string

	// sentence ends a text with a full stop where it has no end of its own.
	sentence func(string) string
	// between stands between two sentences.
	between string

	keywordsHours, keywordsClosures, keywordsTickets, keywordsContact, keywordsRules, keywordsGallery, keywordsFacts, keywordsHall, keywordsEvent []string
}

// span is one stretch of opening hours.
type span struct{ open, close, last string }

// wordings are the languages facts are told in. Other languages are told in English.
func wordings() map[string]wording {
	return map[string]wording{"en": english(), "zh": chinese()}
}

// wordingFor finds the words for a language tag, such as zh-Hant.
func wordingFor(tag string) (w wording, own bool) {
	base, _, _ := strings.Cut(tag, "-")
	if w, ok := wordings()[base]; ok {
		return w, true
	}
	return english(), false
}

// warnWording says which languages have no words of their own.
func warnWording(g *gallery.Gallery, file string, rep *report) {
	for _, tag := range g.Languages {
		if _, own := wordingFor(tag); !own {
			rep.warnf(file, 0, "the sentences made of facts (hours, tickets, makers, dates) are in English for %q, too; there are only Chinese and English words for them", tag)
		}
	}
}

// say joins sentences, leaving out those that are empty.
func (w wording) say(sentences ...string) string {
	return strings.Join(present(sentences...), w.between)
}

func present(texts ...string) []string {
	var kept []string
	for _, t := range texts {
		if t != "" {
			kept = append(kept, t)
		}
	}
	return kept
}

func english() wording {
	spans := func(ss []span) string {
		var parts []string
		for _, s := range ss {
			part := fmt.Sprintf("from %s to %s", s.open, s.close)
			if s.last != "" {
				part += fmt.Sprintf(" (last entry %s)", s.last)
			}
			parts = append(parts, part)
		}
		return strings.Join(parts, " and ")
	}
	why := func(reason string) string {
		if reason == "" {
			return ""
		}
		return fmt.Sprintf(" (%s)", reason)
	}
	return wording{
		weekday:   [7]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"},
		headHours: "Opening hours", headClosures: "Holidays and special hours", headTickets: "Tickets and prices", headContact: "Address and contact",
		headRules: "House rules", headGallery: "About the gallery", headFacts: "At a glance",

		daysFromTo: func(from, to string) string { return from + " to " + to },
		daysAnd:    func(a, b string) string { return a + " and " + b },
		openOn: func(days string, ss []span) string {
			return fmt.Sprintf("The gallery is open on %s %s.", days, spans(ss))
		},
		closedOn: func(days string) string { return fmt.Sprintf("The gallery is closed on %s.", days) },
		openSummary: func(name string, parts []string) string {
			return fmt.Sprintf("%s is open %s.", name, list(parts, ", ", " and "))
		},
		openPart: func(days string, ss []span) string { return days + " " + spans(ss) },
		closedDate: func(d time.Time, reason string) string {
			return fmt.Sprintf("The gallery is closed on %s%s.", d.Format("2 January 2006"), why(reason))
		},
		openDate: func(d time.Time, s span, reason string) string {
			return fmt.Sprintf("The gallery is open on %s %s%s.", d.Format("2 January 2006"), spans([]span{s}), why(reason))
		},
		tickets: func(prices [][2]string) string {
			var parts []string
			for _, p := range prices {
				parts = append(parts, p[0]+" – "+p[1])
			}
			return "Ticket prices: " + strings.Join(parts, "; ") + "."
		},
		address: func(a string) string { return "The address is: " + stop(a) },
		phone:   func(p string) string { return fmt.Sprintf("The phone number is %s.", p) },
		where: func(name, where, hall string) string {
			switch {
			case where == "" && hall == "":
				return ""
			case where == "":
				return fmt.Sprintf("%s: in the hall “%s”.", name, hall)
			case hall == "" || strings.Contains(strings.ToLower(where), strings.ToLower(hall)):
				return fmt.Sprintf("%s: %s", name, stop(where))
			}
			return fmt.Sprintf("%s: %s (hall “%s”).", name, strings.TrimRight(where, "."), hall)
		},
		stepFree: "It can be reached without steps.",
		when:     func(name, when string) string { return fmt.Sprintf("%s: %s", name, stop(when)) },
		lasts: func(minutes int, hall string) string {
			switch {
			case minutes > 0 && hall != "":
				return fmt.Sprintf("It lasts %d minutes and takes place in the hall “%s”.", minutes, hall)
			case minutes > 0:
				return fmt.Sprintf("It lasts %d minutes.", minutes)
			case hall != "":
				return fmt.Sprintf("It takes place in the hall “%s”.", hall)
			}
			return ""
		},
		room: func(number string) string { return "Room " + number },
		hallFloor: func(name string, floor int) string {
			return fmt.Sprintf("The hall “%s” is on floor %d.", name, floor)
		},
		hallShows: func(exhibits []string) string {
			return "It shows " + list(exhibits, ", ", " and ") + "."
		},
		named: func(title, label string) string {
			if label == "" {
				return title
			}
			return fmt.Sprintf("%s (%s)", title, label)
		},
		overview: func(name string, halls []string, exhibits int) string {
			if len(halls) == 0 {
				return fmt.Sprintf("%s shows %s.", name, counted(exhibits, "exhibit"))
			}
			return fmt.Sprintf("%s shows %s in %s: %s.", name, counted(exhibits, "exhibit"), counted(len(halls), "hall"), list(halls, ", ", " and "))
		},
		exhibitPlace: func(title, label, hall string) string {
			switch {
			case label != "" && hall != "":
				return fmt.Sprintf("“%s” is exhibit number %s, in the hall “%s”.", title, label, hall)
			case label != "":
				return fmt.Sprintf("“%s” is exhibit number %s.", title, label)
			case hall != "":
				return fmt.Sprintf("“%s” is in the hall “%s”.", title, hall)
			}
			return fmt.Sprintf("This is “%s”.", title)
		},
		maker:     func(s string) string { return "Maker: " + stop(s) },
		date:      func(s string) string { return "Date: " + stop(s) },
		materials: func(s string) string { return "Materials: " + stop(s) },
		accession: func(s string) string { return fmt.Sprintf("Its accession number is %s.", s) },
		credit:    func(s string) string { return "Credit: " + stop(s) },
		sentence:  stop,
		between:   " ",

		keywordsHours:    []string{"open", "opening", "hours", "times", "close", "closing", "closed", "today", "tomorrow", "weekend", "last entry", "admission time"},
		keywordsClosures: []string{"holiday", "holidays", "closed", "closure", "special hours"},
		keywordsTickets:  []string{"ticket", "price", "cost", "how much", "pay", "admission", "entry fee", "entrance fee", "free", "discount", "concession"},
		keywordsContact:  []string{"address", "phone", "telephone", "call", "contact", "get here", "directions"},
		keywordsRules:    []string{"rules", "allowed", "may I", "can I", "photo", "photos", "take pictures", "photograph", "photography", "camera", "flash", "video", "film", "food", "drink", "bags", "touch", "pets", "dogs"},
		keywordsGallery:  []string{"gallery", "museum", "how many", "halls", "rooms", "exhibits", "collection", "floor", "map", "plan"},
		keywordsFacts:    []string{"who made", "maker", "artist", "author", "painter", "date", "year", "made of", "material", "materials", "technique", "accession number", "number"},
		keywordsHall:     []string{"hall", "room", "floor"},
		keywordsEvent:    []string{"event", "events", "programme", "today", "what's on"},
	}
}

// counted is "1 hall" or "4 halls".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// list joins items as in "a, b and c".
func list(items []string, comma, and string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], comma) + and + items[len(items)-1]
}

// stop ends an English text with a full stop where it has no end of its own.
func stop(s string) string {
	if s == "" || strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") ||
		strings.HasSuffix(s, ".”") || strings.HasSuffix(s, ".)") || strings.HasSuffix(s, "。") {
		return s
	}
	return s + "."
}
