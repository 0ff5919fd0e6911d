package vision

import (
	"context"
	"fmt"
	"path/filepath"

	"docent/localindex/gallery"
	"docent/localindex/vector"
)

// IndexPart is the recognition index as a part of a release.
type IndexPart struct {
	Options Options // Index is overridden by the gallery's recognition setting "index"
}

// Name is the name of the part.
func (p IndexPart) Name() string { return "recognition" }

// Build writes the index of all pictures of a gallery into partDir. The report is a [Report]. A gallery without
// pictures is an error.
func (p IndexPart) Build(ctx context.Context, g *gallery.Gallery, galleryDir, partDir string) (any, error) {
	o := p.Options
	if want := g.Recognition.Index; want != "" {
		kind, err := vector.ParseKind(want)
		if err != nil {
			return nil, fmt.Errorf("recognition setting: %w", err)
		}
		o.Index = kind
	}
	var refs []Reference
	for _, e := range g.Exhibits {
		for _, picture := range e.Pictures {
			if !filepath.IsLocal(filepath.FromSlash(picture.File)) {
				return nil, fmt.Errorf("exhibit %s: %w: %q lies outside the gallery", e.ID, ErrReference, picture.File)
			}
			refs = append(refs, Reference{
				ExhibitID: e.ID,
				Picture:   picture.File,
				Path:      filepath.Join(galleryDir, filepath.FromSlash(picture.File)),
			})
		}
	}
	report, err := BuildIndex(ctx, refs, partDir, o)
	if err != nil || g.Recognition.Neural.Model == "" {
		return report, err
	}
	report.Neural, err = buildNeural(ctx, refs, partDir, galleryDir, g.Recognition.Neural, o.threads())
	return report, err
}
