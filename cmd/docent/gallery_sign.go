package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"docent/localindex/release"
	"docent/sync/hub/rollout"
	"docent/sync/update/bundle"
	"docent/sync/update/trust"
)

type gallerySignCmd struct {
	Release string `arg:"" type:"existingdir" help:"Folder of the release, as gallery build made it."`
	Keys    string `required:"" help:"Folder of the signing keys. Keep it offline and safe; keys are made where there are none." placeholder:"DIR"`
	HubKey  string `help:"File with the hub's public key, from its page's /api/v1/content/key; needed the first time." type:"existingfile" placeholder:"FILE"`
	Only    bool   `help:"Let kiosks show no other release. Without it the one signed before may still be shown, so that there is one to go back to."`
	Rotate  bool   `help:"Make new signing keys first. Kiosks follow by themselves."`
	Out     string `required:"" help:"Folder to write the signed release to." placeholder:"BUNDLE"`
}

func (c gallerySignCmd) Run(ctx context.Context, t *terminal) error {
	if _, err := os.Stat(filepath.Join(c.Release, release.ManifestFile)); errors.Is(err, fs.ErrNotExist) {
		return usageError{fmt.Errorf("%s is no release: give the folder that docent gallery build wrote, such as my-gallery/releases/1", c.Release)}
	}
	m, err := release.Verify(ctx, c.Release) // before anything is made: what is damaged leaves nothing behind
	if err != nil {
		return err
	}
	var hub ed25519.PublicKey
	if c.HubKey != "" {
		data, err := os.ReadFile(c.HubKey)
		if err != nil {
			return fmt.Errorf("read the hub's key: %w", err)
		}
		if hub, err = trust.ReadPublic(data); err != nil {
			return fmt.Errorf("read the hub's key %s: %w", c.HubKey, err)
		}
	}
	had, err := c.hasKeys()
	if err != nil {
		return err
	}
	author, err := trust.OpenAuthor(c.Keys, hub, time.Now)
	if err != nil {
		return err
	}
	if err := newestOf(author, m); err != nil {
		return err
	}
	if c.Rotate {
		if err := author.Rotate(); err != nil {
			return err
		}
	}
	x, data, err := bundle.Write(ctx, c.Release, c.Out)
	if err != nil {
		return err
	}
	sign := author.Sign
	if c.Only {
		sign = author.SignOnly
	}
	files, err := sign(data, x.ReleaseID, x.Number)
	if err != nil {
		return err
	}
	dir := filepath.Join(c.Out, "metadata")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write signed release: %w", err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return fmt.Errorf("write signed release: %w", err)
		}
	}
	if !had {
		if _, err := fmt.Fprintf(t.out, "New signing keys are in %s. Kiosks trust these alone: keep them safe.\n", c.Keys); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(t.out, "Release %s is signed. Next: docent gallery publish %s --hub http://…\nKiosks trust it by hub.root: %s\n",
		x.ReleaseID, c.Out, filepath.Join(c.Keys, "metadata", "1.root.json"))
	return err
}

// hasKeys tells whether there are keys, and refuses a folder without them unless they are to be made there. It makes nothing.
func (c gallerySignCmd) hasKeys() (bool, error) {
	_, err := os.Stat(filepath.Join(c.Keys, "metadata", "1.root.json"))
	switch {
	case err == nil:
		return true, nil
	case !errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("signing keys: %w", err)
	case c.HubKey == "":
		return false, usageError{fmt.Errorf("no keys in %s; is that the folder? For the first time add --hub-key hub.pem", c.Keys)}
	}
	return false, nil
}

// newestOf refuses a release with a lower number than one that was signed: kiosks would never go to it.
func newestOf(author *trust.Author, m release.Manifest) error {
	last, err := author.Last()
	if err != nil || len(last) == 0 {
		return err
	}
	if newest := last[len(last)-1]; m.Number < newest.Number {
		return usageError{fmt.Errorf("release %s is lower than %s, which is signed already: build it again with --number %d, or, where it was published, docent rollout start --number %d",
			m.ID, newest.ReleaseID, newest.Number+1, m.Number)}
	}
	return nil
}

