package visits

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"docent/sync/hub/store"
	"docent/sync/wire"
)

// Store makes batches durable, and drops the words of forgotten visits from what it has. What first looks at, in the
// transaction that stores the batch, is before or after all of a Forget.
type Store interface {
	PutAfter(ctx context.Context, batch []store.Arrival, first func(context.Context, *sql.Tx) error) (store.Receipt, error)
	Forget(ctx context.Context, site string, visits []string) error
}

// Before returns a store that takes what concerns visits out of batches before next gets them: boxes never come to
// next, nor words of a visit that is forgotten. All of it is done again where a batch comes again.
func (v *Visits) Before(next Store) *Filter { return &Filter{v, next} }

// Filter is made by [Visits.Before].
type Filter struct {
	visits *Visits
	next   Store
}

// Put stores a batch. It returns when all of it is on the disk.
func (f *Filter) Put(ctx context.Context, batch []store.Arrival) (store.Receipt, error) {
	c, err := f.visits.read(ctx, batch)
	if err != nil {
		return store.Receipt{}, err
	}
	if len(c.statements) > 0 {
		if _, err := f.visits.exec(ctx, c.statements); err != nil {
			return store.Receipt{}, err
		}
	}
	if !f.visits.shared {
		f.visits.mu.Lock()
		for k := range c.forgotten {
			f.visits.forgotten[k] = true
		}
		f.visits.mu.Unlock()
	}
	out := slices.Clone(batch)
	// After the batch is read: a forgetting holds for what came before it too. And when the store lets nobody else in: by
	// another hub a visit may just have been forgotten.
	receipt, err := f.next.PutAfter(ctx, out, func(ctx context.Context, tx *sql.Tx) error {
		var q querier
		if f.visits.shared {
			q = tx
		}
		return f.visits.strip(ctx, q, out)
	})
	if err != nil {
		return receipt, err
	}
	if err := f.forget(ctx, c.forgotten); err != nil {
		return store.Receipt{}, err
	}
	f.visits.tell(ctx, c)
	return receipt, nil
}

func (f *Filter) forget(ctx context.Context, all map[visit]bool) error {
	if len(all) == 0 {
		return nil
	}
	sites := map[string][]string{}
	for k := range all {
		sites[k.site] = append(sites[k.site], k.name)
	}
	for site, names := range sites {
		if err := f.next.Forget(ctx, site, names); err != nil {
			return fmt.Errorf("forget visits: %w", err)
		}
	}
	return f.visits.truncate(ctx)
}

// changes are what a batch means for visits.
type changes struct {
	v          *Visits
	before     map[visit]bool // forgotten before the batch
	statements []statement
	forgotten  map[visit]bool // by the batch
	changed    map[visit]wire.Address
}

// read works out what a batch means.
func (v *Visits) read(ctx context.Context, batch []store.Arrival) (*changes, error) {
	before, err := v.areForgotten(ctx, v.db, named(batch, carrying))
	if err != nil {
		return nil, err
	}
	c := &changes{v: v, before: before, forgotten: map[visit]bool{}, changed: map[visit]wire.Address{}}
	for _, a := range batch {
		c.arrival(a)
	}
	return c, nil
}

// named are the visits that events of some types are about, each once.
func named(batch []store.Arrival, types map[string]bool) []visit {
	var out []visit
	seen := map[visit]bool{}
	for _, a := range batch {
		if a.Refused != "" || !types[a.Event.Type] {
			continue
		}
		var in wire.VisitForgotten
		k := visit{site: a.From.Site}
		if json.Unmarshal(a.Event.Data, &in) != nil || !wire.ValidVisit(in.Visit) {
			continue
		}
		k.name = in.Visit
		if !seen[k] {
			seen[k] = true
			out = append(out, k)
		}
	}
	return out
}

// carrying are the events that carry something of a visit to other kiosks.
var carrying = map[string]bool{wire.EventVisitCarried: true, wire.EventVisitCode: true}

func (c *changes) add(query string, args ...any) {
	c.statements = append(c.statements, statement{query, args})
}

