package hub

import (
	"context"
	"errors"
	"path/filepath"

	"docent/sync/hub/authority"
	"docent/sync/hub/content"
	"docent/sync/hub/hold"
	"docent/sync/hub/postgres"
	"docent/sync/hub/store"
	"docent/sync/hub/visits"
)

// open opens what the hub keeps: in SQLite and in files of its folder, or in the database that it shares with other hubs.
// What was opened is closed by close, also where there was an error.
func (h *Hub) open(ctx context.Context) (err error) {
	if err := h.openStore(ctx); err != nil {
		return err
	}
	if !h.cfg.Clear {
		if err := h.openAuthority(ctx); err != nil {
			return err
		}
	}
	if h.content, err = h.openContent(ctx); err != nil {
		return err
	}
	h.visits, err = visits.Open(ctx, visits.Options{
		Dir: filepath.Join(h.cfg.Dir, "visits"), Database: h.db, Notify: h.noticeVisits, Clock: h.cfg.Clock, Logger: h.log})
	if err != nil {
		return err
	}
	var n note = noteFile(filepath.Join(h.cfg.Dir, "emergency.json"))
	if h.db != nil {
		n = noteRow{h.db}
	}
	h.alarm = openAlarm(n, h.cfg.Clock, h.log)
	return nil
}

func (h *Hub) openStore(ctx context.Context) (err error) {
	if h.cfg.Database == "" {
		if h.alone {
			if h.lock, err = hold.Folder(h.cfg.Dir); err != nil {
				return err
			}
		}
		h.store, err = store.Open(ctx, filepath.Join(h.cfg.Dir, "hub.db"))
		return err
	}
	if h.db, err = postgres.Open(ctx, h.cfg.Database); err != nil {
		return err
	}
	h.store = store.OpenPostgres(h.db)
	return nil
}

func (h *Hub) openAuthority(ctx context.Context) (err error) {
	if h.authority, err = authority.Open(filepath.Join(h.cfg.Dir, "authority"), h.cfg.Clock); err != nil || h.db == nil {
		return err
	}
	return postgres.Agree(ctx, h.db, "authority/authority.pem", []byte(h.authority.Fingerprint()))
}

func (h *Hub) openContent(ctx context.Context) (*content.Store, error) {
	dir := filepath.Join(h.cfg.Dir, "content")
	if h.db == nil {
		return content.Open(dir, h.cfg.Clock, h.log)
	}
	return content.OpenShared(ctx, h.db, dir, h.cfg.Clock, h.log)
}

// close closes what open has opened.
func (h *Hub) close() error {
	var errs []error
	if h.visits != nil {
		errs = append(errs, h.visits.Close())
	}
	if h.store != nil {
		errs = append(errs, h.store.Close())
	}
	if h.db != nil {
		errs = append(errs, h.db.Close())
	}
	if h.lock != nil { // last: nobody opens what is still being closed
		errs = append(errs, h.lock.Close())
	}
	return errors.Join(errs...)
}
