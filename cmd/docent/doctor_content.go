package main

import (
	"context"
	"fmt"
	"os"
	"strings"

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
	c, err := m.Fetch(ctx, wire.Fetch{Name: "timestamp.json", Length: trust.MaxTimestamp})
	switch {
	case err != nil:
		return note(name, err.Error(), "The kiosk fetches from the hub meanwhile. See the address, the server and its certificate.")
	case c.Error != "":
		return note(name, d.config.Content.Mirror+" answers, but has no metadata/timestamp.json", "Write it: docent gallery mirror FOLDER; and see that the address names that folder.")
	}
	return found(name, d.config.Content.Mirror+" answers and has content")
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
