package kiosk

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"docent/sync/wire"
	"docent/vision/camera"
)

// Config is everything a person can set about a kiosk. [DefaultConfig] is what holds where nothing is set;
// [LoadConfig] reads a file and the environment.
type Config struct {
	// Site and Kiosk name this kiosk to the hub, in lower case letters, digits and dashes. Kiosk is also looked up
	// in the gallery's list of kiosks, for "you are here".
	Site  string `koanf:"site"`
	Kiosk string `koanf:"kiosk"`
	// Listen is the address of the visitor's page. Only this machine can reach the default.
	Listen string `koanf:"listen"`
	// DataDir holds visits and the events that the hub has not confirmed.
	DataDir string `koanf:"data_dir"`
	// Release is the folder of the content release to show.
	Release string `koanf:"release"`
	// LogLevel is debug, info, warn or error.
	LogLevel string `koanf:"log_level"`

	Camera CameraConfig `koanf:"camera"`
	Visit  VisitConfig  `koanf:"visit"`
	Model  ModelConfig  `koanf:"model"`
	Hub    HubConfig    `koanf:"hub"`
	Limits LimitsConfig `koanf:"limits"`
}

// CameraConfig says where pictures come from.
type CameraConfig struct {
	// Source is a device (0, /dev/video0), a stream (rtsp://…, http://…), a video file or a folder of pictures.
	// Empty means a kiosk without a camera.
	Source string `koanf:"source"`
	// Width, Height (pixels) and FrameRate (per second) are asked of a camera; it may give others.
	Width     int     `koanf:"width"`
	Height    int     `koanf:"height"`
	FrameRate float64 `koanf:"frame_rate"`
	// Dwell is how long a folder shows each picture.
	Dwell time.Duration `koanf:"dwell"`
	// Burst is how many frames a photo is the sharpest of, 1 to 10.
	Burst int `koanf:"burst"`
}

// VisitConfig bounds a visit.
type VisitConfig struct {
	// TTL is how long a visit lives after it was last used. The page ends it long before; this is for pages that went
	// away.
	TTL time.Duration `koanf:"ttl"`
	// Idle is how long nobody touches the screen before the page asks whether anyone is there.
	Idle time.Duration `koanf:"idle"`
}

// ModelConfig names an OpenAI-compatible server that writes answers. Without one the guide chooses sentences of the
// gallery's own texts.
type ModelConfig struct {
	BaseURL string `koanf:"base_url"`
	Key     Secret `koanf:"key"`
	Name    string `koanf:"name"`
	// FirstTokenTimeout is how long the server may take to begin before the gallery's own sentences take over.
	FirstTokenTimeout time.Duration `koanf:"first_token_timeout"`
}

// HubConfig names the hub. Without one, events wait in the outbox.
type HubConfig struct {
	// Broker is tls://HOST:PORT, or tcp://HOST:PORT on this machine.
	Broker string `koanf:"broker"`
}

// LimitsConfig bounds what the kiosk spends at once.
type LimitsConfig struct {
	Recognitions    int `koanf:"recognitions"`      // photos at once; the next waits a little, then is told "busy"
	Answers         int `koanf:"answers"`           // answers at once
	PictureCacheMiB int `koanf:"picture_cache_mib"` // scaled pictures of the release, in memory
	PhotoMiB        int `koanf:"photo_mib"`         // visitors' photos, in memory
}

// Secret is a text that is not printed.
type Secret string

const hidden = "(hidden)"

// String hides the secret; an empty one stays empty.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// GoString hides the secret from %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalText hides the secret from encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue hides the secret from logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// DefaultConfig is a kiosk without camera, model and hub that only this machine can reach.
func DefaultConfig() Config {
	return Config{
		Site:     "site",
		Kiosk:    "kiosk",
		Listen:   "127.0.0.1:8080",
		DataDir:  "/var/lib/docent",
		Release:  "/var/lib/docent/release",
		LogLevel: "info",
		Camera:   CameraConfig{Width: 1280, Height: 720, FrameRate: 15, Dwell: 8 * time.Second, Burst: 5},
		Visit:    VisitConfig{TTL: 30 * time.Minute, Idle: time.Minute},
		Model:    ModelConfig{FirstTokenTimeout: 4 * time.Second},
		Limits:   LimitsConfig{Recognitions: 2, Answers: 8, PictureCacheMiB: 64, PhotoMiB: 64},
	}
}

