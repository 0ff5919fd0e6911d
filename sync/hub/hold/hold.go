// Package hold keeps a hub's folder for one process at a time, where its database is in it.
package hold

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ErrInUse is the error of Folder where another process holds the folder.
var ErrInUse = errors.New("a hub is using it; stop it first")

// file is locked, and stays when it no longer is: a file that is removed could be locked by two.
const file = "hub.lock"

// Lock is a folder that is held.
type Lock struct{ file *os.File }

// Folder takes a folder, which it makes where there is none, until Close, or until the process ends, however it does.
func Folder(dir string) (*Lock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("hold the hub's folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("hold the hub's folder: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrInUse
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, err), f.Close())
	}
	return &Lock{f}, nil
}

// Close lets go of the folder.
func (l *Lock) Close() error { return l.file.Close() }
