package kiosk

import (
	"github.com/gofiber/fiber/v2"

	"docent/localindex/gallery"
)

// venueView is the venue's facts in one language. Lists are never null.
type venueView struct {
	Name     string          `json:"name"`
	Address  string          `json:"address,omitempty"`
	Phone    string          `json:"phone,omitempty"`
	TimeZone string          `json:"time_zone,omitempty"`
	Hours    []gallery.Hours `json:"hours"`
	Closures []closureView   `json:"closures"`
	Tickets  []ticketView    `json:"tickets"`
	Services []serviceView   `json:"services"`
	Events   []eventView     `json:"events"`
	Rules    []string        `json:"rules"`
}

type closureView struct {
	Date   string `json:"date"`
	Open   string `json:"open,omitempty"`
	Close  string `json:"close,omitempty"`
	Reason string `json:"reason,omitempty"`
}

type ticketView struct {
	Name  string `json:"name"`
	Price string `json:"price"`
}

type serviceView struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Where    string `json:"where,omitempty"`
	Hall     string `json:"hall,omitempty"`
	About    string `json:"about,omitempty"`
	StepFree bool   `json:"step_free"`
}

type eventView struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	When    string `json:"when"`
	Day     string `json:"day,omitempty"`
	Date    string `json:"date,omitempty"`
	Start   string `json:"start,omitempty"`
	Minutes int    `json:"minutes,omitempty"`
	Hall    string `json:"hall,omitempty"`
	About   string `json:"about,omitempty"`
}

func (k *Kiosk) getVenue(c *fiber.Ctx) error {
	lang := k.language(c)
	return k.withContent(func(content *content) error { return c.JSON(content.venue(lang)) })
}

func (c *content) venue(lang string) venueView {
	g := c.release.Gallery()
	v := g.Venue
	out := venueView{
		Name: c.in(g.Name, lang), Address: c.in(v.Address, lang), Phone: v.Phone, TimeZone: g.TimeZone, Hours: list(v.Hours),
		Closures: []closureView{}, Tickets: []ticketView{}, Services: []serviceView{}, Events: []eventView{}, Rules: []string{},
	}
	for _, x := range v.Closures {
		out.Closures = append(out.Closures, closureView{Date: x.Date, Open: x.Open, Close: x.Close, Reason: c.in(x.Reason, lang)})
	}
	for _, t := range v.Tickets {
		out.Tickets = append(out.Tickets, ticketView{Name: c.in(t.Name, lang), Price: c.in(t.Price, lang)})
	}
	for _, s := range v.Services {
		out.Services = append(out.Services, serviceView{
			ID: s.ID, Name: c.in(s.Name, lang), Where: c.in(s.Where, lang), Hall: s.Hall, About: c.in(s.About, lang), StepFree: s.StepFree,
		})
	}
	for _, e := range v.Events {
		out.Events = append(out.Events, eventView{
			ID: e.ID, Name: c.in(e.Name, lang), When: c.in(e.When, lang), Day: e.Day, Date: e.Date, Start: e.Start, Minutes: e.Minutes,
			Hall: e.Hall, About: c.in(e.About, lang),
		})
	}
	for _, r := range v.Rules {
		out.Rules = append(out.Rules, c.in(r, lang))
	}
	return out
}
