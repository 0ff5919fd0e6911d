// Package badgerdb opens Badger databases as a machine needs it that is switched off at any moment. It imports nothing
// of the house.
package badgerdb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/dgraph-io/badger/v4"
)

// Open opens a database, which it makes where there is none. A panic over damaged files counts as an error of it.
func Open(o badger.Options) (db *badger.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			db, err = nil, fmt.Errorf("open store: %v", r)
		}
	}()
	if err := dropEmpty(o.Dir); err != nil {
		return nil, err
	}
	if db, err = badger.Open(o); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return db, nil
}

// OpenOrRenew is Open for a database whose loss is bearable: one that cannot be read is removed and begun anew, and
// damaged is told why. What the disk refuses, or another process holds, is an error and no damage.
func OpenOrRenew(o badger.Options, damaged func(error)) (*badger.DB, error) {
	db, err := Open(o)
	var errno syscall.Errno
	if err == nil || errors.As(err, &errno) || strings.Contains(err.Error(), "Another process is using") {
		return db, err
	}
	damaged(err)
	if err := os.RemoveAll(o.Dir); err != nil {
		return nil, err
	}
	return Open(o)
}

// dropEmpty removes log files without a byte. The database makes such a file before it gives it its size, and empties
// one before it removes it; killed in between, it would refuse to open (v4.9.6: "Create a new file").
func dropEmpty(dir string) error {
	for _, pattern := range []string{"*.mem", "*.vlog"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		for _, file := range files {
			info, err := os.Stat(file)
			if err != nil {
				return err
			}
			if info.Size() > 0 {
				continue
			}
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	return nil
}

// Complaints passes on what a database has to complain about, headed by what the database is, and drops its running
// commentary.
func Complaints(to *slog.Logger, what string) badger.Logger { return complaints{to, what} }

type complaints struct {
	to   *slog.Logger
	what string
}

func (c complaints) Errorf(format string, args ...any)   { c.say(slog.LevelError, format, args) }
func (c complaints) Warningf(format string, args ...any) { c.say(slog.LevelWarn, format, args) }
func (complaints) Infof(string, ...any)                  {}
func (complaints) Debugf(string, ...any)                 {}

func (c complaints) say(level slog.Level, format string, args []any) {
	c.to.Log(context.Background(), level, c.what+": "+strings.TrimSpace(fmt.Sprintf(format, args...)))
}
