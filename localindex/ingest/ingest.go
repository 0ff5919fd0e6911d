// Package ingest reads what people write about a gallery, an authoring folder or a table of exhibits, and says by file
// and line what is wrong with it.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"docent/localindex/gallery"
)

// ErrNotGallery is returned for a folder that holds neither gallery.yaml nor catalogue.csv.
var ErrNotGallery = errors.New("there is neither " + GalleryFile + " nor " + CatalogueFile)

// Content is what was read of an authoring folder.
type Content struct {
	Gallery  *gallery.Gallery
	Problems []Problem // sorted by file and line
	passages map[string][]gallery.Passage
}

// Passages are the passages of all sections, in the order of the sections. Documents are divided as their authors or their
// looks ask for, everything else by [Passages].
func (c *Content) Passages() []gallery.Passage {
	var all []gallery.Passage
	for _, s := range c.Gallery.Sections {
		if divided, ok := c.passages[s.ID]; ok {
			all = append(all, divided...)
		} else {
			all = append(all, Passages(s)...)
		}
	}
	return all
}

// Read reads an authoring folder, its documents in Markdown only; see [ReadWith].
func Read(ctx context.Context, dir string) (*gallery.Gallery, []Problem, error) {
	c, err := ReadWith(ctx, dir, nil)
	if err != nil {
		return nil, nil, err
	}
	return c.Gallery, c.Problems, nil
}

// ReadWith reads an authoring folder. Everything that is wrong with it is a problem; what can be read is in the gallery all
// the same. The error is for a folder that cannot be read at all. Nothing outside of the folder is looked at, whatever a
// path or a symbolic link in it says. Documents of other formats than our Markdown are read by documents, which may be nil.
func ReadWith(ctx context.Context, dir string, documents DocumentReader) (*Content, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("read gallery %s: %w", dir, err)
	}
	defer root.Close()

	rep := &report{}
	c := &Content{passages: map[string][]gallery.Passage{}}
	switch {
	case exists(root, GalleryFile):
		err = c.readFolder(ctx, root, filepath.Base(absolute(dir)), documents, rep)
	case exists(root, CatalogueFile):
		c.Gallery, err = readCatalogueFolder(ctx, root, filepath.Base(absolute(dir)), rep)
	default:
		err = ErrNotGallery
	}
	if err != nil {
		return nil, fmt.Errorf("read gallery %s: %w", dir, err)
	}
	c.Problems = rep.sorted()
	return c, nil
}

func absolute(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

func exists(root *os.Root, name string) bool {
	_, err := root.Lstat(name)
	return err == nil
}

// readFolder reads a folder with gallery.yaml.
func (c *Content) readFolder(ctx context.Context, root *os.Root, folder string, reader DocumentReader, rep *report) error {
	var usual *gallery.Gallery
	if exists(root, CatalogueFile) {
		rows := readCatalogue(root, &report{}) // its problems are reported when it is read for its rows
		usual = emptyGallery(folder, rows)
	}
	g := readGalleryFile(root, usual, rep)
	if g == nil {
		c.Gallery = &gallery.Gallery{}
		return nil
	}
	c.Gallery = g
	g.Search.Synonyms = readSynonyms(root, rep)
	files, unusable, err := readExhibits(ctx, root, g, rep)
	if err != nil {
		return err
	}
	for _, x := range files {
		x.checkPictures(root)
	}
	for _, x := range files {
		g.Exhibits = append(g.Exhibits, x.exhibit)
	}
	if exists(root, CatalogueFile) {
		if err := readCatalogueInto(ctx, root, g, rep); err != nil {
			return err
		}
	}
	checkTogether(g, files, unusable)
	if len(g.Exhibits) == 0 {
		rep.errorf(GalleryFile, 0, "the gallery has no exhibits; write one in %s/my-exhibit.md", exhibitsFolder)
	}
	warnUnusedPictures(root, g, rep)

	for _, x := range files {
		g.Sections = append(g.Sections, x.sections...)
		g.Sections = append(g.Sections, exhibitFacts(g, x.exhibit, x.documents(g))...)
	}
	documents, err := c.readDocuments(ctx, root, reader, rep)
	if err != nil {
		return err
	}
	g.Sections = append(g.Sections, documents...)
	g.Sections = append(g.Sections, houseFacts(g, GalleryFile)...)
	warnWording(g, GalleryFile, rep)
	return nil
}

// checkTogether compares exhibits with each other and with the gallery's languages. Those that are not usable are there all
// the same: that others name them is no further mistake.
func checkTogether(g *gallery.Gallery, files []*exhibitFile, unusable []string) {
	var known []string
	ids := map[string]bool{}
	for _, e := range g.Exhibits {
		known = append(known, e.ID)
		ids[e.ID] = true
	}
	slices.Sort(known)
	for _, id := range unusable {
		ids[id] = true
	}
	labels, accessions := map[string]string{}, map[string]string{}
	for _, x := range files {
		e, y := x.exhibit, x.front
		if other, ok := labels[e.Label]; ok && e.Label != "" {
			y.errorf([]any{"label"}, "label: %q is already the label of %s", e.Label, other)
		} else {
			labels[e.Label] = x.file
		}
		if other, ok := accessions[e.Accession]; ok && e.Accession != "" {
			y.warnf([]any{"accession"}, "accession: %q is already the accession number of %s", e.Accession, other)
		} else {
			accessions[e.Accession] = x.file
		}
		for i, r := range e.Related {
			switch {
			case r == e.ID:
				y.errorf([]any{"related", i}, "related: %q is this exhibit itself", r)
			case !ids[r]:
				y.errorf([]any{"related", i}, "related: there is no exhibit %q%s", r, suggestion(r, known))
			}
		}
		for _, language := range g.Languages[1:] {
			if !slices.Contains(x.translated, language) {
				y.report.warnf(x.file, 0, "not translated into %s; there is no file %s.%s.md", language, e.ID, language)
			}
		}
		for i, s := range e.Sources {
			if validKey(s.Key) && !x.cited[s.Key] {
				y.warnf([]any{"sources", i}, "sources: no text names %q as [^%s]", s.Key, s.Key)
			}
		}
	}
}

// warnUnusedPictures names the files in pictures/ that no exhibit shows.
func warnUnusedPictures(root *os.Root, g *gallery.Gallery, rep *report) {
	used := map[string]bool{}
	for _, e := range g.Exhibits {
		for _, p := range e.Pictures {
			used[p.File] = true
		}
	}
	n := 0
	err := fs.WalkDir(root.FS(), "pictures", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if n++; n > MaxFolderFiles {
			return fs.SkipAll
		}
		if skipped(d.Name()) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.IsDir() && !used[name] {
			rep.warnf(name, 0, "no exhibit shows this picture")
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		rep.errorf("pictures", 0, "this folder cannot be read: %v", err)
	}
}
