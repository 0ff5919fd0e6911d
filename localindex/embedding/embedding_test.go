package embedding

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/localindex/internal/httpjson"
	"docent/localindex/internal/scripted"
)

func embed(text string) []float32 { return []float32{float32(len(text)), 1, 0.5} }

func client(t *testing.T, s *scripted.Server, o Options) *Client {
	t.Helper()
	o.BaseURL, o.Model = s.URL+"/v1", "test-model"
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEmbed(t *testing.T) {
	s := scripted.New(t, scripted.Embeddings(embed))
	got, err := client(t, s, Options{APIKey: "secret", Dimension: 3}).Embed(t.Context(), []string{"a", "bb"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float32{{1, 1, 0.5}, {2, 1, 0.5}}, got); diff != "" {
		t.Errorf("vectors differ (-want +got):\n%s", diff)
	}
	if r := s.Requests(); len(r) != 1 || r[0] != `/v1/embeddings {"model":"test-model","input":["a","bb"],"encoding_format":"float"}` {
		t.Errorf("requests are %v", r)
	}
	if k := s.Keys(); k[0] != "Bearer secret" {
		t.Errorf("key is %q", k[0])
	}
}

func TestEmbedRefusesWhatIsNone(t *testing.T) {
	var status *httpjson.StatusError
	for _, tt := range []struct {
		name  string
		reply scripted.Reply
		want  error
	}{
		{"wrong dimension", scripted.Embeddings(func(string) []float32 { return []float32{1, 2} }), ErrDimension},
		{"no vector", scripted.Embeddings(func(string) []float32 { return nil }), httpjson.ErrMalformed},
		{"a vector too few", scripted.Raw(`{"data":[{"index":0,"embedding":[1,2,3]}]}`), httpjson.ErrMalformed},
		{"a vector twice", scripted.Raw(`{"data":[{"index":0,"embedding":[1,2,3]},{"index":0,"embedding":[1,2,3]}]}`), httpjson.ErrMalformed},
		{"an index out of range", scripted.Raw(`{"data":[{"index":7,"embedding":[1,2,3]}]}`), httpjson.ErrMalformed},
		{"numbers too large", scripted.Raw(`{"data":[{"index":0,"embedding":[1e99,2,3]},{"index":1,"embedding":[1,2,3]}]}`), httpjson.ErrMalformed},
		{"a web page", scripted.Raw(`<html>`), httpjson.ErrMalformed},
		{"half a body", scripted.Half(`{"data":[{"index":0,"embedd`), httpjson.ErrCut},
		{"silence", scripted.Silence(), context.DeadlineExceeded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			timeout := time.Minute // an answer may be late on a busy machine
			if errors.Is(tt.want, context.DeadlineExceeded) {
				timeout = 100 * time.Millisecond
			}
			c := client(t, scripted.New(t, tt.reply), Options{Dimension: 3, Timeout: timeout})
			if _, err := c.Embed(t.Context(), []string{"a", "b"}); !errors.Is(err, tt.want) {
				t.Errorf("error is %v, want %v", err, tt.want)
			}
		})
	}
	c := client(t, scripted.New(t, scripted.Status(http.StatusTooManyRequests, "slow down", 7*time.Second)), Options{})
	if _, err := c.Embed(t.Context(), []string{"a"}); !errors.As(err, &status) || status.RetryAfter != 7*time.Second || status.Message != "slow down" {
		t.Errorf("error is %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, o := range []Options{{BaseURL: "http://x"}, {BaseURL: "x", Model: "m"}, {BaseURL: "ftp://x", Model: "m"}, {BaseURL: "http://x", Model: "m", Dimension: -1}} {
		if _, err := New(o); err == nil {
			t.Errorf("made a client of %+v", o)
		}
	}
}

// TestAllGoesOn has a server fail in the middle of a build, and then work: the second run asks only for what is missing.
func TestAllGoesOn(t *testing.T) {
	var texts []string
	for i := range 10 {
		texts = append(texts, strings.Repeat("x", i+1))
	}
	dir := t.TempDir()
	var waited []time.Duration
	o := AllOptions{Batch: 3, Wait: func(_ context.Context, d time.Duration) error {
		waited = append(waited, d)
		return nil
	}}
	failing := scripted.New(t,
		scripted.Embeddings(embed),
		scripted.Status(http.StatusTooManyRequests, "slow down", 5*time.Second), // tried again, as it asks for
		scripted.Embeddings(embed),
		scripted.Status(http.StatusInternalServerError, "out of memory", 0), // for ever
	)
	cache, err := OpenCache(dir, "test-model")
	if err != nil {
		t.Fatal(err)
	}
	o.Cache = cache
	_, err = All(t.Context(), client(t, failing, Options{}), texts, o)
	var partial *PartialError
	if !errors.As(err, &partial) || partial.Done != 6 || partial.All != 10 {
		t.Fatalf("error is %v, want 6 of 10 done", err)
	}
	if diff := cmp.Diff([]time.Duration{5 * time.Second, time.Second, 2 * time.Second, 4 * time.Second}, waited); diff != "" {
		t.Errorf("waits differ (-want +got):\n%s", diff)
	}
	if err := cache.Close(); err != nil {
		t.Fatal(err)
	}

	if o.Cache, err = OpenCache(dir, "test-model"); err != nil {
		t.Fatal(err)
	}
	working := scripted.New(t, scripted.Embeddings(embed))
	vectors, err := All(t.Context(), client(t, working, Options{}), texts, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range vectors {
		if !cmp.Equal(v, embed(texts[i])) {
			t.Errorf("vector %d is %v", i, v)
		}
	}
	if n := len(working.Requests()); n != 2 { // 4 texts in batches of 3
		t.Errorf("%d requests in the second run, want 2", n)
	}
	if err := o.Cache.Close(); err != nil {
		t.Fatal(err)
	}
	// Another model's vectors are others.
	other, err := OpenCache(dir, "other-model")
	if err != nil || other.Len() != 0 {
		t.Errorf("the cache of another model has %d vectors, %v", other.Len(), err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}

func TestAllDoesNotTryAgainInVain(t *testing.T) {
	s := scripted.New(t, scripted.Status(http.StatusUnauthorized, "no key", 0))
	_, err := All(t.Context(), client(t, s, Options{}), []string{"a"}, AllOptions{})
	if n := len(s.Requests()); err == nil || n != 1 {
		t.Errorf("%d requests, %v; want one", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s = scripted.New(t, scripted.Status(http.StatusServiceUnavailable, "", 0))
	_, err = All(ctx, client(t, s, Options{}), []string{"a"}, AllOptions{Wait: func(ctx context.Context, _ time.Duration) error {
		cancel()
		return ctx.Err()
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want it cancelled", err)
	}
}

func TestCacheSurvivesACrash(t *testing.T) {
	dir := t.TempDir()
	c, err := OpenCache(dir, "m")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Put([]string{"a", "b"}, [][]float32{{1, 2}, {3, 4}}); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.bin"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files are %v, %v", files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		data []byte
		want int
	}{
		{"whole", whole, 2},
		{"cut in the last record", whole[:len(whole)-3], 1},
		{"a bit flipped in the last record", flip(whole, len(whole)-10), 1},
		{"a bit flipped in the first record", flip(whole, 40), 0},
		{"something behind", append(bytes.Clone(whole), "junk"...), 2},
		{"nothing", nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(files[0], tt.data, 0o644); err != nil {
				t.Fatal(err)
			}
			for range 2 { // what is written next is found again
				c, err := OpenCache(dir, "m")
				if err != nil {
					t.Fatal(err)
				}
				if c.Len() != tt.want {
					t.Errorf("%d vectors, want %d", c.Len(), tt.want)
				}
				if err := c.Put([]string{"more"}, [][]float32{{5}}); err != nil {
					t.Error(err)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				if c, err = OpenCache(dir, "m"); err != nil {
					t.Fatal(err)
				}
				if v, ok := c.Get("more"); !ok || v[0] != 5 {
					t.Errorf("what was written last is %v, %v", v, ok)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				if err := os.WriteFile(files[0], tt.data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func flip(data []byte, at int) []byte {
	changed := bytes.Clone(data)
	changed[at] ^= 1
	return changed
}

func FuzzDecodeRecords(f *testing.F) {
	f.Add([]byte(""))
	f.Add(bytes.Repeat([]byte{0xFF}, 80))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, whole := decodeRecords(data); whole > len(data) {
			t.Errorf("%d bytes of %d are whole", whole, len(data))
		}
	})
}

func ExamplePartialError() {
	fmt.Println(&PartialError{Done: 412, All: 1000, Err: errors.New("server answered with status 429: slow down")})
	// Output: embedded 412 of 1000 texts: server answered with status 429: slow down
}