func (c *changes) arrival(a store.Arrival) {
	if a.Refused != "" {
		return
	}
	site, now := a.From.Site, c.v.o.Clock()
	switch a.Event.Type {
	case wire.EventVisitCarried:
		var in wire.VisitCarried
		k := visit{site, in.Visit}
		if json.Unmarshal(a.Event.Data, &in) == nil && in.Validate() == nil {
			k.name = in.Visit
			if !c.gone(k) && in.Expires.After(now) && in.Expires.Before(now.Add(wire.MaxPassLife+24*time.Hour)) {
				c.carried(k, a.From.Kiosk, in)
				c.changed[k] = a.From
			}
		}
	case wire.EventVisitCode:
		var in wire.VisitCode
		if json.Unmarshal(a.Event.Data, &in) == nil && in.Validate() == nil {
			if k := (visit{site, in.Visit}); !c.gone(k) && in.Expires.After(now) {
				c.code(k, in, min(in.Expires.UnixMilli(), now.Add(wire.MaxCodeLife).UnixMilli()))
			}
		}
	case wire.EventMemoryForgotten:
		var in wire.VisitForgotten
		if json.Unmarshal(a.Event.Data, &in) == nil && wire.ValidVisit(in.Visit) {
			c.forget(visit{site, in.Visit}, a.From.Kiosk, now)
		}
	}
}

// gone says whether a visit is forgotten, here or earlier in the batch.
func (c *changes) gone(k visit) bool { return c.forgotten[k] || c.before[k] }

// unless is the condition, for a statement that brings something of a visit, that no hub has forgotten it meanwhile.
const unless = ` WHERE NOT EXISTS (SELECT 1 FROM forgotten WHERE site=? AND visit=?) `

func (c *changes) carried(k visit, kiosk string, in wire.VisitCarried) {
	c.add(`INSERT INTO passes (site, visit, expires) SELECT CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT)`+unless+`
		ON CONFLICT (site, visit) DO UPDATE SET expires = CASE WHEN excluded.expires > passes.expires THEN excluded.expires ELSE passes.expires END`,
		k.site, k.name, in.Expires.UnixMilli(), k.site, k.name)
	c.add(`INSERT INTO carried (site, visit, kiosk, number, box) SELECT site, visit, CAST(? AS TEXT), CAST(? AS BIGINT), ? FROM passes WHERE site=? AND visit=?
		ON CONFLICT (site, visit, kiosk) DO UPDATE SET number = excluded.number, box = excluded.box WHERE excluded.number > carried.number`,
		kiosk, in.Number, in.Box, k.site, k.name)
	c.add(`INSERT INTO holders (site, visit, kiosk) VALUES (?,?,?) ON CONFLICT DO NOTHING`, k.site, k.name, kiosk)
	for covered, n := range in.Covers {
		if covered != kiosk {
			c.add(`UPDATE carried SET box = NULL WHERE site=? AND visit=? AND kiosk=? AND number<=?`, k.site, k.name, covered, n)
		}
	}
	c.add(`DELETE FROM carried WHERE site=? AND visit=? AND kiosk NOT IN
		(SELECT kiosk FROM carried WHERE site=? AND visit=? ORDER BY box IS NULL, number DESC, kiosk LIMIT ?)`, k.site, k.name, k.site, k.name, wire.MaxVisitKiosks)
	c.add(`DELETE FROM passes WHERE (site, visit) IN (SELECT site, visit FROM passes ORDER BY expires DESC LIMIT 1000000 OFFSET ?)`, maxPasses)
}

func (c *changes) code(k visit, in wire.VisitCode, expires int64) {
	c.add(`INSERT INTO codes (site, code, visit, box, expires) SELECT CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), ?, CAST(? AS BIGINT)`+unless+`ON CONFLICT DO NOTHING`,
		k.site, in.Code, k.name, in.Box, expires, k.site, k.name)
	c.add(`DELETE FROM codes WHERE site=? AND visit=? AND code NOT IN (SELECT code FROM codes WHERE site=? AND visit=? ORDER BY expires DESC, code LIMIT ?)`,
		k.site, k.name, k.site, k.name, codesOfVisit)
}

