package evaluate

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"docent/vision"
)

// Limits of what is read.
const (
	maxCSV  = 64 << 20
	maxRows = 1_000_000
)

// ErrInput is wrapped by errors about catalogues, labels and folders that cannot be used.
var ErrInput = errors.New("unusable input")

// label says what a photo shows.
type label struct {
	photo    string   // slash-separated path below the folder of photos
	exhibits []string // empty: nothing of the catalogue
}

// readCatalogue reads a catalogue and finds its pictures. An id may have several rows, one per picture.
func readCatalogue(path, dir string) ([]vision.Reference, error) {
	rows, err := readTable(path, "catalogue", "id", "image")
	if err != nil {
		return nil, err
	}
	if err := needFolder(dir, "references"); err != nil {
		return nil, err
	}
	var refs []vision.Reference
	for _, row := range rows {
		id, image := row.fields["id"], row.fields["image"]
		if id == "" || image == "" {
			return nil, fmt.Errorf("%w: %s line %d: id or image is empty", ErrInput, path, row.line)
		}
		if strings.HasPrefix(id, distractorPrefix) {
			return nil, fmt.Errorf("%w: %s line %d: id %q starts like a distractor's", ErrInput, path, row.line, id)
		}
		file, err := inside(dir, image)
		if err != nil {
			return nil, fmt.Errorf("%s line %d: picture %w", path, row.line, err)
		}
		refs = append(refs, vision.Reference{ExhibitID: id, Picture: image, Path: file})
	}
	if len(refs) == 0 {
		return nil, fmt.Errorf("%w: catalogue %s has no rows", ErrInput, path)
	}
	return refs, nil
}

// readLabels reads labels. Photos must exist and exhibits be in the catalogue.
func readLabels(path, dir string, known map[string]bool) ([]label, error) {
	rows, err := readTable(path, "labels", "photo", "exhibits")
	if err != nil {
		return nil, err
	}
	if err := needFolder(dir, "photos"); err != nil {
		return nil, err
	}
	labels := make([]label, 0, len(rows))
	for _, row := range rows {
		l := label{photo: row.fields["photo"], exhibits: strings.Fields(row.fields["exhibits"])}
		if l.photo == "" {
			return nil, fmt.Errorf("%w: %s line %d: photo is empty", ErrInput, path, row.line)
		}
		if _, err := inside(dir, l.photo); err != nil {
			return nil, fmt.Errorf("%s line %d: photo %w", path, row.line, err)
		}
		for _, id := range l.exhibits {
			if !known[id] {
				return nil, fmt.Errorf("%w: %s line %d: exhibit %q is not in the catalogue", ErrInput, path, row.line, id)
			}
		}
		labels = append(labels, l)
	}
	if len(labels) == 0 {
		return nil, fmt.Errorf("%w: labels %s have no rows", ErrInput, path)
	}
	return labels, nil
}

// listPictures lists the pictures below a folder as references that no photo shows.
func listPictures(dir string) ([]vision.Reference, error) {
	if err := needFolder(dir, "distractors"); err != nil {
		return nil, err
	}
	var refs []vision.Reference
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() || !slices.Contains([]string{".jpg", ".jpeg", ".png", ".webp"}, strings.ToLower(filepath.Ext(path))) {
			return nil
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		refs = append(refs, vision.Reference{ExhibitID: distractorPrefix + name, Picture: name, Path: path})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list distractors %s: %w", dir, err)
	}
	if len(refs) == 0 {
		return nil, fmt.Errorf("%w: no JPEG, PNG or WebP picture below %s", ErrInput, dir)
	}
	return refs, nil
}

// inside joins a folder and a slash-separated name below it, and makes sure that the file is there.
func inside(dir, name string) (string, error) {
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) {
		return "", fmt.Errorf("%q: %w: it lies outside %s", name, ErrInput, dir)
	}
	path := filepath.Join(dir, local)
	if info, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%q: %w: %w", name, ErrInput, err)
	} else if info.IsDir() {
		return "", fmt.Errorf("%q: %w: it is a folder", name, ErrInput)
	}
	return path, nil
}

func needFolder(dir, what string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("%w: folder of %s: %w", ErrInput, what, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%w: folder of %s: %s is not a folder", ErrInput, what, dir)
	}
	return nil
}

// record is one row of a table.
type record struct {
	line   int
	fields map[string]string
}

// readTable reads a CSV file with a header, whose separator may be a comma or a semicolon. Names of columns are
// compared without case; unknown ones are ignored.
func readTable(path, what string, columns ...string) ([]record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInput, what, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxCSV+1))
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", what, path, err)
	}
	if len(data) > maxCSV {
		return nil, fmt.Errorf("%w: %s %s is longer than %d bytes", ErrInput, what, path, maxCSV)
	}
	rows, err := parseTable(data, columns...)
	if err != nil {
		return nil, fmt.Errorf("%w: %s %s: %w", ErrInput, what, path, err)
	}
	return rows, nil
}

func parseTable(data []byte, columns ...string) ([]record, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	r := csv.NewReader(bytes.NewReader(data))
	first, _, _ := bytes.Cut(data, []byte("\n"))
	if bytes.Count(first, []byte(";")) > bytes.Count(first, []byte(",")) {
		r.Comma = ';'
	}
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("it is empty")
	}
	if err != nil {
		return nil, err
	}
	names := make([]string, len(header))
	for i, name := range header {
		names[i] = strings.ToLower(strings.TrimSpace(name))
	}
	for _, want := range columns {
		if !slices.Contains(names, want) {
			return nil, fmt.Errorf("line 1: column %q is missing, there are %s", want, strings.Join(names, ", "))
		}
	}
	var rows []record
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		if len(rows) == maxRows {
			return nil, fmt.Errorf("more than %d rows", maxRows)
		}
		line, _ := r.FieldPos(0)
		row := record{line: line, fields: make(map[string]string, len(fields))}
		for i, value := range fields {
			row.fields[names[i]] = strings.TrimSpace(value)
		}
		rows = append(rows, row)
	}
}
