package ingest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"docent/localindex/gallery"
)

// exhibitFacts tells the facts of an exhibit in each language, so that they can be found and cited like a text.
// documents says by language which file they are cited as.
func exhibitFacts(g *gallery.Gallery, e gallery.Exhibit, documents map[string]string) []gallery.Section {
	var sections []gallery.Section
	for _, tag := range g.Languages {
		w, _ := wordingFor(tag)
		in := func(l gallery.Localized) string { return l.In(tag, g.Languages...) }
		title := in(e.Title)
		if title == "" {
			title = e.ID
		}
		sentences := []string{w.exhibitPlace(title, e.Label, hallName(g, e.Hall, tag))}
		for _, fact := range []struct {
			text string
			say  func(string) string
		}{
			{in(e.Maker), w.maker}, {in(e.Date), w.date}, {in(e.Materials), w.materials}, {e.Accession, w.accession}, {in(e.Credit), w.credit},
		} {
			if fact.text != "" {
				sentences = append(sentences, fact.say(fact.text))
			}
		}
		sections = append(sections, gallery.Section{
			ID: e.ID + "/" + tag + "/facts", Exhibit: e.ID, Hall: e.Hall, Domain: gallery.DomainExhibit, Language: tag,
			Heading: w.headFacts, Text: w.say(sentences...), Document: documents[tag], Keywords: w.keywordsFacts,
		})
	}
	return sections
}

func hallName(g *gallery.Gallery, id, tag string) string {
	if h := findHall(g, id); h != nil {
		return h.Name.In(tag, g.Languages...)
	}
	return ""
}

// houseFacts tells what gallery.yaml says about the house, one section a topic and language.
func houseFacts(g *gallery.Gallery, document string) []gallery.Section {
	var sections []gallery.Section
	for _, tag := range g.Languages {
		w, _ := wordingFor(tag)
		h := house{g: g, w: w, tag: tag}
		h.overview()
		h.hours()
		h.closures()
		h.tickets()
		h.contact()
		h.rules()
		h.halls()
		h.services()
		h.events()
		for _, s := range h.sections {
			s.Language, s.Document = tag, document
			sections = append(sections, s)
		}
	}
	return sections
}

// house tells the facts of the house in one language.
type house struct {
	g        *gallery.Gallery
	w        wording
	tag      string
	sections []gallery.Section
}

func (h *house) in(l gallery.Localized) string { return l.In(h.tag, h.g.Languages...) }

func (h *house) add(id string, domain gallery.Domain, hall, heading string, keywords []string, sentences ...string) {
	if text := h.w.say(sentences...); text != "" {
		h.sections = append(h.sections, gallery.Section{
			ID: fmt.Sprintf(id, h.tag), Domain: domain, Hall: hall, Heading: heading, Text: text, Keywords: keywords,
		})
	}
}

func (h *house) overview() {
	var halls []string
	for _, hall := range h.g.Halls {
		halls = append(halls, h.in(hall.Name))
	}
	h.add("gallery/%s", gallery.DomainVenue, "", h.w.headGallery, h.w.keywordsGallery,
		h.w.overview(h.in(h.g.Name), halls, len(h.g.Exhibits)))
}

// hours says it twice: in one sentence that sums up, and for each day, since visitors ask both ways.
func (h *house) hours() {
	hours := h.g.Venue.Hours
	if len(hours) == 0 {
		return
	}
	var parts []string
	byDay := hoursByDay(hours)
	for first := 0; first < 7; {
		last := first
		for last < 6 && slices.Equal(byDay[last+1], byDay[first]) {
			last++
		}
		if len(byDay[first]) > 0 {
			parts = append(parts, h.w.openPart(h.days(first, last), byDay[first]))
		}
		first = last + 1
	}
	sentences := []string{h.w.openSummary(h.in(h.g.Name), parts)}
	for i, spans := range byDay {
		if len(spans) > 0 {
			sentences = append(sentences, h.w.openOn(h.w.weekday[i], spans))
		} else {
			sentences = append(sentences, h.w.closedOn(h.w.weekday[i]))
		}
	}
	h.add("venue/%s/hours", gallery.DomainVenue, "", h.w.headHours, h.w.keywordsHours, sentences...)
}

