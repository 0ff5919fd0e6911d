package kiosk

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"docent/kiosk/speech"
)

// forPage are the parts that serve the visitor's page beyond looking, asking and browsing.
type forPage struct {
	voice    *speech.Voice // nil: none
	feedback *bucket
}

func newForPage() forPage {
	return forPage{voice: speech.Find(), feedback: newBucket(20, 500*time.Millisecond)}
}

func (k *Kiosk) pageRoutes() map[string]methods {
	return map[string]methods{
		api + "/visit/language": {fiber.MethodPost: k.setLanguage},
		api + "/visit/level":    {fiber.MethodPost: k.setLevel},
		api + "/feedback":       {fiber.MethodPost: k.postFeedback},
		api + "/speech":         {fiber.MethodGet: k.getSpeech},
	}
}

// features tell the page what this kiosk can do; what is missing is off.
func (k *Kiosk) features(c *content) fiber.Map {
	return fiber.Map{"speech": k.voice.Languages(c.release.Gallery().Languages)}
}
