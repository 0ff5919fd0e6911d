package content

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"docent/localindex/gallery"
	"docent/localindex/release"
	"docent/sync/hub/postgres"
	"docent/sync/hub/postgres/pgtest"
	"docent/sync/update/bundle"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// clock of a test.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// both runs a test with two handles of the same content; in files they are one.
func both(t *testing.T, run func(t *testing.T, c *clock, one, two *Store)) {
	t.Helper()
	t.Run("files", func(t *testing.T) {
		c := &clock{time.Now()}
		s, err := Open(t.TempDir(), c.now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		run(t, c, s, s)
	})
	t.Run("postgres", func(t *testing.T) {
		c := &clock{time.Now()}
		url, first, second := pgtest.Database(t), t.TempDir(), t.TempDir()
		one := openShared(t, url, first, c)
		copyKey(t, first, second)
		run(t, c, one, openShared(t, url, second, c))
	})
}

func openDatabaseOf(t testing.TB, url string) *sql.DB {
	t.Helper()
	db, err := postgres.Open(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func openShared(t testing.TB, url, dir string, c *clock) *Store {
	t.Helper()
	s, err := OpenShared(t.Context(), openDatabaseOf(t, url), dir, c.now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func copyKey(t testing.TB, from, to string) {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(from, "hub.key"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, "hub.key"), key, 0o600); err != nil {
		t.Fatal(err)
	}
}

// author signs small releases.
type author struct {
	*trust.Author
	t *testing.T
}

func newAuthor(t *testing.T, s *Store, c *clock) author {
	t.Helper()
	a, err := trust.OpenAuthor(t.TempDir(), s.place.public(), c.now)
	if err != nil {
		t.Fatal(err)
	}
	return author{a, t}
}

// release makes and signs a release, and returns what is published and the objects by name.
func (a author) release(number int) (files, objects map[string][]byte) {
	a.t.Helper()
	from, dst, out := a.t.TempDir(), filepath.Join(a.t.TempDir(), "r"), a.t.TempDir()
	if err := os.WriteFile(filepath.Join(from, "a.png"), bytes.Repeat([]byte(fmt.Sprint("picture ", number)), 40_000), 0o644); err != nil {
		a.t.Fatal(err)
	}
	g := &gallery.Gallery{ID: "test", Name: gallery.Localized{"en": "Test"}, Languages: []string{"en"}, Exhibits: []gallery.Exhibit{{ID: "e", Pictures: []gallery.Picture{{File: "a.png"}}}}}
	if _, err := release.Pack(a.t.Context(), dst, release.Content{Gallery: g, PicturesFrom: from, Number: number, Created: time.Now()}); err != nil {
		a.t.Fatal(err)
	}
	x, data, err := bundle.Write(a.t.Context(), dst, out)
	if err != nil {
		a.t.Fatal(err)
	}
	if files, err = a.Sign(data, x.ReleaseID, x.Number); err != nil {
		a.t.Fatal(err)
	}
	objects = map[string][]byte{}
	entries, err := os.ReadDir(filepath.Join(out, "objects"))
	if err != nil {
		a.t.Fatal(err)
	}
	for _, e := range entries {
		if objects[e.Name()], err = os.ReadFile(filepath.Join(out, "objects", e.Name())); err != nil {
			a.t.Fatal(err)
		}
	}
	return files, objects
}

func TestPublish(t *testing.T) {
	both(t, func(t *testing.T, c *clock, one, two *Store) {
		a := newAuthor(t, one, c)
		if all, err := two.Releases(); len(all) != 0 || err != nil {
			t.Fatalf("before anything is published: %v, %v", all, err)
		}
		files, objects := a.release(1)
		if _, err := one.Publish(files); !errors.Is(err, ErrIncomplete) {
			t.Errorf("without objects: %v", err)
		}
		for sum, data := range objects {
			if err := one.Put(sum, append([]byte("x"), data...)); !errors.Is(err, ErrObject) {
				t.Errorf("other bytes: %v", err)
			}
			for range 2 {
				if err := one.Put(sum, data); err != nil {
					t.Fatal(err)
				}
			}
			if !two.Has(sum) {
				t.Errorf("the other hub lacks %s", sum)
			}
		}
		if _, err := two.Check(files); err != nil {
			t.Fatal(err)
		}
		if all, err := one.Releases(); len(all) != 0 || err != nil {
			t.Fatalf("a check has published: %v, %v", all, err)
		}
		if _, err := two.Publish(files); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*Store{one, two} {
			if d, ok := s.Desired(); !ok || d.Number != 1 {
				t.Errorf("desired %+v", d)
			}
		}
		if _, err := one.Publish(files); trust.Code(err) == "" {
			t.Errorf("published again: %v", err)
		}
		files, objects = a.release(2)
		for sum, data := range objects {
			if err := two.Put(sum, data); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := one.Publish(files); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*Store{one, two} {
			if all, err := s.Releases(); err != nil || len(all) != 2 || all[1].Number != 2 {
				t.Errorf("releases %+v, %v", all, err)
			}
		}
		checkBlocks(t, one, two, objects)
		checkKiosk(t, a, two, c)

		// A day later the signature is made anew, once, by whichever hub looks first.
		before := stamp(t, one)
		c.at = c.at.Add(24 * time.Hour)
		for _, s := range []*Store{two, one} {
			if err := s.place.sign(func(h *trust.Hub) error { return h.Renew(c.now()) }); err != nil {
				t.Fatal(err)
			}
		}
		if after := stamp(t, one); bytes.Equal(before, after) || !bytes.Equal(after, stamp(t, two)) {
			t.Error("the signature was not renewed for both")
		}
	})
}

func stamp(t *testing.T, s *Store) []byte {
	t.Helper()
	c := s.Read(wire.Fetch{ID: 1, Name: "timestamp.json", Length: wire.MaxBlock})
	if c.Error != "" {
		t.Fatal(c.Error)
	}
	return c.Data
}

// checkBlocks reads objects from every kind of place.
func checkBlocks(t *testing.T, one, two *Store, objects map[string][]byte) {
	t.Helper()
	for sum, data := range objects {
		n := int64(len(data))
		for _, offset := range []int64{0, 1, n / 2, n - 1, n, n + 1, 5 << 30} {
			for _, s := range []*Store{one, two} {
				c := s.Read(wire.Fetch{ID: 1, Name: sum, Offset: offset, Length: 1000})
				from := min(offset, n)
				if c.Error != "" || c.Size != n || c.Offset != from || !bytes.Equal(c.Data, data[from:min(n, from+1000)]) {
					t.Fatalf("block at %d of %d: %q, size %d, offset %d, %d bytes", offset, n, c.Error, c.Size, c.Offset, len(c.Data))
				}
			}
		}
	}
	for _, name := range []string{strings.Repeat("0", 64), "99.root.json"} {
		if c := two.Read(wire.Fetch{ID: 1, Name: name, Length: 1}); c.Error != wire.FetchNotFound {
			t.Errorf("%s: %q", name, c.Error)
		}
	}
}

// checkKiosk follows what is published as a kiosk does.
func checkKiosk(t *testing.T, a author, s *Store, c *clock) {
	t.Helper()
	root, err := a.Root()
	if err != nil {
		t.Fatal(err)
	}
	client, err := trust.NewClient(t.TempDir(), root)
	if err != nil {
		t.Fatal(err)
	}
	fetch := func(_ context.Context, name string, limit int64) ([]byte, error) {
		got := s.Read(wire.Fetch{ID: 1, Name: name, Length: int(min(limit, wire.MaxBlock))})
		if got.Error == wire.FetchNotFound {
			return nil, trust.ErrNotFound
		}
		return got.Data, nil
	}
	all, err := client.Refresh(t.Context(), fetch, c.now())
	if err != nil || len(all) != 2 {
		t.Errorf("a kiosk finds %v, %v", all, err)
	}
}

func TestAnotherKeyIsRefused(t *testing.T) {
	url := pgtest.Database(t)
	c := &clock{time.Now()}
	one := openShared(t, url, t.TempDir(), c)
	if err := one.PublicKey(io.Discard); err != nil {
		t.Fatal(err)
	}
	_, err := OpenShared(t.Context(), openDatabaseOf(t, url), t.TempDir(), c.now, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "copy it") {
		t.Errorf("a hub with a key of its own: %v", err)
	}
}
