package hub

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"docent/sync/hub/rollout"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// followRollouts sets up what moves rollouts on. A release that was published before there were any counts as one that
// has reached all.
func (h *Hub) followRollouts(ctx context.Context) error {
	h.rollouts = rollout.Follow(rollout.Options{
		Store: h.store, Published: h.isPublished, Notify: h.notifyRollout, Clock: h.cfg.Clock, Settle: h.cfg.Settle, Logger: h.log,
	})
	releases, err := h.content.Releases()
	if err != nil || len(releases) == 0 {
		return err
	}
	known, err := h.store.Rollouts(ctx, 1)
	if err != nil || len(known) > 0 {
		return err
	}
	newest := releases[len(releases)-1]
	r, err := rollout.New(rolloutID(newest), rollout.Release{ID: newest.ReleaseID, Number: newest.Number}, rollout.Everybody(), "", h.cfg.Clock())
	if err != nil {
		return err
	}
	r.State, r.Begun, r.EndedAt = rollout.Finished, 1, h.cfg.Clock()
	return h.rollouts.Create(ctx, r)
}

// rolloutID is a name for a rollout of a release: short, and never used twice.
func rolloutID(t trust.Target) string {
	return fmt.Sprintf("r%d-%s", t.Number, strings.ToLower(rand.Text()[:6]))
}

func (h *Hub) isPublished(r rollout.Release) (bool, error) {
	all, err := h.content.Releases()
	return slices.ContainsFunc(all, func(t trust.Target) bool { return t.ReleaseID == r.ID }), err
}

// notifyRollout tells the kiosks of a rollout that have something to hear.
func (h *Hub) notifyRollout(ctx context.Context, id string) {
	members, err := h.store.RolloutMembers(ctx, id)
	if err != nil {
		h.log.Warn("kiosks not told of their release", "rollout", id, "err", err)
		return
	}
	for _, m := range members {
		if m.Unheard() {
			h.desire(ctx, m.Kiosk)
		}
	}
}

// wanted is what a kiosk shall show; false where no release was ever published.
func (h *Hub) wanted(ctx context.Context, kiosk wire.Address) (wire.Desired, bool, error) {
	parts, err := h.store.RolloutParts(ctx, kiosk)
	if err != nil || len(parts) == 0 {
		return wire.Desired{}, false, err
	}
	return rollout.Wanted(parts), true, nil
}

// desire tells a kiosk which release it shall show. One that does not hear it looks by itself now and then.
func (h *Hub) desire(ctx context.Context, kiosk wire.Address) {
	d, known, err := h.wanted(ctx, kiosk)
	if err == nil && !known {
		return
	}
	var b []byte
	if err == nil {
		b, err = d.Encode()
	}
	if err == nil {
		err = h.broker.Publish(kiosk.Topic(wire.KindDesired), b, true)
	}
	if err != nil {
		h.log.Warn("kiosk not told of its release", "kiosk", kiosk.Kiosk, "err", err)
	}
}

// desireAgain tells a kiosk anew which release it shall show, where it has not answered what it was told.
func (h *Hub) desireAgain(ctx context.Context, kiosk wire.Address) {
	parts, err := h.store.RolloutParts(ctx, kiosk)
	if err != nil {
		h.log.Warn("kiosk not told of its release", "kiosk", kiosk.Kiosk, "err", err)
		return
	}
	if slices.ContainsFunc(parts, func(p rollout.Part) bool { return p.Member != nil && p.Member.Unheard() }) {
		h.desire(ctx, kiosk)
	}
}

// answerDesired answers a kiosk that asks which release it shall show.
func (h *Hub) answerDesired(ctx context.Context, kiosk wire.Address, req wire.Fetch) wire.Chunk {
	c := wire.Chunk{ID: req.ID, Name: req.Name, Offset: req.Offset}
	d, known, err := h.wanted(ctx, kiosk)
	if err == nil && !known {
		c.Error = wire.FetchNotFound
		return c
	}
	var b []byte
	if err == nil {
		b, err = d.Encode()
	}
	if err != nil {
		h.log.Warn("kiosk not told of its release", "kiosk", kiosk.Kiosk, "err", err)
		c.Error = wire.FetchFailed
		return c
	}
	c.Size = int64(len(b))
	c.Offset = min(req.Offset, c.Size)
	c.Data = b[c.Offset:min(c.Offset+int64(req.Length), c.Size)]
	return c
}

// deployed notes what a kiosk says about its content, for the rollout it is about too.
func (h *Hub) deployed(ctx context.Context, from wire.Address, d wire.Deploy) error {
	now := h.cfg.Clock()
	changed, err := h.store.ReportRollout(ctx, from, d, now)
	if err != nil {
		return err
	}
	if changed {
		h.rollouts.Wake()
		h.desireAgain(ctx, from) // where the rollout was stopped meanwhile
	}
	return h.store.SetDeployment(ctx, from, d, now)
}
