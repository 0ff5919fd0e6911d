package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"docent/sync/update/mirror"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// content goes the ways that releases come: the root of trust, the mirror, the folders of sticks.
func (d doctor) content(ctx context.Context) []finding {
	if d.config.Hub.Root == "" {
		return nil
	}
	findings := []finding{d.root()}
	if d.config.Content.Mirror != "" {
		findings = append(findings, d.mirror(ctx))
	}
	if folders := d.config.Content.StickFolders; len(folders) > 0 {
		findings = append(findings, sticks(folders))
	}
	return findings
}

func (d doctor) root() finding {
	const name = "Root of trust"
	data, err := os.ReadFile(d.config.Hub.Root)
	if err != nil {
		return missing(name, err.Error(), "Copy metadata/1.root.json from the folder of the signing keys, and name it as hub.root.")
	}
	if err := trust.CheckRoot(data); err != nil {
		return missing(name, fmt.Sprintf("%s: %v", d.config.Hub.Root, err), "Copy metadata/1.root.json from the folder of the signing keys again.")
	}
	return found(name, d.config.Hub.Root)
}

func (d doctor) mirror(ctx context.Context) finding {
	const name = "Mirror"
	m, err := mirror.New(mirror.Options{URL: d.config.Content.Mirror, CA: d.config.Content.MirrorCA})
	if err != nil {
		return missing(name, err.Error(), "See content.mirror and content.mirror_ca.")
	}
	defer m.Close()
	const again = "Write it: docent gallery mirror FOLDER; and see that the address names that folder."
	c, err := m.Fetch(ctx, wire.Fetch{Name: "timestamp.json", Length: trust.MaxTimestamp})
	switch {
	case err != nil:
		return note(name, err.Error(), "The kiosk fetches from the hub meanwhile. See the address, the server and its certificate.")
	case c.Error != "":
		return note(name, d.config.Content.Mirror+" answers, but has no metadata/timestamp.json", again)
	}
	until, err := runsOut(c)
	switch {
	case err != nil:
		return note(name, d.config.Content.Mirror+" answers, but what it gives as metadata/timestamp.json is none: "+err.Error(), again)
	case !time.Now().Before(until):
		return note(name, d.config.Content.Mirror+" has content, whose metadata ran out on "+until.Local().Format("2006-01-02 15:04"),
			"Run docent gallery mirror FOLDER again, at least once a week: a kiosk without a hub takes nothing from it until then.")
	}
	return found(name, d.config.Content.Mirror+" answers and has content, until "+until.Local().Format("2006-01-02 15:04"))
}

// runsOut is when a timestamp.json does. Who signed it, a kiosk checks.
func runsOut(c wire.Chunk) (time.Time, error) {
	var timestamp struct {
		Signed struct {
			Type    string    `json:"_type"`
			Expires time.Time `json:"expires"`
		} `json:"signed"`
	}
	switch {
	case c.Size != int64(len(c.Data)):
		return time.Time{}, fmt.Errorf("it has %d bytes", c.Size)
	case json.Unmarshal(c.Data, &timestamp) != nil:
		return time.Time{}, fmt.Errorf("it begins with %.20q", c.Data)
	case timestamp.Signed.Type != "timestamp" || timestamp.Signed.Expires.IsZero():
		return time.Time{}, errors.New("it is other JSON")
	}
	return timestamp.Signed.Expires, nil
}

func sticks(folders []string) finding {
	const name = "Sticks"
	var there []string
	for _, dir := range folders {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			there = append(there, dir)
		}
	}
	if len(there) == 0 {
		return note(name, "none of "+strings.Join(folders, ", ")+" is there", "See content.stick_folders; docs/content-delivery.md says how sticks are mounted.")
	}
	return found(name, "looked for in "+strings.Join(there, " and "))
}
