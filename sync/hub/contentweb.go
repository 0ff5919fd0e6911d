package hub

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/gofiber/fiber/v2"

	"docent/sync/hub/content"
	"docent/sync/hub/rollout"
	"docent/sync/hub/store"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// publishHeader marks requests of programs. A page of another site that a browser on this machine shows cannot set it.
const publishHeader = "Docent-Publish"

// Bounds of what is published.
const (
	maxAsked = 100_000 // objects asked for at once
	maxFiles = 300     // metadata files
)

func fromProgram(c *fiber.Ctx) error {
	if c.Get(publishHeader) == "" {
		return fiber.NewError(fiber.StatusForbidden, "The header "+publishHeader+" is missing.")
	}
	return c.Next()
}

// kioskView is a kiosk with what it says about its content.
type kioskView struct {
	store.Kiosk
	Deployment *wire.Deploy `json:"deployment,omitempty"`
	Troubles   []Trouble    `json:"troubles"` // what is wrong with it, the worst first
	// Screenshot is the newest; nil where there is none.
	Screenshot *store.Screenshot `json:"screenshot,omitempty"`
}

func (h *Hub) kioskViews(ctx context.Context) ([]kioskView, error) {
	kiosks, err := h.store.Kiosks(ctx)
	if err != nil {
		return nil, err
	}
	deployments, err := h.store.Deployments(ctx)
	if err != nil {
		return nil, err
	}
	screenshots, err := h.store.Screenshots(ctx)
	if err != nil {
		return nil, err
	}
	out, now := make([]kioskView, 0, len(kiosks)), h.cfg.Clock()
	for _, k := range kiosks {
		v, name := kioskView{Kiosk: k}, wire.Address{Site: k.Site, Kiosk: k.ID}
		if d, ok := deployments[name]; ok {
			v.Deployment = &d
		}
		if shot, ok := screenshots[name]; ok {
			v.Screenshot = &shot
		}
		v.Troubles = troubles(k, v.Deployment, h.guard.conflict(name, now), now)
		out = append(out, v)
	}
	return out, nil
}

// contentKey answers GET /api/v1/content/key: the hub's public key, which the root of a house names.
func (h *Hub) contentKey(c *fiber.Ctx) error {
	var b strings.Builder
	if err := h.content.PublicKey(&b); err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, "application/x-pem-file")
	return c.SendString(b.String())
}

// missingObjects answers POST /api/v1/content/missing {objects}: those that the hub lacks.
func (h *Hub) missingObjects(c *fiber.Ctx) error {
	var in struct {
		Objects []string `json:"objects"`
	}
	if err := json.Unmarshal(c.Body(), &in); err != nil || len(in.Objects) > maxAsked {
		return fiber.NewError(fiber.StatusBadRequest, "objects must be a list of names.")
	}
	missing := []string{}
	for _, o := range in.Objects {
		if !h.content.Has(o) {
			missing = append(missing, o)
		}
	}
	return c.JSON(fiber.Map{"missing": missing})
}

// putObject answers PUT /api/v1/content/objects/SHA256.
func (h *Hub) putObject(c *fiber.Ctx) error {
	err := h.content.Put(c.Params("sum"), c.Body())
	if errors.Is(err, content.ErrObject) {
		return fiber.NewError(fiber.StatusBadRequest, "The body is not the object of that name.")
	}
	if err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// publish answers POST /api/v1/content/release {files, rollout, by}: the metadata that an author signed, by name, and the
// plan by which kiosks get the release; none is everybody at once. One that was published before is answered with {again}.
func (h *Hub) publish(c *fiber.Ctx) error {
	var in struct {
		Files   map[string][]byte `json:"files"`
		Rollout json.RawMessage   `json:"rollout"`
		By      string            `json:"by"`
	}
	if err := json.Unmarshal(c.Body(), &in); err != nil || len(in.Files) > maxFiles {
		return fiber.NewError(fiber.StatusBadRequest, "files must be metadata by name.")
	}
	for name := range in.Files {
		if err := (wire.Fetch{Name: name, Length: 1}).Validate(); err != nil || wire.ValidObject(name) || name == wire.DesiredName || name == "timestamp.json" || strings.HasSuffix(name, ".snapshot.json") {
			return fiber.NewError(fiber.StatusBadRequest, "files must be roots and targets.")
		}
	}
	if rollout.ValidText(in.By) != nil {
		return fiber.NewError(fiber.StatusBadRequest, "by must be a short text on one line.")
	}
	plan, err := rollout.DecodePlan(in.Rollout)
	if err != nil {
		return refuseRollout(err)
	}
	if err := h.checkNames(c.UserContext(), plan); err != nil {
		return err
	}
	t, err := h.content.Check(in.Files)
	if known := (*content.KnownError)(nil); errors.As(err, &known) {
		return h.tellKnown(c, known)
	}
	if err != nil {
		return refusePublish(err)
	}
	r, err := rollout.New(rolloutID(t), rollout.Release{ID: t.ReleaseID, Number: t.Number}, plan, in.By, h.cfg.Clock())
	if err != nil {
		return refuseRollout(err)
	}
	// First, so that no kiosk finds a release that no rollout speaks of: if the hub ends in between, it goes on from there.
	if err := h.rollouts.Create(c.UserContext(), r); err != nil {
		return err
	}
	if _, err := h.content.Publish(in.Files); err != nil {
		return refusePublish(err)
	}
	if err := h.rollouts.Publish(c.UserContext(), r.ID); err != nil {
		return refuseRollout(err)
	}
	_, lacking, err := h.releases()
	if err != nil {
		return err
	}
	return c.JSON(published{Release: rollout.Release{ID: t.ReleaseID, Number: t.Number}, Rollout: r.ID, Lacking: releaseNames(lacking)})
}

// published is the answer about a release that an author handed over.
type published struct {
	rollout.Release
	Rollout string `json:"rollout,omitempty"` // none where it was published before
	// Again says that it was published before and nothing has changed but that the hub has its pieces now; Newest, that it is
	// the newest of those that are published.
	Again   bool              `json:"again,omitempty"`
	Newest  bool              `json:"newest,omitempty"`
	Lacking []rollout.Release `json:"lacking"` // that kiosks might show if the hub had all of them
}

// tellKnown answers who hands over a release that was published before.
func (h *Hub) tellKnown(c *fiber.Ctx, known *content.KnownError) error {
	if err := h.content.Whole(known.Release); err != nil {
		return refusePublish(err)
	}
	_, lacking, err := h.releases()
	if err != nil {
		return err
	}
	return c.JSON(published{
		Release: rollout.Release{ID: known.Release.ReleaseID, Number: known.Release.Number},
		Again:   true, Newest: known.Newest, Lacking: releaseNames(lacking),
	})
}

// refusePublish turns what an author can do something about into an answer.
func refusePublish(err error) error {
	for _, plain := range []error{content.ErrOtherKeys, content.ErrOtherHub} {
		if errors.Is(err, plain) {
			return fiber.NewError(fiber.StatusConflict, plain.Error())
		}
	}
	if trust.Code(err) != "" || errors.Is(err, content.ErrIncomplete) {
		return fiber.NewError(fiber.StatusConflict, err.Error())
	}
	return err
}
