package kiosk

import (
	"context"
	"errors"
	"image/color"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"docent/vision"
	"docent/vision/label"
)

// spectacles read what the test wants.
type spectacles struct {
	text      label.Text
	err       error
	languages []string
	asked     int
}

func (s *spectacles) Read(_ context.Context, p vision.Photo, languages []string) (label.Text, error) {
	s.asked++
	s.languages = languages
	if p.Image.Empty() {
		return label.Text{}, errors.New("empty photo")
	}
	return s.text, s.err
}

// lines is a text of these lines, surely read.
func lines(text ...string) label.Text {
	var t label.Text
	for _, line := range text {
		var l label.Line
		for word := range strings.FieldsSeq(line) {
			l.Words = append(l.Words, label.Word{Text: word, Confidence: .95})
		}
		t.Lines = append(t.Lines, l)
	}
	return t
}

func TestLabelOnThePhoto(t *testing.T) {
	choose := func(ids ...string) vision.Recognition {
		r := vision.Recognition{Decision: vision.DecisionChoose}
		for _, id := range ids {
			r.Candidates = append(r.Candidates, vision.Candidate{ExhibitID: id, Inliers: 9, Confidence: .4})
		}
		return r
	}
	unknown := vision.Recognition{Decision: vision.DecisionUnknown}
	for name, c := range map[string]struct {
		seen     vision.Recognition
		text     label.Text
		err      error
		decision vision.Decision
		ids      []string
		by       string
	}{
		"a label alone":             {unknown, lines("101", "The Red Fan", "Ada Painter, 1888"), nil, vision.DecisionMatch, []string{"red-fan"}, "label"},
		"its number alone":          {unknown, lines("102"), nil, vision.DecisionMatch, []string{"blue-bowl"}, "label"},
		"its title in Chinese":      {unknown, lines("蓝 碗", "佚名"), nil, vision.DecisionMatch, []string{"blue-bowl"}, "label"},
		"its title, misread":        {unknown, lines("The Rcd Fan", "Ada Painter"), nil, vision.DecisionChoose, []string{"red-fan"}, "label"},
		"another's label":           {choose("red-fan"), lines("102", "The Blue Bowl"), nil, vision.DecisionChoose, []string{"red-fan", "blue-bowl"}, "photo"},
		"one of two":                {choose("red-fan", "blue-bowl"), lines("102", "The Blue Bowl"), nil, vision.DecisionChoose, []string{"blue-bowl", "red-fan"}, "photo"},
		"the label of what it is":   {choose("red-fan"), lines("101 The Red Fan"), nil, vision.DecisionMatch, []string{"red-fan"}, "label"},
		"a measure":                 {unknown, lines("Oil on canvas, 101 x 102 cm"), nil, vision.DecisionUnknown, nil, "photo"},
		"words of no exhibit":       {unknown, lines("Please do not touch"), nil, vision.DecisionUnknown, nil, "photo"},
		"words of a text":           {unknown, lines("The bowl was thrown on a wheel and glazed with cobalt"), nil, vision.DecisionUnknown, nil, "photo"},
		"nothing to read":           {unknown, label.Text{}, nil, vision.DecisionUnknown, nil, "photo"},
		"reading fails":             {choose("red-fan"), label.Text{}, errors.New("tesseract is broken"), vision.DecisionChoose, []string{"red-fan"}, "photo"},
		"surely seen, nobody reads": {match("red-fan"), lines("102", "The Blue Bowl"), nil, vision.DecisionMatch, []string{"red-fan"}, "photo"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &spectacles{text: c.text, err: c.err}
			h := open(t, func(o *Options) { o.Labels = s })
			h.recogniser.set(c.seen, nil)
			visit := h.startVisit("en")
			a := h.photoAnswer(h.photo(visit, board(color.RGBA{250, 250, 250, 255}, 300, 300)))
			var ids []string
			for _, cand := range a.Candidates {
				ids = append(ids, cand.Exhibit.ID)
			}
			if a.Decision != c.decision || !cmp.Equal(ids, c.ids) || a.By != c.by {
				t.Errorf("%s %v by %s, want %s %v by %s", a.Decision, ids, a.By, c.decision, c.ids, c.by)
			}
			if looked := s.asked > 0; looked == (c.seen.Decision == vision.DecisionMatch) || looked && !cmp.Equal(s.languages, []string{"en", "zh"}) {
				t.Errorf("asked %d times to read %v", s.asked, s.languages)
			}
			switch c.decision {
			case vision.DecisionMatch:
				if seen := h.events.wantTypes(t, "exhibit.seen")[0].Data; seen["by"] != c.by || seen["exhibit"] != c.ids[0] {
					t.Errorf("event %v", seen)
				}
			case vision.DecisionUnknown:
				h.events.wantTypes(t, "photo.unknown")
			default:
				h.events.wantTypes(t)
			}
		})
	}
}

func TestLongTextOfALabel(t *testing.T) {
	h := open(t)
	content, giveBack, _ := h.shelf.take()
	defer giveBack()
	text := lines(strings.Repeat("wheel ", 2000))
	for range 50 {
		text.Lines = append(text.Lines, lines("9999").Lines...)
	}
	ids, err := content.mentioned(t.Context(), text)
	if err != nil || !slices.Contains(ids, "blue-bowl") {
		t.Errorf("mentioned %v: %v", ids, err)
	}
}
