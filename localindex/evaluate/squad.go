package evaluate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"docent/localindex/gallery"
)

// ErrInput is what every error of a file that cannot be used is.
var ErrInput = errors.New("file cannot be used")

// Limits of an input file.
const (
	maxInput     = 512 << 20
	maxQuestions = 500_000
	maxPassages  = 200_000
)

// squad is the nested shape of SQuAD and of the many sets that took it over.
type squad struct {
	Data []struct {
		Title      string `json:"title"`
		Paragraphs []struct {
			Context string `json:"context"`
			QAs     []struct {
				ID       json.RawMessage `json:"id"` // text or number
				Question string          `json:"question"`
			} `json:"qas"`
		} `json:"paragraphs"`
	} `json:"data"`
}

// set is the passages of a file, and questions with the passages that answer them.
type set struct {
	language  string
	sections  []gallery.Section // one for each passage
	passages  []gallery.Passage
	questions []question
}

// question is one question; the passage of that id answers it.
type question struct{ id, text, passage string }

// readSet reads passages and questions from one file, and the questions from a second one where it is named.
func readSet(squadFile, questionsFile string) (*set, error) {
	in, err := readSquad(squadFile)
	if err != nil {
		return nil, err
	}
	s := newSet(in)
	if questionsFile != "" {
		other, err := readSquad(questionsFile)
		if err != nil {
			return nil, err
		}
		if err := s.ask(other); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrInput, questionsFile, err)
		}
	}
	switch {
	case len(s.questions) == 0:
		return nil, fmt.Errorf("%w: %s: there are no questions", ErrInput, squadFile)
	case len(s.questions) > maxQuestions || len(s.passages) > maxPassages:
		return nil, fmt.Errorf("%w: %s: %d questions and %d passages, at most %d and %d are allowed", ErrInput, squadFile,
			len(s.questions), len(s.passages), maxQuestions, maxPassages)
	}
	return s, nil
}

func readSquad(file string) (squad, error) {
	f, err := os.Open(file)
	if err != nil {
		return squad{}, fmt.Errorf("%w: %w", ErrInput, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxInput+1))
	if err != nil {
		return squad{}, fmt.Errorf("%w: read %s: %w", ErrInput, file, err)
	}
	if len(data) > maxInput {
		return squad{}, fmt.Errorf("%w: %s is larger than %d MiB", ErrInput, file, maxInput>>20)
	}
	in, err := parseSquad(data)
	if err != nil {
		return squad{}, fmt.Errorf("%w: %s: %w", ErrInput, file, err)
	}
	return in, nil
}

func parseSquad(data []byte) (squad, error) {
	var in squad
	if err := json.Unmarshal(data, &in); err != nil {
		return squad{}, fmt.Errorf("this is not SQuAD-shaped JSON: %w", err)
	}
	if len(in.Data) == 0 {
		return squad{}, errors.New("this is not SQuAD-shaped JSON: there is no list data[]")
	}
	return in, nil
}

// newSet lays a file out as texts of a gallery. A paragraph that is there twice is one passage.
func newSet(in squad) *set {
	s := &set{}
	known := map[string]string{} // text: passage id
	var all strings.Builder
	for i, article := range in.Data {
		for j, p := range article.Paragraphs {
			text := strings.TrimSpace(p.Context)
			if text == "" {
				continue
			}
			id, ok := known[text]
			if !ok {
				section := fmt.Sprintf("documents/%d/%d", i, j)
				id = section + "#1"
				known[text] = id
				s.sections = append(s.sections, gallery.Section{ID: section, Domain: gallery.DomainExhibit, Text: text, Document: "squad"})
				s.passages = append(s.passages, gallery.Passage{ID: id, Section: section, Text: text})
				if all.Len() < sampled {
					all.WriteString(text)
				}
			}
			for _, q := range p.QAs {
				if strings.TrimSpace(q.Question) != "" {
					s.questions = append(s.questions, question{strings.Trim(string(q.ID), `"`), q.Question, id})
				}
			}
		}
	}
	s.language = languageOf(all.String())
	for i := range s.sections {
		s.sections[i].Language = s.language
	}
	return s
}

// ask takes the words of the questions from another file with the same ids.
func (s *set) ask(other squad) error {
	words := map[string]string{}
	for _, article := range other.Data {
		for _, p := range article.Paragraphs {
			for _, q := range p.QAs {
				words[strings.Trim(string(q.ID), `"`)] = q.Question
			}
		}
	}
	var asked []question
	for _, q := range s.questions {
		if text := strings.TrimSpace(words[q.id]); text != "" && q.id != "" {
			asked = append(asked, question{q.id, text, q.passage})
		}
	}
	if len(asked) == 0 {
		return errors.New("no question has the id of one in the first file")
	}
	s.questions = asked
	return nil
}

// sampled is how many bytes the language is guessed from.
const sampled = 100_000

// languageOf guesses the language of texts by their script.
func languageOf(text string) string {
	han, kana, hangul, other := 0, 0, 0, 0
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Han, r):
			han++
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			kana++
		case unicode.Is(unicode.Hangul, r):
			hangul++
		case unicode.IsLetter(r):
			other++
		}
	}
	switch {
	case kana*10 > han+kana && kana > 0 && (han+kana)*2 > other:
		return "ja"
	case hangul > other:
		return "ko"
	case han*2 > other:
		return "zh"
	}
	return "en"
}
