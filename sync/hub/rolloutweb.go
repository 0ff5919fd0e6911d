package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"docent/sync/hub/content"
	"docent/sync/hub/rollout"
	"docent/sync/hub/store"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// Bounds of what is told of rollouts.
const (
	listedRollouts = 20
	triedRollouts  = 100 // looked at for how a release did
	pageTroubled   = 20  // kiosks named on the page
	namedAlike     = 10  // kiosks named where one is not known
)

// rolloutView is a rollout with the kiosks of its groups counted.
type rolloutView struct {
	rollout.Rollout
	Tallies []rollout.Tally  `json:"tallies"`
	Kiosks  []rollout.Member `json:"kiosks,omitempty"`
	// Unknown are kiosks of it that the hub does not know, SITE/KIOSK: they were named and removed later.
	Unknown []rollout.Kiosk `json:"unknown,omitempty"`
	// Doing is what kiosks of it that are at it said last: fetching, or waiting until nobody is there.
	Doing map[rollout.Kiosk]wire.Deploy `json:"doing,omitempty"`
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

// listRollouts answers GET /api/v1/rollouts: the newest rollouts, the newest first, the releases that kiosks may show, and
// those that they might if the hub had all of them.
func (h *Hub) listRollouts(c *fiber.Ctx) error {
	views, err := h.rolloutViews(c.UserContext(), listedRollouts)
	if err != nil {
		return err
	}
	whole, lacking, err := h.releases()
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(fiber.Map{"rollouts": views, "releases": releaseNames(whole), "lacking": releaseNames(lacking)})
}

// releases are those that the author lets kiosks show, by number: those that the hub has, and those that it lacks pieces of.
func (h *Hub) releases() (whole, lacking []trust.Target, err error) {
	all, err := h.content.Releases()
	if err != nil {
		return nil, nil, err
	}
	for _, t := range all {
		err := h.content.Whole(t)
		switch {
		case err == nil:
			whole = append(whole, t)
		case errors.Is(err, content.ErrIncomplete) || trust.Code(err) != "":
			lacking = append(lacking, t)
		default:
			return nil, nil, err
		}
	}
	return whole, lacking, nil
}

// knownKiosks are those that were heard of or authorised, and not removed since.
func (h *Hub) knownKiosks(ctx context.Context) ([]wire.Address, error) {
	kiosks, err := h.store.Kiosks(ctx)
	if err != nil {
		return nil, err
	}
	certificates, err := h.store.Certificates(ctx)
	if err != nil {
		return nil, err
	}
	known := map[wire.Address]bool{}
	for _, k := range kiosks {
		known[wire.Address{Site: k.Site, Kiosk: k.ID}] = true
	}
	for _, c := range certificates { // the newest of each kiosk
		known[c.Kiosk] = c.RevokedAt.IsZero() || c.Reason != wire.RefusedRevoked
	}
	out := make([]wire.Address, 0, len(known))
	for k, is := range known {
		if is {
			out = append(out, k)
		}
	}
	return out, nil
}

// checkNames refuses a plan that names a kiosk the hub does not know: all other kiosks would wait for it.
func (h *Hub) checkNames(ctx context.Context, plan rollout.Plan) error {
	known, err := h.knownKiosks(ctx)
	if err != nil {
		return err
	}
	unknown := plan.Unknown(known)
	if len(unknown) == 0 {
		return nil
	}
	said := fmt.Sprintf("This hub does not know the kiosk %s, and all others would wait for it.", nameOf(unknown[0]))
	if len(unknown) > 1 {
		said = fmt.Sprintf("This hub does not know the kiosks %s, and all others would wait for them.", namesOf(unknown))
	}
	switch alike := rollout.Alike(unknown[0], known, namedAlike); {
	case len(known) == 0:
		said += " It knows none yet."
	case len(alike) == len(known):
		said += " It knows " + namesOf(alike) + "."
	default:
		said += fmt.Sprintf(" Of the %d it knows, these are named most alike: %s.", len(known), namesOf(alike))
	}
	return fiber.NewError(fiber.StatusBadRequest, said)
}

func nameOf(k wire.Address) string { return k.Site + "/" + k.Kiosk }

// namesOf names a few kiosks.
func namesOf(kiosks []wire.Address) string {
	names := make([]string, 0, namedAlike+1)
	for _, k := range kiosks[:min(namedAlike, len(kiosks))] {
		names = append(names, nameOf(k))
	}
	if more := len(kiosks) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
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
	known, err := h.knownKiosks(c.UserContext())
	if err != nil {
		return err
	}
	is := make(map[wire.Address]bool, len(known))
	for _, k := range known {
		is[k] = true
	}
	said, err := h.store.Deployments(c.UserContext())
	if err != nil {
		return err
	}
	v.Doing = map[rollout.Kiosk]wire.Deploy{}
	for _, m := range v.Kiosks {
		if !is[m.Kiosk] {
			v.Unknown = append(v.Unknown, rollout.Kiosk(m.Kiosk))
		}
		if d, ok := said[m.Kiosk]; ok && m.State == rollout.Going && d.Deployment == v.ID {
			v.Doing[rollout.Kiosk(m.Kiosk)] = d
		}
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
	if err := h.checkNames(c.UserContext(), plan); err != nil {
		return err
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
	var state *rollout.StateError
	switch {
	case errors.As(err, &state):
		return fiber.NewError(fiber.StatusConflict, state.Error()+".")
	case errors.Is(err, store.ErrNotFound):
		return fiber.NewError(fiber.StatusNotFound, "There is no such rollout.")
	case errors.Is(err, rollout.ErrState):
		return fiber.NewError(fiber.StatusConflict, err.Error())
	case errors.Is(err, rollout.ErrPlan):
		return fiber.NewError(fiber.StatusBadRequest, err.Error())
	}
	return err
}
