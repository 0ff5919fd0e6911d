// Package sqlite opens the hub's database files.
package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"net/url"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"
	"github.com/pressly/goose/v3"
)

// Open names a database file to database/sql, with options of the driver such as "_busy_timeout=10000&_secure_delete=on".
// The file is opened, and made where there is none, by the first statement.
func Open(path, options string) (*sql.DB, error) {
	return sql.Open("sqlite3", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: options}).String())
}

// Migrate brings a database's schema up to date by the files of a folder "migrations".
func Migrate(ctx context.Context, db *sql.DB, files fs.FS) error {
	dir, err := fs.Sub(files, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, dir, goose.WithVerbose(false))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}
