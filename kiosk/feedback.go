package kiosk

import (
	"slices"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
)

// The types of memory events about what visitors thought.
const (
	eventFeedbackGiven  = "feedback.given"
	eventSurveyAnswered = "survey.answered"
)

const maxFeedbackSources = 12

// feedbackGiven says whether an answer helped. It names the passages it rests on, not the question.
type feedbackGiven struct {
	Visit   string   `json:"visit"`
	Exhibit string   `json:"exhibit,omitempty"`
	Sources []string `json:"sources"`
	Helpful bool     `json:"helpful"`
}

// surveyAnswered is what somebody said on leaving. It belongs to no visit: that is over and forgotten by then.
type surveyAnswered struct {
	Language string `json:"language"`
	Found    string `json:"found,omitempty"` // yes, partly, no
	Easy     string `json:"easy,omitempty"`
}

// postFeedback takes what a visitor thought of an answer, or of the kiosk.
func (k *Kiosk) postFeedback(c *fiber.Ctx) error {
	var in struct {
		Kind     string   `json:"kind"`
		Visit    string   `json:"visit"`
		Exhibit  string   `json:"exhibit"`
		Sources  []string `json:"sources"`
		Helpful  bool     `json:"helpful"`
		Language string   `json:"language"`
		Found    string   `json:"found"`
		Easy     string   `json:"easy"`
	}
	if err := readJSON(c, &in); err != nil {
		return err
	}
	if !k.feedback.allow(k.now()) {
		return busy("feedback")
	}
	return k.withContent(func(content *content) error {
		switch in.Kind {
		case "answer":
			v, err := k.visits.Get(in.Visit)
			if err != nil {
				return err
			}
			if in.Exhibit != "" {
				if _, ok := content.release.Exhibit(in.Exhibit); !ok {
					return noSuchExhibit()
				}
			}
			if len(in.Sources) > maxFeedbackSources {
				return badRequest("too many sources")
			}
			for _, id := range in.Sources {
				if _, ok := content.release.Passage(id); !ok {
					return badRequest("no such passage")
				}
			}
			k.remember(eventFeedbackGiven, feedbackGiven{
				Visit: v.Name(), Exhibit: in.Exhibit, Sources: list(in.Sources), Helpful: in.Helpful,
			})
		case "survey":
			opinions := []string{"", "yes", "partly", "no"}
			if !slices.Contains(opinions, in.Found) || !slices.Contains(opinions, in.Easy) || in.Found+in.Easy == "" {
				return badRequest("an answer is yes, partly or no")
			}
			if !slices.Contains(content.release.Gallery().Languages, in.Language) {
				return badRequest("the gallery does not have this language")
			}
			k.remember(eventSurveyAnswered, surveyAnswered{Language: in.Language, Found: in.Found, Easy: in.Easy})
		default:
			return badRequest("kind must be answer or survey")
		}
		return c.SendStatus(fiber.StatusNoContent)
	})
}

// bucket lets things happen at a rate. The zero value never does.
type bucket struct {
	burst float64
	every time.Duration // one more

	mu   sync.Mutex
	left float64
	last time.Time
}

func newBucket(burst int, every time.Duration) *bucket {
	return &bucket{burst: float64(burst), every: every, left: float64(burst)}
}

// allow takes one, if there is one.
func (b *bucket) allow(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.last.IsZero() && b.every > 0 {
		b.left = min(b.burst, b.left+max(0, now.Sub(b.last).Seconds())/b.every.Seconds())
	}
	b.last = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}
