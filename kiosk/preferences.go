package kiosk

import (
	"slices"

	"github.com/gofiber/fiber/v2"

	"docent/kiosk/visit"
	"docent/localindex/gallery"
)

// setLanguage changes the language of a visit under way: what was seen and said stays.
func (k *Kiosk) setLanguage(c *fiber.Ctx) error {
	var in struct {
		Visit    string `json:"visit"`
		Language string `json:"language"`
	}
	if err := readJSON(c, &in); err != nil {
		return err
	}
	return k.withContent(func(content *content) error {
		if !slices.Contains(content.release.Gallery().Languages, in.Language) {
			return badRequest("the gallery does not have this language")
		}
		v, err := k.visits.Update(in.Visit, func(v *visit.Visit) { v.Language = in.Language })
		if err != nil {
			return err
		}
		k.changed(v)
		return c.SendStatus(fiber.StatusNoContent)
	})
}

// setLevel chooses the audience that a visit's answers are for.
func (k *Kiosk) setLevel(c *fiber.Ctx) error {
	var in struct {
		Visit string        `json:"visit"`
		Level gallery.Level `json:"level"`
	}
	if err := readJSON(c, &in); err != nil {
		return err
	}
	if !slices.Contains([]gallery.Level{gallery.LevelChild, gallery.LevelGeneral, gallery.LevelExpert}, in.Level) {
		return badRequest("level must be child, general or expert")
	}
	v, err := k.visits.Update(in.Visit, func(v *visit.Visit) { v.Level = in.Level })
	if err != nil {
		return err
	}
	k.changed(v)
	return c.SendStatus(fiber.StatusNoContent)
}
