package kiosk

import (
	"fmt"
	"path/filepath"

	"docent/internal/settings"
	"docent/sync/update/limit"
	"docent/sync/update/mirror"
)

// ContentConfig says how new content comes to the kiosk, where hub.root is set.
type ContentConfig struct {
	// MaxKbitS is how much of the line content may take, from hub and mirror together, in 1,000 bits a second; 0 is
	// without bound.
	MaxKbitS int `koanf:"max_kbit_s"`
	// Hours are when it may come over the line, such as 22:00-06:00, by this machine's time zone; empty is any time.
	Hours string `koanf:"hours"`
	// Mirror is a web server's folder with the hub's content, https://HOST/PATH, which is asked before the hub.
	Mirror string `koanf:"mirror"`
	// MirrorCA is a file of the only certificates that the mirror's may be signed with; empty is those of the system.
	MirrorCA string `koanf:"mirror_ca"`
	// StickFolders are where sticks are mounted; none looks at no sticks.
	StickFolders []string `koanf:"stick_folders"`
}

// defaultContent looks where Linux mounts sticks.
func defaultContent() ContentConfig {
	return ContentConfig{StickFolders: []string{"/media", "/run/media"}}
}

// validate names every value that will not do.
func (c ContentConfig) validate(p *settings.Problems) {
	if c.MaxKbitS != 0 {
		settings.Within(p, "content.max_kbit_s", c.MaxKbitS, 16, 10_000_000)
	}
	if _, err := limit.ParseHours(c.Hours); err != nil {
		p.Add("content.hours", err.Error())
	}
	if c.Mirror != "" {
		if err := mirror.Check(c.Mirror); err != nil {
			p.Add("content.mirror", err.Error())
		}
		if err := mirror.CheckCA(c.MirrorCA); err != nil {
			p.Add("content.mirror_ca", err.Error())
		}
	} else if c.MirrorCA != "" {
		p.Add("content.mirror_ca", "is of use with content.mirror only")
	}
	if len(c.StickFolders) > 16 {
		p.Add("content.stick_folders", "names more than 16 folders")
	}
	for _, dir := range c.StickFolders {
		if !filepath.IsAbs(dir) || filepath.Clean(dir) == "/" {
			p.Add("content.stick_folders", fmt.Sprintf("%q is not the path of a folder below /", dir))
		}
	}
}