type galleryPublishCmd struct {
	asked
	rolloutPlan
	Bundle string `arg:"" type:"existingdir" help:"Folder that gallery sign wrote."`
}

func (c galleryPublishCmd) Run(ctx context.Context, t *terminal) error {
	plan, err := c.plan()
	if err != nil {
		return err
	}
	objects, err := os.ReadDir(filepath.Join(c.Bundle, "objects"))
	if errors.Is(err, fs.ErrNotExist) {
		return usageError{fmt.Errorf("%s is no signed release: give the folder that docent gallery sign --out wrote", c.Bundle)}
	}
	if err != nil {
		return fmt.Errorf("read signed release: %w", err)
	}
	var names []string
	for _, o := range objects {
		if filepath.Ext(o.Name()) == "" {
			names = append(names, o.Name())
		}
	}
	h := c.hubPage
	var lacks struct {
		Missing []string `json:"missing"`
	}
	if err := h.send(ctx, http.MethodPost, "/content/missing", map[string]any{"objects": names}, &lacks); err != nil {
		return err
	}
	sent := int64(0)
	for _, name := range lacks.Missing {
		data, err := os.ReadFile(filepath.Join(c.Bundle, "objects", filepath.Base(name)))
		if err != nil {
			return fmt.Errorf("read signed release: %w", err)
		}
		if err := h.send(ctx, http.MethodPut, "/content/objects/"+name, data, nil); err != nil {
			return err
		}
		sent += int64(len(data))
	}
	files, err := readMetadata(filepath.Join(c.Bundle, "metadata"))
	if err != nil {
		return err
	}
	var published publishedRelease
	in := map[string]any{"files": files, "by": c.by()}
	if plan != nil {
		in["rollout"] = plan
	}
	if err := h.send(ctx, http.MethodPost, "/content/release", in, &published); err != nil {
		return err
	}
	if published.Again {
		return c.again(t, published, len(lacks.Missing))
	}
	who := "Kiosks show it"
	if plan != nil {
		who = "The kiosks of its first group show it"
	}
	_, err = fmt.Fprintf(t.out, "Release %s is published: %s sent, %d kB. %s as soon as nobody is there. How far it is: %s\n",
		published.ID, count(len(lacks.Missing), "object"), sent/1000, who, c.next("docent rollout show "+published.Rollout))
	if err != nil || len(published.Lacking) == 0 {
		return err
	}
	_, err = fmt.Fprintf(t.out, "Note: this hub does not have release %s: there is nothing to go back to. If you have its bundle: %s\n",
		numbers(published.Lacking), c.next("docent gallery publish BUNDLE"))
	return err
}

// publishedRelease is the hub's answer about a release that was handed over.
type publishedRelease struct {
	rollout.Release
	Rollout string            `json:"rollout"`
	Again   bool              `json:"again"`  // it was published before
	Newest  bool              `json:"newest"` // of those that are published
	Lacking []rollout.Release `json:"lacking"`
}

// again tells of a release that was published before, of which the hub lacked some objects or none.
func (c galleryPublishCmd) again(t *terminal, p publishedRelease, lacked int) error {
	start := "docent rollout start"
	if !p.Newest {
		start += fmt.Sprintf(" --number %d", p.Number)
	}
	if lacked == 0 {
		return fmt.Errorf("release %s is already published; to roll it out again: %s", p.ID, c.next(start))
	}
	_, err := fmt.Fprintf(t.out, "Release %s was published before; its pieces are here now. To roll it out: %s\n", p.ID, c.next(start))
	return err
}

// readMetadata reads the roots of a signed release and its newest targets: a folder that was signed into several times
// holds older ones.
func readMetadata(dir string) (map[string][]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read signed release: %w", err)
	}
	files := map[string][]byte{}
	newest := 0
	for _, e := range entries {
		var version int
		var role string
		if _, err := fmt.Sscanf(e.Name(), "%d.%s", &version, &role); err != nil || role == "targets.json" && version < newest {
			continue
		}
		if role == "targets.json" {
			delete(files, fmt.Sprintf("%d.targets.json", newest))
			newest = version
		}
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			return nil, fmt.Errorf("read signed release: %w", err)
		}
	}
	return files, nil
}
