package kiosk

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"

	"docent/kiosk/visit"
)

// startVisit begins a visit in the gallery's language that is nearest to the one asked for.
func (k *Kiosk) startVisit(c *fiber.Ctx) error {
	var in struct {
		Language string `json:"language"`
	}
	if err := readJSON(c, &in); err != nil {
		return err
	}
	return k.withContent(func(content *content) error {
		v, err := k.visits.Start(content.language(append([]string{in.Language}, wishes(c)...)...), "")
		if err != nil {
			return err
		}
		k.remember(eventVisitStarted, visitStarted{Visit: v.Name(), Language: v.Language})
		return c.Status(fiber.StatusCreated).JSON(struct {
			Visit    string    `json:"visit"`
			Language string    `json:"language"`
			Expires  time.Time `json:"expires_at"`
		}{v.ID, v.Language, v.Expires.UTC()})
	})
}

func (k *Kiosk) endVisit(c *fiber.Ctx) error    { return k.finish(c, "left") }
func (k *Kiosk) forgetVisit(c *fiber.Ctx) error { return k.finish(c, "forgotten") }

// finish removes a visit and all that is kept of it.
func (k *Kiosk) finish(c *fiber.Ctx, reason string) error {
	var in struct {
		Visit string `json:"visit"`
	}
	if err := readJSON(c, &in); err != nil {
		return err
	}
	v, err := k.visits.Get(in.Visit)
	if err != nil {
		return err
	}
	forGood := reason == "forgotten" || v.Carried == nil
	if !forGood && k.passes.due(v.Name()) { // what was said last goes along; a state without news would only win over others
		ctx, cancel := context.WithTimeout(k.stopping, appendWait)
		k.troubled("carry a visit", k.carry(ctx, v.Name()))
		cancel()
	}
	if v, err = k.visits.End(in.Visit); err != nil {
		return err
	}
	k.forget(v.Name(), forGood)
	k.phones.withdraw(v.ID, k.now())
	k.remember(eventVisitEnded, visitEnded{Visit: v.Name(), Reason: reason})
	if reason == "forgotten" {
		k.remember(eventMemoryForgotten, memoryForgotten{Visit: v.Name()})
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// holdExhibit puts an exhibit in the visitor's hand: a card they picked, or one they browsed to.
func (k *Kiosk) holdExhibit(c *fiber.Ctx) error {
	var in struct {
		Visit   string `json:"visit"`
		Exhibit string `json:"exhibit"`
	}
	if err := readJSON(c, &in); err != nil {
		return err
	}
	return k.withContent(func(content *content) error {
		if _, err := k.visits.Get(in.Visit); err != nil {
			return err
		}
		e, ok := content.release.Exhibit(in.Exhibit)
		if !ok {
			return noSuchExhibit()
		}
		seen := exhibitSeen{Exhibit: e.ID, By: "browse"}
		v, err := k.visits.Update(in.Visit, func(v *visit.Visit) {
			for _, o := range v.Offered {
				if o.Exhibit == e.ID {
					seen.By, seen.Decision, seen.Confidence = "choice", decision(o.Decision), o.Confidence
				}
			}
			v.Hold(e.ID)
		})
		if err != nil {
			return err
		}
		seen.Visit = v.Name()
		k.changed(v)
		k.remember(eventExhibitSeen, seen)
		return c.JSON(content.detail(e, v.Language))
	})
}
