package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Step is one step on a document's way into a release.
type Step string

// The steps, in their order.
const (
	Received Step = "received"
	Parsed   Step = "parsed"
	Chunked  Step = "chunked"
	Embedded Step = "embedded"
	Indexed  Step = "indexed"
)

// Steps are all of them.
func Steps() []Step { return []Step{Received, Parsed, Chunked, Embedded, Indexed} }

// Document is how far one document has come.
type Document struct {
	File   string `json:"file"` // slash-separated, below the authoring folder
	SHA256 string `json:"sha256"`
	Size   int    `json:"size"`
	Format string `json:"format,omitempty"`
	// Read names how it was read: its content, and by what.
	Read string `json:"read,omitempty"`
	// Key names what the sections were made from: the content and everything that says how it is divided.
	Key   string `json:"key,omitempty"`
	Tries int    `json:"tries,omitempty"` // how often it was read under that name
	// Done are the steps that were done, in their order.
	Done []Done `json:"done"`
	// Failed is the step that could not be done, nil where none failed.
	Failed   *Failure `json:"failed,omitempty"`
	Pages    int      `json:"pages,omitempty"`
	Sections int      `json:"sections,omitempty"`
	Passages int      `json:"passages,omitempty"`
	// Chunkers say how it was divided, and Reason why.
	Chunkers []string `json:"chunkers,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Notes    []string `json:"notes,omitempty"` // in plain words: what was left out
	Log      []Line   `json:"log,omitempty"`   // the last things that happened, oldest first
}

// Done is one step that was done.
type Done struct {
	Step Step      `json:"step"`
	At   time.Time `json:"at"`
	MS   float64   `json:"ms,omitempty"` // how long it took
}

// Failure is a step that could not be done.
type Failure struct {
	Step   Step      `json:"step"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
	// Again tells that it may go better another time.
	Again bool `json:"again,omitempty"`
}

// Error is the reason.
func (f *Failure) Error() string { return f.Reason }

// Line is one line of a log.
type Line struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// maxLog is how many lines are kept of a document.
const maxLog = 30

// State is the last step that was done, or failed, as a person reads it.
func (d Document) State() string {
	if d.Failed != nil {
		return fmt.Sprintf("failed at %s because %s", d.Failed.Step, d.Failed.Reason)
	}
	if len(d.Done) == 0 {
		return string(Received)
	}
	return string(d.Done[len(d.Done)-1].Step)
}

// came reports whether a step was done.
func (d *Document) came(step Step) bool {
	return slices.ContainsFunc(d.Done, func(o Done) bool { return o.Step == step })
}

// log adds a line.
func (d *Document) log(at time.Time, format string, args ...any) {
	d.Log = append(d.Log, Line{at, fmt.Sprintf(format, args...)})
	d.Log = d.Log[max(0, len(d.Log)-maxLog):]
}

// did notes a step that was done, and forgets those behind it.
func (d *Document) did(step Step, at time.Time, took time.Duration) {
	order := Steps()
	d.Done = slices.DeleteFunc(d.Done, func(o Done) bool { return slices.Index(order, o.Step) >= slices.Index(order, step) })
	d.Done = append(d.Done, Done{step, at, float64(took) / float64(time.Millisecond)})
	d.Failed = nil
	d.log(at, "%s", step)
}

// fail notes a step that could not be done.
func (d *Document) fail(step Step, at time.Time, reason string) {
	order := Steps()
	d.Done = slices.DeleteFunc(d.Done, func(o Done) bool { return slices.Index(order, o.Step) >= slices.Index(order, step) })
	d.Failed = &Failure{Step: step, At: at, Reason: reason}
	d.log(at, "failed at %s: %s", step, reason)
}

// stateFile holds the state of all documents.
const stateFile = "documents.json"

// maxState bounds what is read of it.
const maxState = 64 << 20

// Load reads the states in a folder, sorted by file. A folder without any has none.
func Load(dir string) ([]Document, error) {
	f, err := os.Open(filepath.Join(dir, stateFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read state of documents: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxState+1))
	if err != nil || len(data) > maxState {
		return nil, fmt.Errorf("read state of documents: %d bytes: %w", len(data), err)
	}
	return decodeStates(data)
}

func decodeStates(data []byte) ([]Document, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var docs []Document
	if err := dec.Decode(&docs); err != nil {
		return nil, fmt.Errorf("read state of documents: %w", err)
	}
	slices.SortFunc(docs, func(a, b Document) int { return strings.Compare(a.File, b.File) })
	return docs, nil
}
