package kiosk

import (
	"errors"

	"github.com/gofiber/fiber/v2"

	"docent/kiosk/speech"
)

// getSpeech reads a sentence aloud, for pages whose browser has no voice in the visit's language.
func (k *Kiosk) getSpeech(c *fiber.Ctx) error {
	if _, err := k.visits.Get(c.Query("visit")); err != nil {
		return err
	}
	if c.Method() == fiber.MethodHead {
		c.Set(fiber.HeaderContentType, "audio/wav")
		return c.SendStatus(fiber.StatusOK)
	}
	wav, err := k.voice.Say(k.stopping, k.language(c), c.Query("text"))
	switch {
	case errors.Is(err, speech.ErrLanguage):
		return notFound("there is no voice for this language")
	case errors.Is(err, speech.ErrText):
		return badRequest("there is nothing to read, or too much")
	case errors.Is(err, speech.ErrBusy):
		return busy("speech")
	case err != nil:
		return err
	}
	c.Set(fiber.HeaderContentType, "audio/wav")
	return c.Send(wav)
}
