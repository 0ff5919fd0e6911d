package content

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"docent/internal/durable"
	"docent/sync/hub/postgres"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// database is content that several hubs share. What is published is signed in a copy of the metadata, in a folder, and
// stored from there.
type database struct {
	db  *sql.DB
	dir string

	mu    sync.Mutex // over the folder, and what follows
	hub   *trust.Hub
	stamp []byte // timestamp that all is of
	all   []trust.Target
}

// patience is how long the database may take to answer.
const patience = 30 * time.Second

func openDatabase(ctx context.Context, db *sql.DB, dir string) (*database, error) {
	hub, err := trust.OpenHub(dir)
	if err != nil {
		return nil, err
	}
	if err := postgres.Agree(ctx, db, "content/hub.key", hub.Public()); err != nil {
		return nil, err
	}
	return &database{db: db, dir: dir, hub: hub}, nil
}

func (d *database) public() ed25519.PublicKey { return d.hub.Public() }

func (d *database) read(name string, offset int64, n int) (data []byte, size int64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	// Of what is longer than 1 GiB there is nothing: an offset in the database has 31 bits.
	place := min(offset, 1<<30) + 1
	query := `SELECT octet_length(data), substring(data FROM CAST(? AS INTEGER) FOR CAST(? AS INTEGER)) FROM documents WHERE kind = 'metadata' AND name = ?`
	if wire.ValidObject(name) {
		query = `SELECT octet_length(data), substring(data FROM CAST(? AS INTEGER) FOR CAST(? AS INTEGER)) FROM objects WHERE sum = ?`
	}
	err = d.db.QueryRowContext(ctx, query, place, n, name).Scan(&size, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, 0, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return data, size, err
}

func (d *database) put(sum string, data []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := d.db.ExecContext(ctx, `INSERT INTO objects (sum, data) VALUES (?,?) ON CONFLICT DO NOTHING`, sum, data)
	return err
}

func (d *database) object(sum string) ([]byte, error) {
	data, size, err := d.read(sum, 0, wire.MaxObject)
	if err == nil && size > int64(len(data)) {
		err = fmt.Errorf("object of %d bytes: %w", size, wire.ErrTooLarge)
	}
	return data, err
}

func (d *database) sizes(sums []string) (map[string]int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	rows, err := d.db.QueryContext(ctx, `SELECT sum, octet_length(data) FROM objects WHERE sum = ANY(?)`, slices.Clone(sums))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := make(map[string]int64, len(sums))
	for rows.Next() {
		var sum string
		var size int64
		if err := rows.Scan(&sum, &size); err != nil {
			return nil, err
		}
		out[sum] = size
	}
	return out, rows.Err()
}

func (d *database) settle() error { return nil } // each object was committed

func (d *database) sign(change func(*trust.Hub) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return postgres.Change(ctx, d.db, postgres.Metadata, func(all map[string][]byte) error {
		if err := d.copyOut(all); err != nil {
			return fmt.Errorf("copy metadata: %w", err)
		}
		if err := change(d.hub); err != nil {
			return err
		}
		if err := d.copyIn(all); err != nil {
			return fmt.Errorf("copy metadata: %w", err)
		}
		return nil
	})
}

// copyOut makes the folder what the database has.
func (d *database) copyOut(all map[string][]byte) error {
	files, err := os.ReadDir(d.hub.Path(""))
	if err != nil {
		return err
	}
	for _, f := range files {
		if _, ok := all[f.Name()]; !ok {
			if err := os.Remove(d.hub.Path(f.Name())); err != nil {
				return err
			}
		}
	}
	for name, data := range all {
		if filepath.Base(name) != name {
			return fmt.Errorf("metadata with the name %q", name)
		}
		if have, err := os.ReadFile(d.hub.Path(name)); err == nil && bytes.Equal(have, data) {
			continue
		}
		if err := durable.WriteFile(d.hub.Path(name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (d *database) copyIn(all map[string][]byte) error {
	files, err := os.ReadDir(d.hub.Path(""))
	if err != nil {
		return err
	}
	for _, f := range files {
		if all[f.Name()], err = os.ReadFile(d.hub.Path(f.Name())); err != nil {
			return err
		}
	}
	return nil
}

// releases are read anew when the timestamp, which each publishing ends with, is another.
func (d *database) releases() ([]trust.Target, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	stamp, err := postgres.Document(ctx, d.db, postgres.Metadata, "timestamp.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, trust.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	same, all := bytes.Equal(stamp, d.stamp), d.all
	d.mu.Unlock()
	if same {
		return slices.Clone(all), nil
	}
	err = d.sign(func(hub *trust.Hub) error {
		if all, err = hub.Targets(); err != nil {
			return err
		}
		d.stamp, err = os.ReadFile(hub.Path("timestamp.json"))
		d.all = all
		return err
	})
	return slices.Clone(all), err
}
