package move

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"docent/internal/durable"
	"docent/sync/hub/postgres"
	"docent/sync/wire"
)

// emergencyName is the document's name; in a folder it is the file emergency.json.
const emergencyName = "newest"

// filesIn copies objects, metadata and the emergency message from a folder, and compares them.
func filesIn(ctx context.Context, tx *sql.Tx, dir string, r *Report) error {
	objects, err := list(filepath.Join(dir, "content", "objects"))
	if err != nil {
		return err
	}
	for _, name := range objects {
		if !wire.ValidObject(name) {
			continue // of a transfer that was cut off
		}
		data, err := os.ReadFile(filepath.Join(dir, "content", "objects", name))
		if err != nil {
			return err
		}
		if digest(data) != name {
			return fmt.Errorf("object %s is damaged; publish the release again, or remove the file", name)
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO objects (sum, data) VALUES (?,?)`, name, data); err != nil {
			return fmt.Errorf("store object %s: %w", name, err)
		}
		r.Objects, r.Bytes = r.Objects+1, r.Bytes+int64(len(data))
	}
	documents := map[[2]string][]byte{}
	metadata, err := list(filepath.Join(dir, "content", "metadata"))
	if err != nil {
		return err
	}
	for _, name := range metadata {
		if !wire.ValidMetadata(name) {
			continue
		}
		if documents[[2]string{postgres.Metadata, name}], err = os.ReadFile(filepath.Join(dir, "content", "metadata", name)); err != nil {
			return err
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "emergency.json"))
	if err == nil {
		documents[[2]string{postgres.Emergency, emergencyName}] = data
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for key, data := range documents {
		if _, err := tx.ExecContext(ctx, `INSERT INTO documents (kind, name, data) VALUES (?,?,?)`, key[0], key[1], data); err != nil {
			return fmt.Errorf("store %s: %w", key[1], err)
		}
	}
	r.Documents = len(documents)
	return compare(ctx, tx, r, documents)
}

// compare reads what the database has of files.
func compare(ctx context.Context, tx *sql.Tx, r *Report, documents map[[2]string][]byte) error {
	n, bytes := 0, int64(0)
	err := eachObject(ctx, tx, func(sum string, data []byte) error {
		n, bytes = n+1, bytes+int64(len(data))
		if digest(data) != sum {
			return fmt.Errorf("object %s: %w", sum, ErrDiffers)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if n != r.Objects || bytes != r.Bytes {
		return fmt.Errorf("%d objects of %d: %w", n, r.Objects, ErrDiffers)
	}
	found := 0
	err = eachDocument(ctx, tx, func(kind, name string, data []byte) error {
		found++
		if want, ok := documents[[2]string{kind, name}]; !ok || digest(want) != digest(data) {
			return fmt.Errorf("%s: %w", name, ErrDiffers)
		}
		return nil
	})
	if err == nil && found != len(documents) {
		err = fmt.Errorf("%d documents of %d: %w", found, len(documents), ErrDiffers)
	}
	return err
}

// filesOut writes objects, metadata and the emergency message into a folder.
func filesOut(ctx context.Context, tx *sql.Tx, dir string, r *Report) error {
	for _, name := range []string{"objects", "metadata"} {
		if err := os.MkdirAll(filepath.Join(dir, "content", name), 0o700); err != nil {
			return err
		}
	}
	err := eachObject(ctx, tx, func(sum string, data []byte) error {
		if !wire.ValidObject(sum) || digest(data) != sum {
			return fmt.Errorf("object %q is damaged; publish the release again, or remove the row", sum)
		}
		r.Objects, r.Bytes = r.Objects+1, r.Bytes+int64(len(data))
		return writeAndRead(filepath.Join(dir, "content", "objects", sum), data, 0o600)
	})
	if err != nil {
		return err
	}
	return eachDocument(ctx, tx, func(kind, name string, data []byte) error {
		path := filepath.Join(dir, "emergency.json")
		switch {
		case kind == postgres.Metadata && wire.ValidMetadata(name):
			path = filepath.Join(dir, "content", "metadata", name)
		case kind != postgres.Emergency || name != emergencyName:
			return fmt.Errorf("document %q is not known", name)
		}
		r.Documents++
		return writeAndRead(path, data, 0o600)
	})
}

func writeAndRead(path string, data []byte, mode fs.FileMode) error {
	if err := durable.WriteFile(path, data, mode); err != nil {
		return err
	}
	got, err := os.ReadFile(path)
	if err == nil && digest(got) != digest(data) {
		err = fmt.Errorf("%s: %w", path, ErrDiffers)
	}
	return err
}

func eachObject(ctx context.Context, tx *sql.Tx, f func(sum string, data []byte) error) error {
	rows, err := tx.QueryContext(ctx, `SELECT sum, data FROM objects`)
	if err != nil {
		return fmt.Errorf("read objects: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var sum string
		var data []byte
		if err := rows.Scan(&sum, &data); err != nil {
			return fmt.Errorf("read objects: %w", err)
		}
		if err := f(sum, data); err != nil {
			return err
		}
	}
	return rows.Err()
}

func eachDocument(ctx context.Context, tx *sql.Tx, f func(kind, name string, data []byte) error) error {
	rows, err := tx.QueryContext(ctx, `SELECT kind, name, data FROM documents WHERE kind IN ('metadata', 'emergency')`)
	if err != nil {
		return fmt.Errorf("read documents: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var kind, name string
		var data []byte
		if err := rows.Scan(&kind, &name, &data); err != nil {
			return fmt.Errorf("read documents: %w", err)
		}
		if err := f(kind, name, data); err != nil {
			return err
		}
	}
	return rows.Err()
}

// list are the names of a folder's files, none where there is no such folder.
func list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
