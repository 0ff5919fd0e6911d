// Package limit keeps content from taking up a kiosk's line: so many bits a second and no more, and only in certain
// hours of the day.
package limit

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/time/rate"

	"docent/sync/wire"
)

// Source answers requests for parts of files.
type Source interface {
	Fetch(ctx context.Context, req wire.Fetch) (wire.Chunk, error)
}

// A burst is what a second's worth of bytes is, within these bounds: smaller blocks would be mostly headers, larger
// ones do not exist.
const (
	leastBurst = 4 << 10
	mostBurst  = wire.MaxBlock
)

// ClosedError says that it is not the hour for content.
type ClosedError struct{ Until time.Time }

// Error says when it is.
func (e *ClosedError) Error() string {
	return "content waits for its hours, until " + e.Until.Format("15:04")
}

// Line is a line over which content comes. All sources that use the line share it. It is safe for concurrent use.
type Line struct {
	hours  Hours
	bucket *rate.Limiter // nil is without bound
	now    func() time.Time
	place  *time.Location
}

// New describes a line: kbits a second (1,000 bits; 0 is without bound) at the hours given, by the clock now on the
// wall at place.
func New(kbits int, hours Hours, now func() time.Time, place *time.Location) *Line {
	l := &Line{hours: hours, now: now, place: place}
	if kbits > 0 {
		bytes := kbits * 1000 / 8
		l.bucket = rate.NewLimiter(rate.Limit(bytes), max(leastBurst, min(mostBurst, bytes)))
	}
	return l
}

// Over returns a source that asks s and holds to the line's limits. Metadata, which is small, may come at any hour.
func (l *Line) Over(s Source) Source { return limited{l, s} }

// Closed is until when no content comes; false where it may come now.
func (l *Line) Closed() (until time.Time, closed bool) {
	now := l.now().In(l.place)
	if l.hours.Open(now) {
		return time.Time{}, false
	}
	return l.hours.Next(now), true
}

// String says what the limits are, empty where there are none.
func (l *Line) String() string {
	out := ""
	if l.bucket != nil {
		out = fmt.Sprintf("at most %.0f kbit/s", float64(l.bucket.Limit())*8/1000)
	}
	if h := l.hours.String(); h != "" {
		if out != "" {
			out += ", "
		}
		out += "at " + h
	}
	return out
}

// limited is a source on a line.
type limited struct {
	line *Line
	next Source
}

// Fetch asks for no more at once than a burst and waits until the line may carry that.
func (s limited) Fetch(ctx context.Context, req wire.Fetch) (wire.Chunk, error) {
	if until, closed := s.line.Closed(); closed && wire.ValidObject(req.Name) {
		return wire.Chunk{}, &ClosedError{until}
	}
	bucket := s.line.bucket
	if bucket == nil {
		return s.next.Fetch(ctx, req)
	}
	req.Length = min(req.Length, bucket.Burst())
	if wire.ValidObject(req.Name) {
		if err := bucket.WaitN(ctx, req.Length); err != nil {
			return wire.Chunk{}, fmt.Errorf("wait for the line: %w", err)
		}
		return s.next.Fetch(ctx, req)
	}
	c, err := s.next.Fetch(ctx, req)
	bucket.ReserveN(time.Now(), len(c.Data)) // it is asked for without knowing its size: what follows waits for it
	return c, err
}
