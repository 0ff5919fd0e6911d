package ui

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
)

// ErrNotBuilt says that the binary was compiled before the pages were built.
var ErrNotBuilt = errors.New("the pages are not part of this build: run make pages, then build again")

// "all:" because an unbuilt dist holds only .gitkeep, which must be enough to compile.
//
//go:embed all:kiosk/dist
var pages embed.FS

// Kiosk returns the built files of the visitor's page, index.html at the root. Files below assets/ carry a hash of
// their content in their name and never change under that name; index.html must not be cached. The error is
// [ErrNotBuilt] where the binary was compiled before the page was built.
func Kiosk() (fs.FS, error) {
	return sub("kiosk/dist")
}

func sub(dir string) (fs.FS, error) {
	files, err := fs.Sub(pages, dir)
	if err != nil {
		return nil, fmt.Errorf("open pages %s: %w", dir, err)
	}
	switch _, err := fs.Stat(files, "index.html"); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNotBuilt
	case err != nil:
		return nil, fmt.Errorf("open pages %s: %w", dir, err)
	}
	return files, nil
}