func (c *changes) forget(k visit, kiosk string, now time.Time) {
	c.forgotten[k] = true
	until := now.Add(max(c.v.o.KeepForgotten, wire.MaxPassLife)).UnixMilli()
	c.add(`INSERT INTO forgotten (site, visit, until) VALUES (?,?,?) ON CONFLICT (site, visit) DO NOTHING`, k.site, k.name, until)
	c.add(`DELETE FROM carried WHERE site=? AND visit=?`, k.site, k.name)
	c.add(`DELETE FROM codes WHERE site=? AND visit=?`, k.site, k.name)
	c.add(`DELETE FROM passes WHERE site=? AND visit=?`, k.site, k.name)
	c.add(`DELETE FROM forgotten WHERE (site, visit) IN (SELECT site, visit FROM forgotten ORDER BY until DESC LIMIT 1000000 OFFSET ?)`, maxForgotten)
	delete(c.changed, k)
}

// worded are the events that hold words of a visitor.
var worded = map[string]bool{"question.answered": true, "question.unanswered": true}

// strip leaves of events what may be kept of them. Their hashes stay those of the whole. q is where forgotten visits are
// looked up, where the database is shared.
func (v *Visits) strip(ctx context.Context, q querier, batch []store.Arrival) error {
	forgotten, err := v.areForgotten(ctx, q, named(batch, worded))
	if err != nil {
		return err
	}
	for i := range batch {
		a := &batch[i]
		if a.Refused != "" {
			continue
		}
		typ := a.Event.Type
		switch {
		case carrying[typ], typ == wire.EventMemoryCommand:
			a.Event.Data = nameOnly(a.Event.Data)
		case worded[typ] && len(forgotten) > 0:
			var in wire.VisitForgotten
			if json.Unmarshal(a.Event.Data, &in) == nil && forgotten[visit{a.From.Site, in.Visit}] {
				a.Event.Data = nameOnly(a.Event.Data)
			}
		}
	}
	return nil
}

// nameOnly is an event's data with nothing but the visit's name.
func nameOnly(data []byte) json.RawMessage {
	var in wire.VisitForgotten
	if json.Unmarshal(data, &in) != nil || !wire.ValidVisit(in.Visit) {
		return json.RawMessage(`{}`)
	}
	out, err := json.Marshal(in)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return out
}

// tell sends notices to the other kiosks that have the visits.
func (v *Visits) tell(ctx context.Context, c *changes) {
	for k := range c.forgotten {
		v.notify(ctx, k, "", wire.VisitNotice{Forgotten: []string{k.name}})
	}
	for k, from := range c.changed {
		v.notify(ctx, k, from.Kiosk, wire.VisitNotice{Changed: []string{k.name}})
	}
}

func (v *Visits) notify(ctx context.Context, k visit, except string, n wire.VisitNotice) {
	kiosks, err := v.strings(ctx, `SELECT kiosk FROM holders WHERE site=? AND visit=? AND kiosk<>?`, k.site, k.name, except)
	if err != nil {
		v.o.Logger.Warn("kiosks not told of a visit", "err", err)
	}
	for _, kiosk := range kiosks {
		v.o.Notify(wire.Address{Site: k.site, Kiosk: kiosk}, n)
	}
}

func (v *Visits) strings(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := v.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read visits: %w", err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, fmt.Errorf("read visits: %w", err)
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// Welcome tells a kiosk that has just come which of the visits it had are forgotten.
func (v *Visits) Welcome(ctx context.Context, kiosk wire.Address) error {
	names, err := v.strings(ctx, `SELECT f.visit FROM forgotten f JOIN holders h ON h.site = f.site AND h.visit = f.visit WHERE h.site=? AND h.kiosk=?`, kiosk.Site, kiosk.Kiosk)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(names, wire.MaxNotices) {
		v.o.Notify(kiosk, wire.VisitNotice{Forgotten: some})
	}
	return nil
}
