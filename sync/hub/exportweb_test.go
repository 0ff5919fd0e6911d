package hub

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"docent/sync/update/export"
	"docent/sync/update/mirror"
	"docent/sync/wire"
)

// TestPageIsAMirror: what a hub publishes can be read from its page by the client for mirrors, and verified.
func TestPageIsAMirror(t *testing.T) {
	h := startHub(t, Config{Dir: t.TempDir()})
	r := sign(t, author(t, h), packNoise(t, 2, 2, 200_000))
	r.upload(t, h, 0)
	if code, body := r.publish(t, h); code != http.StatusOK {
		t.Fatalf("publish: %d %s", code, body)
	}
	page, err := mirror.New(mirror.Options{URL: "http://" + h.HTTPAddr() + "/api/v1/content/files"})
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	set, err := export.Find(t.Context(), page, export.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := set.WriteTo(t.Context(), page, &b, time.Now()); err != nil {
		t.Fatal(err)
	}
	if int64(b.Len()) < set.Bytes || set.Releases[0].ReleaseID != r.index.ReleaseID {
		t.Errorf("%d bytes of %d, release %+v", b.Len(), set.Bytes, set.Releases)
	}
	if _, err := page.Fetch(t.Context(), wire.Fetch{Name: wire.DesiredName, Length: 1}); err != nil {
		t.Errorf("no wish, said without an error: %v", err)
	}
	whole := set.Objects[0]
	for _, tt := range []struct {
		name, path, ranges string
		want               int
	}{
		{"whole", "objects/" + whole.SHA256, "", http.StatusOK},
		{"a form of range that is not read", "objects/" + whole.SHA256, "bytes=-5", http.StatusOK},
		{"past the end", "objects/" + whole.SHA256, "bytes=33554432-33554440", http.StatusRequestedRangeNotSatisfiable},
		{"metadata as an object", "objects/timestamp.json", "", http.StatusNotFound},
		{"object as metadata", "metadata/" + whole.SHA256, "", http.StatusNotFound},
		{"the hub's key", "metadata/..%2Fhub.key", "", http.StatusNotFound},
		{"another folder", "keys/timestamp.json", "", http.StatusNotFound},
		{"nothing", "objects/" + strings.Repeat("0", 64), "", http.StatusNotFound},
	} {
		var headers []string
		if tt.ranges != "" {
			headers = []string{"Range", tt.ranges}
		}
		code, _, body := get(t, h, "/api/v1/content/files/"+tt.path, headers...)
		if code != tt.want || code == http.StatusOK && int64(len(body)) != whole.Size {
			t.Errorf("%s: %d, %d bytes", tt.name, code, len(body))
		}
	}
}

func FuzzOneRange(f *testing.F) {
	for _, s := range []string{"bytes=0-99", "bytes=-5", "bytes=5-", "bytes=0-1,3-4", "bytes=9-1", "lines=0-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if first, n, ok := oneRange(s); ok && (first < 0 || n < 1 || n > wire.MaxObject) {
			t.Errorf("%q: %d bytes at %d", s, n, first)
		}
	})
}
