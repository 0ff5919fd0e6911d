package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/gofiber/fiber/v2"

	"docent/sync/hub/content"
	"docent/sync/hub/rollout"
	"docent/sync/hub/store"
	"docent/sync/update/trust"
)

// Bounds of what is told of rollouts.
const (
	listedRollouts = 20
	triedRollouts  = 100 // looked at for how a release did
	pageTroubled   = 20  // kiosks named on the page
)

// rolloutView is a rollout with the kiosks of its groups counted.
type rolloutView struct {
	rollout.Rollout
	Tallies []rollout.Tally  `json:"tallies"`
	Kiosks  []rollout.Member `json:"kiosks,omitempty"`
}

// Total counts the kiosks of all groups.
func (v rolloutView) Total() (sum rollout.Tally) {
	for _, t := range v.Tallies {
		sum.Merge(t)
	}
	return sum
}

func (h *Hub) rolloutViews(ctx context.Context, limit int) ([]rolloutView, error) {
	all, err := h.store.Rollouts(ctx, limit)
	if err != nil {
		return nil, err
	}
	views := make([]rolloutView, 0, len(all))
	for _, r := range all {
		t, err := h.store.RolloutTallies(ctx, r)
		if err != nil {
			return nil, err
		}
		views = append(views, rolloutView{Rollout: r, Tallies: t})
	}
	return views, nil
}

func (h *Hub) rolloutView(ctx context.Context, id string) (rolloutView, error) {
	r, err := h.store.Rollout(ctx, id)
	if err != nil {
		return rolloutView{}, refuseRollout(err)
	}
	v := rolloutView{Rollout: r}
	if v.Tallies, err = h.store.RolloutTallies(ctx, r); err != nil {
		return rolloutView{}, err
	}
	v.Kiosks, err = h.store.RolloutMembers(ctx, id)
	return v, err
}

// listRollouts answers GET /api/v1/rollouts: the newest rollouts, the newest first, and the releases that kiosks may show.
func (h *Hub) listRollouts(c *fiber.Ctx) error {
	views, err := h.rolloutViews(c.UserContext(), listedRollouts)
	if err != nil {
		return err
	}
	targets, err := h.content.Releases()
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(fiber.Map{"rollouts": views, "releases": releaseNames(targets)})
}

func releaseNames(targets []trust.Target) []rollout.Release {
	releases := make([]rollout.Release, 0, len(targets))
	for _, t := range targets {
		releases = append(releases, rollout.Release{ID: t.ReleaseID, Number: t.Number})
	}
	return releases
}

// getRollout answers GET /api/v1/rollouts/ID: a rollout with its kiosks.
func (h *Hub) getRollout(c *fiber.Ctx) error {
	v, err := h.rolloutView(c.UserContext(), c.Params("id"))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(v)
}

// rolloutRequest is the body of requests that change rollouts.
type rolloutRequest struct {
	By     string          `json:"by"`     // who asks
	Reason string          `json:"reason"` // of pause and abort
	Number int             `json:"number"` // of the release; 0 is the newest
	Plan   json.RawMessage `json:"plan"`   // none is everybody at once
}

func decodeRollout(c *fiber.Ctx) (in rolloutRequest, err error) {
	d := json.NewDecoder(bytes.NewReader(c.Body()))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil && !errors.Is(err, io.EOF) {
		return in, fiber.NewError(fiber.StatusBadRequest, "The body must be {by, reason} or {by, number, plan}.")
	}
	if rollout.ValidText(in.By) != nil || rollout.ValidText(in.Reason) != nil {
		return in, fiber.NewError(fiber.StatusBadRequest, "by and reason must be short texts on one line.")
	}
	return in, nil
}

