package kiosk

import (
	"errors"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"docent/agent/tour"
)

// Limits of a request for a route.
const (
	usualRouteMinutes = 30
	maxInterests      = 10
	maxInterest       = 60 // bytes
)

// routeView is a walk through the halls, in one language.
type routeView struct {
	Minutes     float64    `json:"minutes"`
	Walking     float64    `json:"walking_minutes"`
	StepFree    bool       `json:"step_free"`
	Stops       []stopView `json:"stops"`
	Unreachable []string   `json:"unreachable"` // exhibits that no step-free way leads to
}

type stopView struct {
	Exhibit  exhibitCard `json:"exhibit"`
	Walk     float64     `json:"walk_seconds"` // from the stop before
	Metres   float64     `json:"metres"`
	Minutes  float64     `json:"minutes"` // of viewing
	Arrive   float64     `json:"arrive"`  // minutes after the begin
	Reason   tour.Reason `json:"reason"`
	Interest string      `json:"interest,omitempty"`
}

// getRoute plans a walk from this kiosk: ?minutes=, ?interests= with commas between, ?hall=, ?step_free=true, and
// ?visit= to leave out what that visit has seen.
func (k *Kiosk) getRoute(c *fiber.Ctx) error {
	r := tour.Request{Minutes: usualRouteMinutes, Kiosk: k.config.Kiosk, Hall: c.Query("hall"), StepFree: c.QueryBool("step_free")}
	if m := c.Query("minutes"); m != "" {
		n, err := strconv.Atoi(m)
		if err != nil {
			return badRequest("minutes must be a number")
		}
		r.Minutes = n
	}
	for word := range strings.SplitSeq(c.Query("interests"), ",") {
		word = strings.TrimSpace(word)
		if len(word) > maxInterest || len(r.Interests) == maxInterests {
			return badRequest("the interests are too many or too long")
		}
		if word != "" {
			r.Interests = append(r.Interests, word)
		}
	}
	if id := c.Query("visit"); id != "" {
		v, err := k.visits.Get(id)
		if err != nil {
			return err
		}
		r.Seen = v.Seen
	}
	lang := k.language(c)
	return k.withContent(func(content *content) error {
		t, err := tour.Plan(content.release.Gallery(), r)
		switch {
		case errors.Is(err, tour.ErrMinutes):
			return badRequest(err.Error())
		case errors.Is(err, tour.ErrNothing), errors.Is(err, tour.ErrNoStart):
			return notFound("no route: " + err.Error())
		case err != nil:
			return err
		}
		out := routeView{Minutes: t.Minutes, Walking: t.Walking, StepFree: t.StepFree, Stops: []stopView{}, Unreachable: list(t.Unreachable)}
		for _, s := range t.Stops {
			e, _ := content.release.Exhibit(s.Exhibit)
			out.Stops = append(out.Stops, stopView{
				Exhibit: content.card(e, lang), Walk: s.Walk, Metres: s.Metres, Minutes: s.Minutes, Arrive: s.Arrive, Reason: s.Reason, Interest: s.Interest,
			})
		}
		return c.JSON(out)
	})
}
