// Package pipeline takes documents through the steps on their way into a release: received, parsed, chunked, embedded,
// indexed. It keeps for each how far it came, how long that took and why it went no further, and does again only what
// changed.
package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"docent/internal/durable"
	"docent/localindex/chunk"
	"docent/localindex/document"
)

// version is of how documents are read and divided; another one does everything again.
const version = 3

// maxTries is how often a document is read from which a program or a server beside us did not give all it might, as
// character recognition that took too long: it may give more another time, but not for ever.
const maxTries = 3

// What is kept of documents: as they were read, which may take minutes, and as they were divided.
const (
	readFolder   = "read"
	chunksFolder = "chunks"
)

func folders() []string { return []string{readFolder, chunksFolder} }

// Options of a pipeline.
type Options struct {
	Dir     string // where states and sections are kept; empty keeps nothing
	Parsers document.Parsers
	// Similarity lets the semantic chunker run; nil leaves it out.
	Similarity chunk.Similarity
	// Rewriter lets the model chunker run where a document asks for it; nil leaves it out.
	Rewriter chunk.Rewriter
	Now      func() time.Time // nil means the system's clock
}

// Pipeline reads documents, one at a time. It is for one goroutine.
type Pipeline struct {
	options Options
	docs    map[string]*Document // by file
	seen    map[string]bool
}

// New opens a pipeline with the states of its last run. States that cannot be read are begun anew.
func New(o Options) (*Pipeline, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	p := &Pipeline{options: o, docs: map[string]*Document{}, seen: map[string]bool{}}
	if o.Dir == "" {
		return p, nil
	}
	for _, folder := range folders() {
		if err := os.MkdirAll(filepath.Join(o.Dir, folder), 0o755); err != nil {
			return nil, fmt.Errorf("open pipeline of documents: %w", err)
		}
	}
	docs, err := Load(o.Dir)
	if err != nil {
		docs = nil // a file of a later version, or damaged: it holds nothing that cannot be found out again
	}
	for _, d := range docs {
		p.docs[d.File] = &d
	}
	return p, nil
}

// Wish is how an author wants a document divided; zero values leave it to what is recommended.
type Wish struct {
	Chunkers []chunk.Kind `json:"chunkers,omitempty"`
	Sizes    chunk.Sizes  `json:"sizes,omitzero"`
	Language string       `json:"language,omitempty"`
}

// Output is a document that was read and divided.
type Output struct {
	Title    string          `json:"title,omitempty"`
	Language string          `json:"language,omitempty"`
	Format   string          `json:"format"`
	Pages    int             `json:"pages,omitempty"`
	Chunkers []chunk.Kind    `json:"chunkers"`
	Reason   string          `json:"reason"`
	Notes    []string        `json:"notes,omitempty"`
	Partial  bool            `json:"partial,omitempty"` // another try may give more
	Sections []chunk.Section `json:"sections"`
}

// Read takes a document as far as chunked. A document that did not change since it was last divided in the same way, or
// since it could not be, is not read again. The error says in plain words what is wrong with the document; its state keeps
// it, too.
func (p *Pipeline) Read(ctx context.Context, file string, data []byte, w Wish) (Output, error) {
	p.seen[file] = true
	d := p.docs[file]
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	if d == nil || d.SHA256 != hash {
		var before []Line
		if d != nil {
			before = d.Log
		}
		d = &Document{File: file, SHA256: hash, Size: len(data), Log: before}
		p.docs[file] = d
		d.did(Received, p.options.Now(), 0)
	}
	d.Read = p.readKey(file, data, hash)
	key, err := p.key(d.Read, w)
	if err != nil {
		return Output{}, err
	}
	if d.Key != key {
		d.Key, d.Tries = key, 0
	} else if d.Failed != nil && (d.Failed.Step == Parsed || d.Failed.Step == Chunked) && (!d.Failed.Again || d.Tries >= maxTries) {
		return Output{}, d.Failed
	} else if d.came(Chunked) {
		if out, ok := kept[Output](p, chunksFolder, key); ok && len(out.Sections) > 0 && (!out.Partial || d.Tries >= maxTries) {
			return out, nil
		}
	}
	d.Tries++
	out, err := p.divide(ctx, d, data, w)
	if err != nil {
		return Output{}, err
	}
	return out, p.keep(chunksFolder, key, out)
}

