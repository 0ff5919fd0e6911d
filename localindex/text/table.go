package text

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
)

// tableFile holds what Bleve does not: which passages there are, and the synonyms.
const tableFile = "passages.json"

// Limits of a table when it is read.
const (
	maxTableBytes = 128 << 20
	maxPassages   = 4 << 20
)

// table lists the passages in the order of their numbers, by which Bleve knows them.
type table struct {
	Passages []entry    `json:"passages"`
	Synonyms [][]string `json:"synonyms,omitempty"`
}

// entry is one passage and what it is filtered by.
type entry struct {
	ID       string `json:"id"`
	Language string `json:"language,omitempty"`
	Domain   string `json:"domain,omitempty"`
	Exhibit  string `json:"exhibit,omitempty"`
	Length   int    `json:"length"`            // of everything it is found by, in terms, about
	Heading  int    `json:"heading,omitempty"` // length of its headings
	Title    int    `json:"title,omitempty"`   // length of its title
}

func newTable(docs []Doc, synonyms [][]string) (*table, error) {
	if len(docs) > maxPassages {
		return nil, fmt.Errorf("there are %d passages, at most %d are allowed", len(docs), maxPassages)
	}
	t := &table{Passages: make([]entry, len(docs)), Synonyms: synonyms}
	for i, d := range docs {
		t.Passages[i] = entry{d.ID, d.Language, d.Domain, d.Exhibit, length(d.all()), length(d.Heading), length(d.Title)}
	}
	return t, t.validate()
}

func (t *table) validate() error {
	seen := make(map[string]bool, len(t.Passages))
	for _, p := range t.Passages {
		if p.ID == "" || seen[p.ID] {
			return fmt.Errorf("passage id %q is empty or used twice", p.ID)
		}
		if strings.ContainsAny(p.Language, "._ ") || min(p.Length, p.Heading, p.Title) < 0 {
			return fmt.Errorf("passage %s has the language %q and the lengths %d, %d, %d", p.ID, p.Language, p.Length, p.Heading, p.Title)
		}
		seen[p.ID] = true
	}
	return nil
}

// languages are those of the passages, sorted.
func (t *table) languages() []string {
	var languages []string
	for _, p := range t.Passages {
		if !slices.Contains(languages, p.Language) {
			languages = append(languages, p.Language)
		}
	}
	slices.Sort(languages)
	return languages
}

func (t *table) write(dir string) error {
	data, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("encode %s: %w", tableFile, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, tableFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("write %s: %w", tableFile, err)
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", tableFile, err)
	}
	return nil
}

func readTable(dir string) (*table, error) {
	f, err := os.Open(filepath.Join(dir, tableFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxTableBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", tableFile, err)
	}
	if len(data) > maxTableBytes {
		return nil, fmt.Errorf("%s is larger than %d bytes", tableFile, maxTableBytes)
	}
	return decodeTable(data)
}

func decodeTable(data []byte) (*table, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var t table
	if err := dec.Decode(&t); err != nil {
		return nil, fmt.Errorf("read %s: %w", tableFile, err)
	}
	if err := t.validate(); err != nil {
		return nil, fmt.Errorf("read %s: %w", tableFile, err)
	}
	return &t, nil
}
