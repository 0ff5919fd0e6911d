package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"gocv.io/x/gocv"
	"golang.org/x/sync/errgroup"

	"docent/localindex/gallery"
	"docent/localindex/release"
	"docent/vision/synthetic"
)

// visitorSeed makes the demo's photos the same on every machine.
const visitorSeed = 1704 // the year of Truchet's tiles

// renderVisitors writes one visitor's photo of each exhibit of a release into dir, named by exhibit, so that the demo
// needs no camera.
func renderVisitors(ctx context.Context, releaseDir, dir string) error {
	data, err := os.ReadFile(filepath.Join(releaseDir, release.CatalogueFile))
	if err != nil {
		return fmt.Errorf("read catalogue: %w", err)
	}
	var g gallery.Gallery
	if err := json.Unmarshal(data, &g); err != nil {
		return fmt.Errorf("read catalogue: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make folder of photos: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2)
	for i, e := range g.Exhibits {
		if len(e.Pictures) == 0 {
			continue
		}
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			rng := rand.New(rand.NewPCG(visitorSeed, uint64(i)))
			source := filepath.Join(releaseDir, filepath.FromSlash(e.Pictures[0].File))
			target := filepath.Join(dir, e.ID+".jpg")
			if err := renderVisitor(source, target, synthetic.Random(rng, synthetic.Easy)); err != nil {
				return fmt.Errorf("photograph %s: %w", e.ID, err)
			}
			return nil
		})
	}
	return group.Wait()
}

func renderVisitor(source, target string, p synthetic.Params) error {
	picture := gocv.IMRead(source, gocv.IMReadColor)
	defer picture.Close()
	if picture.Empty() {
		return fmt.Errorf("read picture %s", source)
	}
	photo, _, err := synthetic.Render(picture, p)
	if err != nil {
		return err
	}
	defer photo.Close()
	if !gocv.IMWriteWithParams(target, photo, []int{gocv.IMWriteJpegQuality, 92}) {
		return fmt.Errorf("write %s", target)
	}
	return nil
}