// readKey names what the reading of a document depends on: its content, what reads it, and with what help.
func (p *Pipeline) readKey(file string, data []byte, hash string) string {
	var reader string
	if format, err := document.Sniff(file, data); err == nil && p.options.Parsers[format] != nil {
		reader = string(format)
		if with, ok := p.options.Parsers[format].(document.Dependent); ok {
			reader += " " + with.DependsOn()
		}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s\n%s", version, hash, reader))
	return hex.EncodeToString(sum[:])
}

// key names what a document's sections depend on: how it was read, and how it is divided.
func (p *Pipeline) key(read string, w Wish) (string, error) {
	key, err := json.Marshal(struct {
		Read     string
		Wish     Wish
		Semantic bool
		Model    bool
	}{read, w, p.options.Similarity != nil, p.options.Rewriter != nil})
	if err != nil {
		return "", fmt.Errorf("name document: %w", err)
	}
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:]), nil
}

// parse reads a document, or takes what was read of it before.
func (p *Pipeline) parse(ctx context.Context, d *Document, data []byte) (document.Document, error) {
	if before, ok := kept[document.Document](p, readFolder, d.Read); ok && d.came(Parsed) && (!before.Partial || d.Tries > maxTries) {
		return before, nil
	}
	began := p.options.Now()
	parsed, err := document.Parse(ctx, d.File, data, document.Options{Parsers: p.options.Parsers})
	if err != nil {
		return parsed, err
	}
	d.did(Parsed, p.options.Now(), p.options.Now().Sub(began))
	return parsed, p.keep(readFolder, d.Read, parsed)
}

// divide parses and chunks a document, and notes how that went.
func (p *Pipeline) divide(ctx context.Context, d *Document, data []byte, w Wish) (Output, error) {
	parsed, err := p.parse(ctx, d, data)
	if ctx.Err() != nil {
		return Output{}, ctx.Err()
	}
	if errors.Is(err, errKeep) {
		return Output{}, err
	}
	if err != nil {
		d.fail(Parsed, p.options.Now(), reason(err))
		d.Failed.Again = !document.Lasting(err) || parsed.Partial
		return Output{}, err
	}
	if w.Language != "" {
		parsed.Language = w.Language
	}
	d.Format, d.Pages, d.Notes = string(parsed.Format), parsed.Pages, parsed.Notes
	if len(parsed.NeedsOCR) > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("%d of %d pages are pictures of text that were not recognised: %s", len(parsed.NeedsOCR), parsed.Pages, ranges(parsed.NeedsOCR)))
	}
	notes := slices.Clone(d.Notes)
	if n := len(parsed.Recognised); n > 0 {
		d.Notes = append(d.Notes, recognised(parsed))
	}
	for _, n := range d.Notes {
		d.log(p.options.Now(), "%s", n)
	}

	began := p.options.Now()
	proposal := p.plan(parsed, w)
	chunks, err := chunk.New(chunk.Options{
		Chunkers: proposal.Chunkers, Sizes: proposal.Sizes, Similarity: p.options.Similarity, Rewriter: p.options.Rewriter,
	})
	var divided chunk.Result
	if err == nil {
		divided, err = chunks.Chunk(ctx, parsed)
	}
	if ctx.Err() != nil {
		return Output{}, ctx.Err()
	}
	if err != nil {
		d.fail(Chunked, p.options.Now(), reason(err))
		return Output{}, err
	}
	d.Notes, notes = append(d.Notes, divided.Notes...), append(notes, divided.Notes...)
	d.Sections, d.Passages, d.Reason, d.Chunkers = len(divided.Sections), 0, proposal.Reason, nil
	for _, s := range divided.Sections {
		d.Passages += len(s.Passages)
	}
	for _, c := range proposal.Chunkers {
		d.Chunkers = append(d.Chunkers, string(c))
	}
	d.did(Chunked, p.options.Now(), p.options.Now().Sub(began))
	return Output{
		Title: parsed.Title, Language: parsed.Language, Format: string(parsed.Format), Pages: parsed.Pages, Chunkers: proposal.Chunkers,
		Reason: proposal.Reason, Notes: notes, Partial: parsed.Partial || divided.Partial, Sections: divided.Sections,
	}, nil
}

// recognised says which pages were read from pictures, and how well.
func recognised(d document.Document) string {
	var pages []int
	sum := 0.0
	for _, r := range d.Recognised {
		pages = append(pages, r.Page)
		sum += r.Confidence
	}
	return fmt.Sprintf("%d of %d pages were read from pictures of text, with a confidence of %.2f: %s", len(pages), d.Pages, sum/float64(len(pages)), ranges(pages))
}

