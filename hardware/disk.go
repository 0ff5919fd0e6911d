package hardware

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Space is how large a disk is, in bytes.
type Space struct {
	Free  uint64 // for programs that are not root
	Total uint64
}

// Disk returns the space of the disk that a path is on, or would be on once it is made.
func Disk(path string) (Space, error) {
	at, err := existing(path)
	if err != nil {
		return Space{}, err
	}
	var st syscall.Statfs_t
	if err := syscall.Statfs(at, &st); err != nil {
		return Space{}, fmt.Errorf("look at the disk of %s: %w", at, err)
	}
	return Space{Free: st.Bavail * uint64(st.Bsize), Total: st.Blocks * uint64(st.Bsize)}, nil
}

// Writable says whether this program may make files at a path, or the folder that is to be there.
func Writable(path string) error {
	at, err := existing(path)
	if err != nil {
		return err
	}
	const writeAndSearch = 2 | 1 // W_OK, X_OK
	if err := syscall.Access(at, writeAndSearch); err != nil {
		return fmt.Errorf("write to %s: %w", at, err)
	}
	return nil
}

// existing is the nearest folder above a path that exists, or the path itself.
func existing(path string) (string, error) {
	at, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("look at %s: %w", path, err)
	}
	for {
		info, err := os.Stat(at)
		switch {
		case err == nil && info.IsDir():
			return at, nil
		case err == nil:
			return "", fmt.Errorf("look at %s: %s is a file", path, at)
		case !errors.Is(err, os.ErrNotExist):
			return "", fmt.Errorf("look at %s: %w", path, err)
		}
		at = filepath.Dir(at)
	}
}
