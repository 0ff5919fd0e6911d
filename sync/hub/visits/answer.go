package visits

import (
	"context"
	"crypto/ed25519"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"docent/sync/wire"
)

// Answer answers a query of a kiosk; false where the request is for something else than a visit.
func (v *Visits) Answer(ctx context.Context, from wire.Address, req wire.Fetch) (wire.Chunk, bool) {
	q, ok := wire.ParseVisitQuery(req.Name)
	if !ok {
		return wire.Chunk{}, false
	}
	data, word, err := v.answer(ctx, from, q, req.Offset == 0)
	if err != nil {
		v.o.Logger.Warn("query about a visit not answered", "kiosk", from.Kiosk, "query", q.Kind, "err", err)
		word = wire.FetchFailed
	}
	c := wire.Chunk{ID: req.ID, Name: req.Name, Offset: req.Offset, Size: int64(len(data)), Error: word}
	if word != "" {
		c.Offset, c.Size = 0, 0
		return c, true
	}
	if req.Offset < int64(len(data)) {
		c.Data = data[req.Offset:min(int64(len(data)), req.Offset+int64(req.Length))]
	} else {
		c.Offset = int64(len(data))
	}
	return c, true
}

// answer returns what is asked for, or the word of [wire.Chunk] that says why not. first is false for what comes after
// the beginning of something longer.
func (v *Visits) answer(ctx context.Context, from wire.Address, q wire.VisitQuery, first bool) (data []byte, word string, err error) {
	k := visit{from.Site, q.Name}
	switch q.Kind {
	case wire.QueryPassKey:
		return v.key.Public().(ed25519.PublicKey), "", nil
	case wire.QuerySign:
		if gone, err := v.isForgotten(ctx, k); gone || err != nil {
			return nil, wire.FetchGone, err
		}
		if now := v.o.Clock(); q.Expires.Before(now) || q.Expires.After(now.Add(wire.MaxPassLife)) {
			return nil, wire.FetchFailed, nil
		}
		return ed25519.Sign(v.key, wire.PassText(from.Site, q.Name, q.Expires)), "", nil
	case wire.QueryVisit:
		return v.bundle(ctx, k, from.Kiosk)
	default:
		return v.code(ctx, from, q.Name, first)
	}
}

func (v *Visits) bundle(ctx context.Context, k visit, kiosk string) (data []byte, word string, err error) {
	if gone, err := v.isForgotten(ctx, k); gone || err != nil {
		return nil, wire.FetchGone, err
	}
	var expires int64
	err = v.db.QueryRowContext(ctx, `SELECT expires FROM passes WHERE site=? AND visit=? AND expires>?`, k.site, k.name, v.o.Clock().UnixMilli()).Scan(&expires)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, wire.FetchNotFound, nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("read visit: %w", err)
	}
	if _, err := v.exec(ctx, []statement{{`INSERT INTO holders (site, visit, kiosk) VALUES (?,?,?) ON CONFLICT DO NOTHING`, []any{k.site, k.name, kiosk}}}); err != nil {
		return nil, "", err
	}
	rows, err := v.db.QueryContext(ctx, `SELECT kiosk, number, box FROM carried WHERE site=? AND visit=? ORDER BY kiosk LIMIT ?`, k.site, k.name, wire.MaxVisitKiosks)
	if err != nil {
		return nil, "", fmt.Errorf("read visit: %w", err)
	}
	defer rows.Close()
	b := wire.VisitBundle{Expires: time.UnixMilli(expires).UTC()}
	for rows.Next() {
		var s wire.VisitState
		if err := rows.Scan(&s.Kiosk, &s.Number, &s.Box); err != nil {
			return nil, "", fmt.Errorf("read visit: %w", err)
		}
		b.States = append(b.States, s)
	}
	if err := rows.Err(); err != nil {
		return nil, "", fmt.Errorf("read visit: %w", err)
	}
	data, err = json.Marshal(b)
	return data, "", err
}

// code looks a short code up. Whoever asks for codes that do not exist is made to wait.
func (v *Visits) code(ctx context.Context, from wire.Address, code string, first bool) (data []byte, word string, err error) {
	now := v.o.Clock()
	if !v.misses.allowed(from, now) {
		return nil, wire.FetchBusy, nil
	}
	err = v.db.QueryRowContext(ctx, `SELECT box FROM codes WHERE site=? AND code=? AND expires>? AND uses<?`, from.Site, code, now.UnixMilli(), codeUses).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		v.misses.missed(from, now)
		return nil, wire.FetchNotFound, nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("look a code up: %w", err)
	}
	if first {
		if _, err := v.exec(ctx, []statement{{`UPDATE codes SET uses = uses + 1 WHERE site=? AND code=?`, []any{from.Site, code}}}); err != nil {
			return nil, "", err
		}
	}
	return data, "", nil
}

// Bounds of wrong codes.
const (
	missesOfKiosk = 20  // in missWindow
	missesOfAll   = 200 // in missWindow
	missWindow    = 10 * time.Minute
)

// limiter counts wrong codes in the present window of time. The zero value is ready.
type limiter struct {
	mu     sync.Mutex
	since  time.Time
	all    int
	kiosks map[wire.Address]int
}

func (l *limiter) allowed(from wire.Address, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kiosks == nil || now.Sub(l.since) >= missWindow || now.Before(l.since) {
		l.since, l.all, l.kiosks = now, 0, map[wire.Address]int{}
	}
	return l.all < missesOfAll && l.kiosks[from] < missesOfKiosk
}

func (l *limiter) missed(from wire.Address, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all++
	l.kiosks[from]++
}