// plan is what is recommended, overruled by the author, without what there is not.
func (p *Pipeline) plan(d document.Document, w Wish) chunk.Proposal {
	plan := chunk.Recommend(d)
	// A model is never asked by recommendation alone: it costs, and it may be elsewhere.
	plan.Chunkers = slices.DeleteFunc(plan.Chunkers, func(k chunk.Kind) bool {
		return k == chunk.Model || k == chunk.Semantic && p.options.Similarity == nil
	})
	if len(w.Chunkers) > 0 {
		plan.Chunkers, plan.Reason = w.Chunkers, "as its author wants it"
	}
	if w.Sizes.Section > 0 {
		plan.Sizes.Section = w.Sizes.Section
	}
	if w.Sizes.Passage > 0 {
		plan.Sizes.Passage = w.Sizes.Passage
	}
	return plan
}

// reason is an error without the name of the file, which stands beside it.
func reason(err error) string {
	var e *document.Error
	if errors.As(err, &e) {
		without := *e
		without.Name = ""
		return strings.TrimPrefix(without.Error(), "read: ")
	}
	return err.Error()
}

// ranges writes ascending numbers as 1–3, 7.
func ranges(numbers []int) string {
	var b strings.Builder
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d", numbers[i])
		if j > i {
			fmt.Fprintf(&b, "–%d", numbers[j])
		}
		i = j + 1
	}
	return b.String()
}

// errKeep is a fault of the disk, and none of the document.
var errKeep = errors.New("keep what was read of documents")

// kept reads what was made before.
func kept[T any](p *Pipeline, folder, key string) (made T, ok bool) {
	if p.options.Dir == "" {
		return made, false
	}
	data, err := os.ReadFile(filepath.Join(p.options.Dir, folder, key+".json"))
	if err != nil {
		return made, false
	}
	err = json.Unmarshal(data, &made)
	return made, err == nil
}

func (p *Pipeline) keep(folder, key string, made any) error {
	if p.options.Dir == "" {
		return nil
	}
	data, err := json.Marshal(made)
	if err == nil {
		err = durable.WriteFile(filepath.Join(p.options.Dir, folder, key+".json"), data, 0o644)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errKeep, err)
	}
	return nil
}

// Finish notes a later step of all documents that came so far as the one before it. An empty reason means that it was done.
func (p *Pipeline) Finish(step Step, took time.Duration, reason string) {
	order := Steps()
	before := order[max(0, slices.Index(order, step)-1)]
	for _, d := range p.docs {
		if d.Failed != nil && d.Failed.Step != step || !p.seen[d.File] ||
			!d.came(before) {
			continue
		}
		if reason != "" {
			d.fail(step, p.options.Now(), reason)
		} else if !d.came(step) || d.Failed != nil {
			d.did(step, p.options.Now(), took)
		}
	}
}

// Fail notes why a document goes no further, for a reason that lies outside of it.
func (p *Pipeline) Fail(file string, step Step, reason string) {
	if d := p.docs[file]; d != nil {
		d.fail(step, p.options.Now(), reason)
	}
}

// Documents are the states of the documents of this run, sorted by file.
func (p *Pipeline) Documents() []Document {
	docs := make([]Document, 0, len(p.docs))
	for _, d := range p.docs {
		if p.seen[d.File] {
			docs = append(docs, *d)
		}
	}
	slices.SortFunc(docs, func(a, b Document) int { return strings.Compare(a.File, b.File) })
	return docs
}

// Save keeps the states, and forgets documents that are there no more with their sections.
func (p *Pipeline) Save() error {
	if p.options.Dir == "" {
		return nil
	}
	docs := p.Documents()
	data, err := json.MarshalIndent(docs, "", " ")
	if err != nil {
		return fmt.Errorf("save state of documents: %w", err)
	}
	if err := durable.WriteFile(filepath.Join(p.options.Dir, stateFile), append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("save state of documents: %w", err)
	}
	used := map[string]bool{}
	for _, d := range docs {
		used[d.Key+".json"], used[d.Read+".json"] = true, true
	}
	for _, folder := range folders() {
		entries, err := os.ReadDir(filepath.Join(p.options.Dir, folder))
		if err != nil {
			return fmt.Errorf("clear what is kept of old documents: %w", err)
		}
		for _, e := range entries {
			if !used[e.Name()] && strings.HasSuffix(e.Name(), ".json") {
				if err := os.Remove(filepath.Join(p.options.Dir, folder, e.Name())); err != nil {
					return fmt.Errorf("clear what is kept of old documents: %w", err)
				}
			}
		}
	}
	return nil
}
