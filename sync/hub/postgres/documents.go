package postgres

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
)

// Kinds of documents.
const (
	Metadata  = "metadata"  // signed metadata of releases
	Emergency = "emergency" // the newest emergency message
	keys      = "key"       // public keys
)

// changeLock is the advisory lock of the hub that changes documents.
const changeLock = 0x646f63656e740003

// Document returns a document, or fs.ErrNotExist.
func Document(ctx context.Context, db *sql.DB, kind, name string) (data []byte, err error) {
	err = db.QueryRowContext(ctx, `SELECT data FROM documents WHERE kind = ? AND name = ?`, kind, name).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("document %s: %w", name, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("read document %s: %w", name, err)
	}
	return data, nil
}

// Change gives f all documents of a kind, and stores what it has changed or added in them, in one transaction. No other
// hub changes any meanwhile.
func Change(ctx context.Context, db *sql.DB, kind string, f func(all map[string][]byte) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("change documents: %w", err)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(?)`, int64(changeLock)); err != nil {
		return fmt.Errorf("change documents: %w", err)
	}
	before, err := documents(ctx, tx, kind)
	if err != nil {
		return err
	}
	all := make(map[string][]byte, len(before))
	for name, data := range before {
		all[name] = data
	}
	if err := f(all); err != nil {
		return err
	}
	for name, data := range all {
		if old, ok := before[name]; ok && bytes.Equal(old, data) {
			continue
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO documents (kind, name, data) VALUES (?,?,?) ON CONFLICT (kind, name) DO UPDATE SET data = excluded.data`, kind, name, data)
		if err != nil {
			return fmt.Errorf("store document %s: %w", name, err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("change documents: %w", err)
	}
	return nil
}

func documents(ctx context.Context, tx *sql.Tx, kind string) (map[string][]byte, error) {
	rows, err := tx.QueryContext(ctx, `SELECT name, data FROM documents WHERE kind = ?`, kind)
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	defer rows.Close()
	all := map[string][]byte{}
	for rows.Next() {
		var name string
		var data []byte
		if err := rows.Scan(&name, &data); err != nil {
			return nil, fmt.Errorf("read documents: %w", err)
		}
		all[name] = data
	}
	return all, rows.Err()
}

// Agree refuses a process whose key is not that of the hubs it shares the database with; the first one's counts. file is
// what has to be copied from another.
func Agree(ctx context.Context, db *sql.DB, file string, public []byte) error {
	return Change(ctx, db, keys, func(all map[string][]byte) error {
		if known, ok := all[file]; ok && !bytes.Equal(known, public) {
			return fmt.Errorf("%s is not the one of the hubs that use this database; copy it from one of them", file)
		}
		all[file] = public
		return nil
	})
}
