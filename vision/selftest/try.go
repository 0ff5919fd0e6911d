package selftest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"docent/vision"
)

const (
	viewsFile    = "views.json"
	maxKept      = 6 // views for kiosks: each takes one some 0.3 s
	maxViewsFile = 64 << 10
)

// viewsToKeep are a few views that were recognised, of exhibits spread evenly over the gallery.
func viewsToKeep(outcomes []outcome) []View {
	var right []View
	for _, o := range outcomes {
		if o.right() && (len(right) == 0 || right[len(right)-1].Exhibit != o.view.Exhibit) {
			right = append(right, o.view)
		}
	}
	n := min(len(right), maxKept)
	kept := make([]View, n)
	for i := range kept {
		kept[i] = right[i*len(right)/n]
	}
	return kept
}

func writeViews(path string, views []View) error {
	data, err := json.MarshalIndent(views, "", " ")
	if err != nil {
		return fmt.Errorf("encode views: %w", err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil { // the release syncs it
		return fmt.Errorf("write views: %w", err)
	}
	return nil
}

// Views returns the views that the self-test of a release left in its part's folder; none where it has none.
func Views(partDir string) ([]View, error) {
	data, err := readLimited(filepath.Join(partDir, viewsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read views: %w", err)
	}
	return decodeViews(data)
}

func readLimited(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxViewsFile {
		return nil, fmt.Errorf("%s has %d bytes, at most %d", path, info.Size(), maxViewsFile)
	}
	return os.ReadFile(path)
}

func decodeViews(data []byte) ([]View, error) {
	var views []View
	if err := json.Unmarshal(data, &views); err != nil {
		return nil, fmt.Errorf("read views: %w", err)
	}
	if len(views) > maxKept {
		return nil, fmt.Errorf("read views: there are %d, at most %d", len(views), maxKept)
	}
	for _, v := range views {
		if v.Exhibit == "" || v.Picture == "" || v.Number < 0 {
			return nil, fmt.Errorf("read views: %+v is none", v)
		}
	}
	return views, nil
}

// Try takes views again and has them recognised. It returns those that were not. Path says where a picture is; false
// where the release has none of that name.
func Try(ctx context.Context, r *vision.Recogniser, views []View, path func(file string) (string, bool)) (missed []View, err error) {
	for _, v := range views {
		ok, err := try(ctx, r, v, path)
		if err != nil {
			return nil, fmt.Errorf("try view %d of picture %s: %w", v.Number, v.Picture, err)
		}
		if !ok {
			missed = append(missed, v)
		}
	}
	return missed, nil
}

func try(ctx context.Context, r *vision.Recogniser, v View, path func(file string) (string, bool)) (bool, error) {
	file, ok := path(v.Picture)
	if !ok {
		return false, errors.New("the release has no such picture")
	}
	src, err := load(file)
	if err != nil {
		return false, err
	}
	defer src.Close()
	photo, err := v.Take(src.Image)
	if err != nil {
		return false, err
	}
	defer photo.Close()
	seen, err := r.Recognise(ctx, photo)
	if err != nil {
		return false, err
	}
	return outcome{view: v, taken: true, seen: seen}.offered(), nil
}
