// Package evaluate measures answers on questions whose answers are known. It needs no model to judge: support is looked
// up sentence by sentence, and relevance is told by the cases.
package evaluate

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"gopkg.in/yaml.v3"

	"docent/localindex/gallery"
)

// ErrCases marks cases that cannot be used.
var ErrCases = errors.New("the cases cannot be used")

// Cases are the questions, and what holds for all of them.
type Cases struct {
	Now   time.Time `yaml:"now"`   // what the guide's clock says
	Place string    `yaml:"place"` // the kiosk
	Cases []Case    `yaml:"cases"`
}

// Kind says what a case tries.
type Kind string

// The kinds of cases.
const (
	KindSingle    Kind = ""
	KindMultiTurn Kind = "multi_turn"
	KindMultiStep Kind = "multi_step"
	KindMemory    Kind = "memory" // History goes through the memory; see Restart and OtherKiosk
)

// Case is one question, the visit it is asked in, and what its answer must be like.
type Case struct {
	Question     string        `yaml:"question"`
	Language     string        `yaml:"language"` // of the visit; empty means en
	Exhibit      string        `yaml:"exhibit"`
	Level        gallery.Level `yaml:"level"`
	History      []string      `yaml:"history"` // questions before; their answers come from the guide
	Kind         Kind          `yaml:"kind"`
	Contains     []string      `yaml:"contains"`
	NotContains  []string      `yaml:"not_contains"`
	Cite         []string      `yaml:"cite"` // exhibits or sections, each of which must be cited
	Unanswerable bool          `yaml:"unanswerable"`
	Blind        bool          `yaml:"blind"` // written before any answer to it was seen
}

// Limits of a file of cases.
const (
	maxFile  = 4 << 20
	maxCases = 10_000
)

// Parse reads cases. Unknown keys are refused: a misspelt one would test nothing.
func Parse(data []byte) (Cases, error) {
	var out Cases
	if len(data) > maxFile {
		return out, fmt.Errorf("%w: the file is larger than %d bytes", ErrCases, maxFile)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&out); err != nil {
		return out, fmt.Errorf("%w: %w", ErrCases, err)
	}
	if len(out.Cases) == 0 || len(out.Cases) > maxCases {
		return out, fmt.Errorf("%w: %d cases, 1 to %d are wanted", ErrCases, len(out.Cases), maxCases)
	}
	for i, c := range out.Cases {
		switch {
		case c.Question == "":
			return out, fmt.Errorf("%w: case %d has no question", ErrCases, i+1)
		case c.Unanswerable == (len(c.Contains)+len(c.Cite) > 0):
			return out, fmt.Errorf("%w: case %d (%s) must be unanswerable, or tell what its answer contains or cites", ErrCases, i+1, c.Question)
		}
	}
	return out, nil
}
