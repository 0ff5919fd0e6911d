package limit

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"docent/sync/wire"
)

func TestHours(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Skip("no time zones on this machine:", err)
	}
	at := func(s string) time.Time {
		v, err := time.ParseInLocation("2006-01-02 15:04", s, paris)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	tests := []struct {
		name, hours, now string
		open             bool
		next             string
	}{
		{"any time", "", "2026-05-04 12:00", true, ""},
		{"within the day", "09:00-17:30", "2026-05-04 09:00", true, ""},
		{"end is outside", "09:00-17:30", "2026-05-04 17:30", false, "2026-05-05 09:00"},
		{"before", "09:00-17:30", "2026-05-04 08:59", false, "2026-05-04 09:00"},
		{"over midnight, evening", "22:00-06:00", "2026-05-04 23:59", true, ""},
		{"over midnight, morning", "22:00-06:00", "2026-05-04 05:59", true, ""},
		{"over midnight, day", "22:00-06:00", "2026-05-04 06:00", false, "2026-05-04 22:00"},
		{"until midnight", "20:00-24:00", "2026-05-04 23:30", true, ""},
		{"from midnight", "00:00-06:00", "2026-05-04 20:00", false, "2026-05-05 00:00"},
		{"two spans", "01:00-02:00, 12:00-13:00", "2026-05-04 02:30", false, "2026-05-04 12:00"},
		{"last night of the month", "02:00-03:00", "2026-05-31 04:00", false, "2026-06-01 02:00"},
		{"the hour that the clocks skip", "02:15-02:45", "2026-03-28 12:00", false, "2026-03-29 03:15"},
		{"the hour that comes twice", "02:00-03:00", "2026-10-25 02:30", true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, err := ParseHours(tt.hours)
			if err != nil {
				t.Fatal(err)
			}
			now := at(tt.now)
			if got := h.Open(now); got != tt.open {
				t.Errorf("open %v", got)
			}
			want := now
			if tt.next != "" {
				want = at(tt.next)
			}
			if got := h.Next(now); !got.Equal(want) {
				t.Errorf("next %v, want %v", got, want)
			}
			again, err := ParseHours(h.String())
			if err != nil || again.String() != h.String() {
				t.Errorf("%q is read back as %q, %v", h, again, err)
			}
		})
	}
}

func TestHoursRefused(t *testing.T) {
	for _, s := range []string{"22:00", "22-6", "22:00-22:00", "25:00-26:00", "1:00-2:00", "00:00-24:00", "a-b", "01:00-02:00,", strings.Repeat("01:00-02:00,", 8) + "01:00-02:00"} {
		if _, err := ParseHours(s); err == nil {
			t.Errorf("%q was taken", s)
		}
	}
}

func FuzzParseHours(f *testing.F) {
	for _, s := range []string{"", "22:00-06:00", "01:00-02:00, 12:00-24:00"} {
		f.Add(s, int64(0))
	}
	f.Fuzz(func(t *testing.T, s string, sec int64) {
		h, err := ParseHours(s)
		if err != nil {
			return
		}
		now := time.Unix(sec%(1<<33), 0).UTC()
		if next := h.Next(now); next.Before(now) || !h.Open(next) {
			t.Errorf("%q: after %v comes %v", s, now, next)
		}
	})
}

const object = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// endless answers every request at once and notes when.
type endless struct {
	mu   sync.Mutex
	came []came
}

type came struct {
	at time.Time
	n  int
}

func (e *endless) Fetch(_ context.Context, req wire.Fetch) (wire.Chunk, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.came = append(e.came, came{time.Now(), req.Length})
	return wire.Chunk{Name: req.Name, Offset: req.Offset, Size: 1 << 40, Data: make([]byte, req.Length)}, nil
}

// most is the largest number of bytes that came within any span of time d.
func (e *endless) most(d time.Duration) (most int) {
	for i, first := range e.came {
		sum := 0
		for _, c := range e.came[i:] {
			if c.at.Sub(first.at) < d {
				sum += c.n
			}
		}
		most = max(most, sum)
	}
	return most
}

// TestRate fetches with several askers, as an update does, over one line that two sources share.
func TestRate(t *testing.T) {
	for _, kbits := range []int{32, 64, 1000, 100_000} {
		synctest.Test(t, func(t *testing.T) {
			e := &endless{}
			line := New(kbits, Hours{}, time.Now, time.UTC)
			bytes := kbits * 1000 / 8
			const span = 60 * time.Second
			ctx, cancel := context.WithTimeout(t.Context(), span)
			defer cancel()
			var askers sync.WaitGroup
			for range 4 {
				source := line.Over(e)
				askers.Go(func() {
					for ctx.Err() == nil {
						if _, err := source.Fetch(ctx, wire.Fetch{Name: object, Length: wire.MaxBlock}); err != nil {
							return
						}
					}
				})
			}
			askers.Wait()
			burst := line.bucket.Burst()
			for _, d := range []time.Duration{time.Second, 10 * time.Second} {
				if got, allowed := e.most(d), bytes*int(d/time.Second)+burst; got > allowed {
					t.Errorf("%d kbit/s: %d bytes within %v, %d are allowed", kbits, got, d, allowed)
				}
			}
			total := 0
			for _, c := range e.came {
				total += c.n
			}
			if least := bytes * 95 / 100 * int(span/time.Second); total < least {
				t.Errorf("%d kbit/s: %d bytes in a minute, at least %d could have come", kbits, total, least)
			}
		})
	}
}

// TestMetadataIsCharged: it is not held up, and the objects after it wait for it.
func TestMetadataIsCharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endless{}
		source := New(64, Hours{}, time.Now, time.UTC).Over(e) // 8,000 bytes a second
		begin := time.Now()
		for range 3 {
			if _, err := source.Fetch(t.Context(), wire.Fetch{Name: "timestamp.json", Length: 8000}); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(begin); d != 0 {
			t.Errorf("metadata took %v", d)
		}
		if _, err := source.Fetch(t.Context(), wire.Fetch{Name: object, Length: 8000}); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begin); d < 3*time.Second || d > 3100*time.Millisecond {
			t.Errorf("the object after 24,000 bytes of metadata came after %v", d)
		}
	})
}

// TestClosedHours: nothing but metadata travels, and everything does again when it is time, by itself.
func TestClosedHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock of a test begins at midnight UTC of 2000-01-01
		hours, err := ParseHours("01:00-02:00")
		if err != nil {
			t.Fatal(err)
		}
		e := &endless{}
		line := New(0, hours, time.Now, time.FixedZone("east", 3600)) // so that it is one o'clock, and open
		source := line.Over(e)
		ask := func(name string) error {
			_, err := source.Fetch(t.Context(), wire.Fetch{Name: name, Length: 10})
			return err
		}
		if err := ask(object); err != nil {
			t.Errorf("at one: %v", err)
		}
		time.Sleep(time.Hour)
		var closed *ClosedError
		if err := ask(object); !errors.As(err, &closed) || closed.Until.Format("15:04") != "01:00" {
			t.Errorf("at two: %v", err)
		}
		if err := ask("timestamp.json"); err != nil {
			t.Errorf("metadata at two: %v", err)
		}
		until, is := line.Closed()
		if !is {
			t.Fatal("not closed at two")
		}
		time.Sleep(time.Until(until))
		if err := ask(object); err != nil {
			t.Errorf("when it said: %v", err)
		}
		if line.String() != "at 01:00-02:00" {
			t.Error(line)
		}
	})
}
