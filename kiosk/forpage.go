package kiosk

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"docent/kiosk/speech"
)

// forPage are the parts that serve the visitor's page beyond looking, asking and browsing.
type forPage struct {
	voice       *speech.Voice // nil: none
	feedback    *bucket
	questions   *window
	pins        *bucket
	phonePhotos *bucket
	phones      phoneDesk
	signals     signals
	status      func() map[string]string
	started     time.Time
}

func newForPage(o Options, now time.Time) forPage {
	return forPage{
		voice: speech.Find(), feedback: newBucket(20, 500*time.Millisecond), pins: newBucket(pinTries, pinEvery),
		questions:   newWindow(o.Config.Limits.QuestionsPerMinute, time.Minute),
		phonePhotos: newBucket(6, time.Second), status: o.Status, started: now,
		signals: signals{screen: screen{Volume: 100, Brightness: 100}},
	}
}

func (k *Kiosk) pageRoutes() map[string]methods {
	return map[string]methods{
		api + "/visit/language": {fiber.MethodPost: k.setLanguage},
		api + "/visit/level":    {fiber.MethodPost: k.setLevel},
		api + "/feedback":       {fiber.MethodPost: k.postFeedback},
		api + "/speech":         {fiber.MethodGet: k.getSpeech},
		api + "/signals":        {fiber.MethodGet: k.getSignals},
		api + "/staff/open":     {fiber.MethodPost: k.postStaff},
		api + "/staff/trace":    {fiber.MethodPost: k.postTrace},
		api + "/phone/offer":    {fiber.MethodPost: k.offerPhone},
		api + "/phone/wait":     {fiber.MethodGet: k.waitForPhone},
		api + "/phone/photo":    {fiber.MethodPost: k.postPhonePhoto},
		api + "/take":           {fiber.MethodGet: k.getTakeVisit},
		api + "/take/:id":       {fiber.MethodGet: k.getTakeAlong},
	}
}

// features tell the page what this kiosk can do; what is missing is off.
func (k *Kiosk) features(c *content) fiber.Map {
	return fiber.Map{
		"speech": k.voice.Languages(c.release.Gallery().Languages), "phone": k.config.phoneURL() != "", "quality": k.camera != nil,
		"staff": k.config.Staff.PIN.Reveal() != "", "pass": k.passes.line != nil, "scan": k.passes.line != nil && k.camera != nil && k.codes != nil,
	}
}
