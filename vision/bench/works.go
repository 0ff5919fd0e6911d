package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"gocv.io/x/gocv"
	"golang.org/x/sync/errgroup"

	"docent/vision"
	"docent/vision/synthetic"
)

// works is the collection all sizes are parts of.
type works struct {
	references []vision.Reference // with their features; exhibits are numbered
	pictures   []string           // files of the given ones, by number
	given      int
	shown      int // the first ones, which are photographed
	eachMS     float64
}

// seed of all that is invented; a work's number is added.
const seed = 0x5eed

// describe lists n works, the pictures of the folder first, and describes them.
func describe(ctx context.Context, o Options, n, shown int) (works, error) {
	w := works{references: make([]vision.Reference, n), shown: shown}
	if o.References != "" {
		var err error
		if w.pictures, err = list(o.References); err != nil {
			return works{}, err
		}
		w.given = min(len(w.pictures), n)
	}
	var done, spent atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(o.Threads)
	for i := range n {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			picture, err := w.picture(i)
			if err != nil {
				return err
			}
			defer picture.Close()
			start := time.Now()
			set, err := vision.Describe(picture)
			if err != nil {
				return fmt.Errorf("work %d: %w", i, err)
			}
			spent.Add(int64(time.Since(start)))
			id := fmt.Sprint(i)
			w.references[i] = vision.Reference{ExhibitID: id, Picture: id, Features: &set}
			done.Add(1)
			return nil
		})
		if i%100 == 0 {
			o.Progress("describing works", int(done.Load()), n)
		}
	}
	if err := g.Wait(); err != nil {
		return works{}, err
	}
	w.eachMS = milliseconds(time.Duration(spent.Load())/time.Duration(n)) / float64(o.Threads)
	return w, nil
}

// picture is the picture of a work: read, or invented from its number alone. The caller closes it.
func (w works) picture(i int) (gocv.Mat, error) {
	if i >= w.given {
		return synthetic.Invented(rand.New(rand.NewPCG(seed, uint64(i)))), nil
	}
	m := gocv.IMRead(w.pictures[i], gocv.IMReadColor)
	if m.Empty() {
		return m, errors.Join(fmt.Errorf("%s cannot be decoded", w.pictures[i]), m.Close())
	}
	return m, nil
}

// list is the pictures below a folder, in order of their names.
func list(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && slices.Contains([]string{".jpg", ".jpeg", ".png", ".webp"}, strings.ToLower(filepath.Ext(path))) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list pictures: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no JPEG, PNG or WebP picture below %s", dir)
	}
	return files, nil
}

// shot is a photo and the exhibit it shows, "" for none.
type shot struct {
	photo   vision.Photo
	exhibit string
}

type shots struct{ known, other []shot }

// photograph takes a typical visitor's photo of each of the first works, framed on a wall, again and again until there
// are enough, and half as many of other things.
func photograph(ctx context.Context, o Options, w works) (shots, error) {
	var s shots
	for i := range o.Photos {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		m, err := photo(w, i%w.shown, i)
		if err != nil {
			return s, fmt.Errorf("photograph work %d: %w", i%w.shown, err)
		}
		s.known = append(s.known, shot{photo: m, exhibit: fmt.Sprint(i % w.shown)})
		o.Progress("taking photos", i+1, o.Photos)
	}
	for i := range (o.Photos + 1) / 2 {
		m, err := synthetic.Distractor(rand.New(rand.NewPCG(seed, uint64(1<<32+i))))
		if err != nil {
			return s, fmt.Errorf("photograph something else: %w", err)
		}
		p, err := vision.NewPhoto(m, time.Time{})
		if err != nil {
			return s, fmt.Errorf("photograph something else: %w", err)
		}
		s.other = append(s.other, shot{photo: p})
	}
	return s, nil
}

func photo(w works, work, number int) (vision.Photo, error) {
	picture, err := w.picture(work)
	if err != nil {
		return vision.Photo{}, err
	}
	defer picture.Close()
	p := synthetic.Random(rand.New(rand.NewPCG(seed, uint64(2<<32+number))), synthetic.Typical)
	m, _, err := synthetic.Render(picture, p)
	if err != nil {
		return vision.Photo{}, err
	}
	return vision.NewPhoto(m, time.Time{})
}

func (s shots) close() error {
	var err error
	for _, list := range [][]shot{s.known, s.other} {
		for i := range list {
			err = errors.Join(err, list[i].photo.Close())
		}
	}
	return err
}
