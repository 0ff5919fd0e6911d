package localindex

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"docent/localindex/gallery"
	"docent/localindex/rank"
	"docent/localindex/release"
	"docent/localindex/text"
)

// Release is one opened content release. Nothing in it changes, and it is safe for concurrent use; what it hands out
// is shared and must not be changed.
type Release struct {
	dir      string
	manifest release.Manifest
	gallery  *gallery.Gallery
	index    *text.Index
	vectors  *vectors // nil where there are none
	names    *names
	fusion   fusion
	remote   remote
	order    []string                    // passage ids as they are numbered
	sketches map[string]rank.Sketch      // by passage id
	parents  map[string]*gallery.Section // by passage id

	exhibits          map[string]gallery.Exhibit
	sections          map[string]gallery.Section
	passages          map[string]gallery.Passage
	passagesBySection map[string][]gallery.Passage
	pictures          map[string]bool
}

// Open verifies every file of the release in dir and opens it, to be searched without any server. The error is a
// *release.DamagedError where a file is not as it was packed.
func Open(ctx context.Context, dir string) (*Release, error) { return OpenWith(ctx, dir, Services{}) }

// OpenWith is Open, with servers that may help the searches.
func OpenWith(ctx context.Context, dir string, services Services) (*Release, error) {
	// Where dir is a link that is later set to another release, this one keeps its own.
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("open release: %w", err)
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open release: %w", err)
	}
	m, err := release.Verify(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("open release %s: %w", dir, err)
	}
	r := &Release{dir: dir, manifest: m, remote: newRemote(services)}
	if err := r.load(); err != nil {
		return nil, fmt.Errorf("open release %s: %w", dir, err)
	}
	return r, nil
}

func (r *Release) load() error {
	var g gallery.Gallery
	if err := release.ReadJSON(r.dir, release.CatalogueFile, &g); err != nil {
		return err
	}
	if err := release.ReadJSON(r.dir, release.SectionsFile, &g.Sections); err != nil {
		return err
	}
	var passages []gallery.Passage
	if err := release.ReadJSON(r.dir, release.PassagesFile, &passages); err != nil {
		return err
	}
	r.gallery = &g
	r.exhibits = make(map[string]gallery.Exhibit, len(g.Exhibits))
	r.pictures = map[string]bool{}
	for _, e := range g.Exhibits {
		r.exhibits[e.ID] = e
		for _, p := range e.Pictures {
			r.pictures[p.File] = true
		}
	}
	r.sections = make(map[string]gallery.Section, len(g.Sections))
	sections := make(map[string]*gallery.Section, len(g.Sections))
	for i, s := range g.Sections {
		r.sections[s.ID] = s
		sections[s.ID] = &g.Sections[i]
	}
	r.passages = make(map[string]gallery.Passage, len(passages))
	r.passagesBySection = make(map[string][]gallery.Passage, len(g.Sections))
	r.order = make([]string, len(passages))
	r.sketches = make(map[string]rank.Sketch, len(passages))
	r.parents = make(map[string]*gallery.Section, len(passages))
	for i, p := range passages {
		if sections[p.Section] == nil {
			return fmt.Errorf("passage %s is of section %q, which is not there", p.ID, p.Section)
		}
		r.parents[p.ID] = sections[p.Section]
		r.order[i] = p.ID
		r.sketches[p.ID] = rank.NewSketch(p.Text)
		r.passages[p.ID] = p
		r.passagesBySection[p.Section] = append(r.passagesBySection[p.Section], p)
	}
	r.names = newNames(&g)
	var err error
	if r.vectors, err = r.openVectors(len(passages)); err != nil {
		return err
	}
	r.fusion = newFusion(g.Search)
	r.fusion.denseWeight = 0
	if r.vectors != nil {
		r.fusion.keywordWeight, r.fusion.denseWeight = r.vectors.report.KeywordWeight, r.vectors.report.DenseWeight
	}

	index, err := text.Open(r.PartDir(textPartName))
	if err != nil {
		return err
	}
	if n := index.Len(); n != len(passages) {
		return errors.Join(fmt.Errorf("text index holds %d passages, the release %d", n, len(passages)), index.Close())
	}
	r.index = index
	return nil
}

// Close waits for the searches under way and closes the text index. Later searches are errors; everything else goes on
// working, since it is in memory, but for the files that PicturePath and PartDir name.
func (r *Release) Close() error { return r.index.Close() }

// Manifest says which release this is.
func (r *Release) Manifest() release.Manifest { return r.manifest }

// Gallery is all content of the release.
func (r *Release) Gallery() *gallery.Gallery { return r.gallery }

// Exhibit returns the exhibit of that id.
func (r *Release) Exhibit(id string) (gallery.Exhibit, bool) {
	e, ok := r.exhibits[id]
	return e, ok
}

// sectionOf returns the section of a passage of the release.
func (r *Release) sectionOf(passage string) *gallery.Section { return r.parents[passage] }

// Vectors is what the release says of its vectors.
func (r *Release) Vectors() DenseReport {
	if r.vectors == nil {
		return DenseReport{Kind: denseNone, KeywordWeight: r.fusion.keywordWeight}
	}
	return r.vectors.report
}

// VectorsUnused says why the release's vectors are not searched, or nothing where they are or there are none.
func (r *Release) VectorsUnused() string { return r.remote.mismatch(r.vectors) }

// Section returns the section of that id.
func (r *Release) Section(id string) (gallery.Section, bool) {
	s, ok := r.sections[id]
	return s, ok
}

// Sections returns sections in the order they were written: those of an exhibit, or all of the release where exhibit
// is empty; in one language, or in all where language is empty.
func (r *Release) Sections(exhibit, language string) []gallery.Section {
	var found []gallery.Section
	for _, s := range r.gallery.Sections {
		if (exhibit == "" || s.Exhibit == exhibit) && (language == "" || s.Language == language) {
			found = append(found, s)
		}
	}
	return found
}

// Passage returns the passage of that id.
func (r *Release) Passage(id string) (gallery.Passage, bool) {
	p, ok := r.passages[id]
	return p, ok
}

// SectionPassages returns the passages of a section in the order of its text.
func (r *Release) SectionPassages(sectionID string) []gallery.Passage {
	return slices.Clone(r.passagesBySection[sectionID])
}

// PicturePath returns where a picture of an exhibit is on disk. It is false for anything else, so that no other file
// can be asked for.
func (r *Release) PicturePath(file string) (string, bool) {
	if !r.pictures[file] {
		return "", false
	}
	return filepath.Join(r.dir, filepath.FromSlash(file)), true
}

// PartDir is the folder of a part, such as "recognition". It exists only where the release has that part.
func (r *Release) PartDir(name string) string {
	return filepath.Join(r.dir, release.PartsFolder, name)
}