// closures tells the dates on which other hours hold.
func (h *house) closures() {
	var sentences []string
	for _, c := range h.g.Venue.Closures {
		date, err := time.Parse(time.DateOnly, c.Date)
		switch {
		case err != nil: // reported already
		case c.Open == "":
			sentences = append(sentences, h.w.closedDate(date, h.in(c.Reason)))
		default:
			sentences = append(sentences, h.w.openDate(date, span{open: c.Open, close: c.Close}, h.in(c.Reason)))
		}
	}
	h.add("venue/%s/closures", gallery.DomainVenue, "", h.w.headClosures, h.w.keywordsClosures, sentences...)
}

// days names the days from first to last of the week.
func (h *house) days(first, last int) string {
	switch last - first {
	case 0:
		return h.w.weekday[first]
	case 1:
		return h.w.daysAnd(h.w.weekday[first], h.w.weekday[last])
	}
	return h.w.daysFromTo(h.w.weekday[first], h.w.weekday[last])
}

func hoursByDay(hours []gallery.Hours) [7][]span {
	var days [7][]span
	for _, o := range hours {
		if i := slices.Index(weekdays, o.Day); i >= 0 {
			days[i] = append(days[i], span{o.Open, o.Close, o.LastEntry})
		}
	}
	return days
}

func (h *house) tickets() {
	var prices [][2]string
	for _, t := range h.g.Venue.Tickets {
		prices = append(prices, [2]string{h.in(t.Name), h.in(t.Price)})
	}
	if len(prices) > 0 {
		h.add("venue/%s/tickets", gallery.DomainVenue, "", h.w.headTickets, h.w.keywordsTickets, h.w.tickets(prices))
	}
}

func (h *house) contact() {
	var sentences []string
	if a := h.in(h.g.Venue.Address); a != "" {
		sentences = append(sentences, h.w.address(a))
	}
	if p := h.g.Venue.Phone; p != "" {
		sentences = append(sentences, h.w.phone(p))
	}
	h.add("venue/%s/contact", gallery.DomainVenue, "", h.w.headContact, h.w.keywordsContact, sentences...)
}

func (h *house) rules() {
	var sentences []string
	for _, r := range h.g.Venue.Rules {
		sentences = append(sentences, h.w.sentence(h.in(r)))
	}
	h.add("venue/%s/rules", gallery.DomainVenue, "", h.w.headRules, h.w.keywordsRules, sentences...)
}

func (h *house) halls() {
	floors := map[int]bool{}
	for _, hall := range h.g.Halls {
		floors[hall.Floor] = true
	}
	for _, hall := range h.g.Halls {
		name := h.in(hall.Name)
		var sentences, shown []string
		if len(floors) > 1 {
			sentences = append(sentences, h.w.hallFloor(name, hall.Floor))
		}
		sentences = append(sentences, h.w.sentence(h.in(hall.About)))
		for _, e := range h.g.Exhibits {
			if e.Hall == hall.ID {
				shown = append(shown, h.w.named(h.in(e.Title), e.Label))
			}
		}
		if len(shown) > 0 {
			sentences = append(sentences, h.w.hallShows(shown))
		}
		h.add("hall/%s/"+hall.ID, gallery.DomainVenue, hall.ID, name, h.w.keywordsHall, sentences...)
	}
}

func (h *house) services() {
	for _, s := range h.g.Venue.Services {
		name := h.in(s.Name)
		sentences := []string{h.w.where(name, h.in(s.Where), hallName(h.g, s.Hall, h.tag)), h.w.sentence(h.in(s.About))}
		if s.StepFree {
			sentences = append(sentences, h.w.stepFree)
		}
		h.add("service/%s/"+s.ID, gallery.DomainService, s.Hall, name, serviceKeywords(s), sentences...)
	}
}

func (h *house) events() {
	for _, e := range h.g.Venue.Events {
		name, when := h.in(e.Name), h.in(e.When)
		minutes := e.Minutes
		if strings.Contains(when, strconv.Itoa(minutes)) {
			minutes = 0 // said already
		}
		h.add("event/%s/"+e.ID, gallery.DomainEvent, e.Hall, name, h.w.keywordsEvent,
			h.w.when(name, when), h.w.lasts(minutes, hallName(h.g, e.Hall, h.tag)), h.w.sentence(h.in(e.About)))
	}
}