// ConfigError lists everything that is wrong with a configuration, each with the path of its key.
type ConfigError struct{ Problems []string }

func (e *ConfigError) Error() string {
	return "configuration: " + strings.Join(e.Problems, "; ")
}

// Validate checks all values and names every one that will not do, as a [*ConfigError].
func (c Config) Validate() error {
	var p problems
	if err := wire.ValidName(c.Site); err != nil {
		p.add("site", err.Error())
	}
	if err := wire.ValidName(c.Kiosk); err != nil {
		p.add("kiosk", err.Error())
	}
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		p.add("listen", fmt.Sprintf("%q is not HOST:PORT", c.Listen))
	}
	p.need("data_dir", c.DataDir)
	p.need("release", c.Release)
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.LogLevel) {
		p.add("log_level", fmt.Sprintf("%q is none of debug, info, warn, error", c.LogLevel))
	}
	if c.Camera.Source != "" {
		if err := camera.Check(c.Camera.Source); err != nil {
			p.add("camera.source", err.Error())
		}
	}
	within(&p, "camera.width", c.Camera.Width, 160, 7680)
	within(&p, "camera.height", c.Camera.Height, 120, 4320)
	within(&p, "camera.frame_rate", c.Camera.FrameRate, 1, 120)
	within(&p, "camera.dwell", c.Camera.Dwell, time.Second, time.Hour)
	within(&p, "camera.burst", c.Camera.Burst, 1, 10)
	within(&p, "visit.ttl", c.Visit.TTL, time.Minute, 24*time.Hour)
	within(&p, "visit.idle", c.Visit.Idle, 20*time.Second, time.Hour) // WCAG 2.2.1 asks for 20 s of warning
	if c.Model.BaseURL != "" {
		if u, err := url.Parse(c.Model.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			p.add("model.base_url", "is not an http or https address")
		}
		p.need("model.name", c.Model.Name)
	}
	within(&p, "model.first_token_timeout", c.Model.FirstTokenTimeout, 100*time.Millisecond, time.Minute)
	if c.Hub.Broker != "" {
		if u, err := url.Parse(c.Hub.Broker); err != nil || u.Port() == "" || u.Scheme != "tls" && u.Scheme != "tcp" {
			p.add("hub.broker", "is not tls://HOST:PORT, or tcp://HOST:PORT on this machine")
		}
	}
	within(&p, "limits.recognitions", c.Limits.Recognitions, 1, 64)
	within(&p, "limits.answers", c.Limits.Answers, 1, 1024)
	within(&p, "limits.picture_cache_mib", c.Limits.PictureCacheMiB, 1, 4096)
	within(&p, "limits.photo_mib", c.Limits.PhotoMiB, 1, 4096)
	return p.err()
}

// problems collects what is wrong, each with its key.
type problems []string

func (p *problems) add(key, what string) { *p = append(*p, key+": "+what) }

func (p *problems) need(key, value string) {
	if value == "" {
		p.add(key, "is missing")
	}
}

func within[T int | float64 | time.Duration](p *problems, key string, v, least, most T) {
	if !(v >= least && v <= most) { // also true of NaN
		p.add(key, fmt.Sprintf("%v is not within %v to %v", v, least, most))
	}
}

func (p problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return &ConfigError{Problems: p}
}

// join puts the problems of several errors into one; other errors are returned as they are.
func join(errs ...error) error {
	var all problems
	for _, err := range errs {
		var c *ConfigError
		switch {
		case err == nil:
		case errors.As(err, &c):
			all = append(all, c.Problems...)
		default:
			return err
		}
	}
	return all.err()
}