// postRollout answers POST /api/v1/rollouts {number, plan, by}: a rollout of a release that is published. One of a lower
// number than the newest takes kiosks back.
func (h *Hub) postRollout(c *fiber.Ctx) error {
	in, err := decodeRollout(c)
	if err != nil {
		return err
	}
	plan, err := rollout.DecodePlan(in.Plan)
	if err != nil {
		return refuseRollout(err)
	}
	releases, err := h.content.Releases()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(releases, func(t trust.Target) bool { return t.Number == in.Number })
	if in.Number == 0 {
		i = len(releases) - 1
	}
	if i < 0 {
		return fiber.NewError(fiber.StatusConflict, "No release of that number is among those that may be shown.")
	}
	t := releases[i]
	r, err := rollout.New(rolloutID(t), rollout.Release{ID: t.ReleaseID, Number: t.Number}, plan, in.By, h.cfg.Clock())
	if err != nil {
		return refuseRollout(err)
	}
	r.Back = i < len(releases)-1
	return h.beginRollout(c, r, t)
}

// beginRollout begins a rollout of a release that is published, and answers with it.
func (h *Hub) beginRollout(c *fiber.Ctx, r rollout.Rollout, t trust.Target) error {
	if err := h.content.Whole(t); errors.Is(err, content.ErrIncomplete) {
		return fiber.NewError(fiber.StatusConflict, "The hub does not have all of release "+t.ReleaseID+": "+err.Error()+". Publish it again.")
	} else if err != nil {
		return err
	}
	if err := h.rollouts.Create(c.UserContext(), r); err != nil {
		return err
	}
	if err := h.rollouts.Publish(c.UserContext(), r.ID); err != nil {
		return refuseRollout(err)
	}
	return h.tellRollout(c, r.ID)
}

func (h *Hub) tellRollout(c *fiber.Ctx, id string) error {
	v, err := h.rolloutView(c.UserContext(), id)
	if err != nil {
		return err
	}
	v.Kiosks = nil
	return c.JSON(v)
}

// doRollout answers POST /api/v1/rollouts/ID/WORD {by, reason}, WORD being approve, pause, resume, abort or back.
func (h *Hub) doRollout(c *fiber.Ctx) error {
	in, err := decodeRollout(c)
	if err != nil {
		return err
	}
	ctx, id := c.UserContext(), c.Params("id")
	switch c.Params("word") {
	case "approve":
		err = h.rollouts.Approve(ctx, id, in.By)
	case "pause":
		err = h.rollouts.Pause(ctx, id, in.By, in.Reason)
	case "resume":
		err = h.rollouts.Resume(ctx, id, in.By)
	case "abort":
		err = h.rollouts.Abort(ctx, id, in.By, in.Reason)
	case "back":
		return h.takeBack(c, id, in.By)
	default:
		return fiber.ErrNotFound
	}
	if err != nil {
		return refuseRollout(err)
	}
	return h.tellRollout(c, id)
}

// takeBack begins a rollout of the release before to all kiosks of another rollout.
func (h *Hub) takeBack(c *fiber.Ctx, id, by string) error {
	of, err := h.rolloutView(c.UserContext(), id)
	if err != nil {
		return err
	}
	before, err := h.store.Rollouts(c.UserContext(), triedRollouts)
	if err != nil {
		return err
	}
	if before[0].ID != id {
		return fiber.NewError(fiber.StatusConflict, "Rollout "+before[0].ID+" came after this one. Take that back.")
	}
	releases, err := h.content.Releases()
	if err != nil {
		return err
	}
	earlier, ok := rollout.Earlier(of.Release, releaseNames(releases), before)
	if !ok {
		return fiber.NewError(fiber.StatusConflict, "No release before this one may be shown and has done well: the author has signed none, or the one before was stopped.")
	}
	to := releases[slices.IndexFunc(releases, func(t trust.Target) bool { return t.ReleaseID == earlier.ID })]
	r, err := rollout.Back(rolloutID(to), of.Rollout, of.Kiosks, earlier, by, h.cfg.Clock())
	if err != nil {
		return refuseRollout(err)
	}
	return h.beginRollout(c, r, to)
}

// refuseRollout turns what staff can do something about into an answer.
func refuseRollout(err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fiber.NewError(fiber.StatusNotFound, "There is no such rollout.")
	case errors.Is(err, rollout.ErrState):
		return fiber.NewError(fiber.StatusConflict, err.Error())
	case errors.Is(err, rollout.ErrPlan):
		return fiber.NewError(fiber.StatusBadRequest, err.Error())
	}
	return err
}
