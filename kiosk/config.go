package kiosk

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"time"

	"docent/agent"
	"docent/agent/memory"
	"docent/agent/web"
	"docent/hardware/display"
	"docent/internal/settings"
	"docent/sync/outbox"
	"docent/sync/wire"
	"docent/vision/camera"
	"docent/vision/label"
)

// Config is everything a person can set about a kiosk. [DefaultConfig] is what holds where nothing is set;
// [settings.Load] reads a file and the environment.
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

	Camera  CameraConfig  `koanf:"camera"`
	Screen  ScreenConfig  `koanf:"screen"`
	Labels  LabelsConfig  `koanf:"labels"`
	Visit   VisitConfig   `koanf:"visit"`
	Model   ModelConfig   `koanf:"model"`
	Search  SearchConfig  `koanf:"search"`
	Hub     HubConfig     `koanf:"hub"`
	Outbox  OutboxConfig  `koanf:"outbox"`
	Content ContentConfig `koanf:"content"`
	Limits  LimitsConfig  `koanf:"limits"`
	Staff   StaffConfig   `koanf:"staff"`
	Trace   TraceConfig   `koanf:"trace"`
	Web     WebConfig     `koanf:"web"`
	Phone   PhoneConfig   `koanf:"phone"`
	// TakeAlong is the address of the house's page about an exhibit, with {exhibit} and {language} in it, for the code
	// that visitors take along. Without one the code holds the label itself.
	TakeAlong string `koanf:"take_along"`
}

// StaffConfig is about staff that stand before the kiosk.
type StaffConfig struct {
	// PIN opens the diagnostics page, 4 to 12 digits. Without one, it cannot be opened.
	PIN settings.Secret `koanf:"pin"`
}

// PhoneConfig is about visitors' phones on the local network.
type PhoneConfig struct {
	// URL is where phones reach this kiosk, such as http://192.168.1.20:8080. Without one it is where the kiosk listens,
	// if that is one address of the network; else photos cannot come from phones.
	URL string `koanf:"url"`
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

// ScreenConfig is about the display and the browser on it.
type ScreenConfig struct {
	// DevTools is where the browser on the screen offers its DevTools, HOST:PORT of this machine, for pictures of what the
	// screen shows. Whoever runs programs on this machine can then drive that browser.
	DevTools string `koanf:"devtools"`
}

// LabelsConfig says whether labels are read where a picture alone is not recognised. That needs the tesseract program.
type LabelsConfig struct {
	Read bool `koanf:"read"`
	// Timeout is how long reading may take; a visitor waits.
	Timeout time.Duration `koanf:"timeout"`
}

// VisitConfig bounds a visit.
type VisitConfig struct {
	// TTL is how long a visit lives after it was last used. The page ends it long before; this is for pages that went
	// away.
	TTL time.Duration `koanf:"ttl"`
	// Idle is how long nobody touches the screen before the page asks whether anyone is there.
	Idle time.Duration `koanf:"idle"`
	// Keep is how long anything a visitor said about themselves is kept at most, even where the visit goes on.
	Keep time.Duration `koanf:"keep"`
	// KeepForgotten is how long the kiosk knows that a visit was forgotten, to drop what comes late from elsewhere.
	KeepForgotten time.Duration `koanf:"keep_forgotten"`
	// Talk is what is kept of the questions and answers: none, window (the last turns) or summary (the last turns,
	// and a summary of those before).
	Talk string `koanf:"talk"`
	// Turns is how many whole turns are kept, 5 to 10.
	Turns int `koanf:"turns"`
	// PassDays is how many days a pass holds that a visitor wants for longer than the day, 2 to 30.
	PassDays int `koanf:"pass_days"`
}

func (v VisitConfig) talk() memory.Policy {
	return memory.Policy{Strategy: memory.Strategy(v.Talk), Turns: v.Turns}
}

// ModelConfig names an OpenAI-compatible server that writes answers. Without one the guide chooses sentences of the
// gallery's own texts.
type ModelConfig struct {
	BaseURL string          `koanf:"base_url"`
	Key     settings.Secret `koanf:"key"`
	Name    string          `koanf:"name"`
	// FirstTokenTimeout is how long the server may take to begin before the gallery's own sentences take over.
	FirstTokenTimeout time.Duration `koanf:"first_token_timeout"`
	// AnswerTimeout is how long all may take that one question asks of the server.
	AnswerTimeout time.Duration `koanf:"answer_timeout"`
	// PriceIn and PriceOut are what a million tokens cost, in any one currency; they are for the traces.
	PriceIn  float64 `koanf:"price_in"`
	PriceOut float64 `koanf:"price_out"`
}

// HubConfig names the hub. Without one, events wait in the outbox.
type HubConfig struct {
	// Broker is tls://HOST:PORT. (In the demo it is tcp://HOST:PORT on this machine.)
	Broker string `koanf:"broker"`
	// Enrol is tls://HOST:PORT of the hub itself, where kiosks connect to a broker beside it; empty: the same as Broker.
	Enrol string `koanf:"enrol"`
	// Fingerprint of the hub, as it logs it when it starts. Without one the kiosk trusts the first hub that answers, and
	// shows its fingerprint to staff until they authorise the kiosk.
	Fingerprint string `koanf:"fingerprint"`
	// Root is a file of root metadata, "1.root.json" of the folder of signing keys. With it the kiosk follows the
	// releases that the hub publishes; without it, it shows Release for good.
	Root string `koanf:"root"`
}

// OutboxConfig bounds the events that wait for the hub.
type OutboxConfig struct {
	// MaxMiB is how much they may take up; the disk holds up to five times that for a while.
	MaxMiB int `koanf:"max_mib"`
	// OnFull is reject_new (nothing new is remembered until there is room) or drop_oldest (the oldest make room, and the
	// hub is told which).
	OnFull string `koanf:"on_full"`
}

// LimitsConfig bounds what the kiosk spends at once.
type LimitsConfig struct {
	Recognitions int `koanf:"recognitions"` // photos at once; the next waits a little, then is told "busy"
	Answers      int `koanf:"answers"`      // answers at once
	// QuestionsPerMinute are answered within any minute; the next one is told to wait. Explanations are not counted.
	QuestionsPerMinute int `koanf:"questions_per_minute"`
	PictureCacheMiB    int `koanf:"picture_cache_mib"` // scaled pictures of the release, in memory
	PhotoMiB           int `koanf:"photo_mib"`         // visitors' photos, in memory
}

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
		Labels:   LabelsConfig{Read: true, Timeout: label.DefaultTimeout},
		Visit:    VisitConfig{TTL: 30 * time.Minute, Idle: time.Minute, Keep: 24 * time.Hour, KeepForgotten: 7 * 24 * time.Hour, PassDays: 7, Talk: string(memory.StrategySummary), Turns: memory.DefaultTurns},
		Model:    ModelConfig{FirstTokenTimeout: agent.DefaultFirstTokenTimeout, AnswerTimeout: agent.DefaultAnswerTimeout},
		Trace:    TraceConfig{Days: 14},
		Web:      WebConfig{Pages: []string{}, Hosts: []string{}, Timeout: web.DefaultTimeout},
		Content:  defaultContent(),
		Outbox:   OutboxConfig{MaxMiB: 1024, OnFull: string(outbox.RejectNew)},
		Limits:   LimitsConfig{Recognitions: 2, Answers: 8, QuestionsPerMinute: 20, PictureCacheMiB: 64, PhotoMiB: 64},
	}
}

// Validate checks all values and names every one that will not do, as a [*settings.Error].
func (c Config) Validate() error {
	var p settings.Problems
	if err := wire.ValidName(c.Site); err != nil {
		p.Add("site", err.Error())
	}
	if err := wire.ValidName(c.Kiosk); err != nil {
		p.Add("kiosk", err.Error())
	}
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		p.Add("listen", fmt.Sprintf("%q is not HOST:PORT", c.Listen))
	}
	p.Need("data_dir", c.DataDir)
	p.Need("release", c.Release)
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.LogLevel) {
		p.Add("log_level", fmt.Sprintf("%q is none of debug, info, warn, error", c.LogLevel))
	}
	if c.Camera.Source != "" {
		if err := camera.Check(c.Camera.Source); err != nil {
			p.Add("camera.source", err.Error())
		}
	}
	settings.Within(&p, "camera.width", c.Camera.Width, 160, 7680)
	settings.Within(&p, "camera.height", c.Camera.Height, 120, 4320)
	settings.Within(&p, "camera.frame_rate", c.Camera.FrameRate, 1, 120)
	settings.Within(&p, "camera.dwell", c.Camera.Dwell, time.Second, time.Hour)
	settings.Within(&p, "camera.burst", c.Camera.Burst, 1, 10)
	if c.Screen.DevTools != "" {
		if err := display.CheckDevTools(c.Screen.DevTools); err != nil {
			p.Add("screen.devtools", err.Error())
		}
	}
	settings.Within(&p, "labels.timeout", c.Labels.Timeout, 200*time.Millisecond, 15*time.Second)
	settings.Within(&p, "visit.ttl", c.Visit.TTL, time.Minute, 24*time.Hour)
	settings.Within(&p, "visit.idle", c.Visit.Idle, 20*time.Second, time.Hour) // WCAG 2.2.1 asks for 20 s of warning
	settings.Within(&p, "visit.keep", c.Visit.Keep, time.Hour, 31*24*time.Hour)
	settings.Within(&p, "visit.keep_forgotten", c.Visit.KeepForgotten, time.Hour, 366*24*time.Hour)
	settings.Within(&p, "visit.pass_days", c.Visit.PassDays, 2, 30)
	if !slices.Contains([]memory.Strategy{memory.StrategyNone, memory.StrategyWindow, memory.StrategySummary}, memory.Strategy(c.Visit.Talk)) {
		p.Add("visit.talk", fmt.Sprintf("%q is none of none, window, summary", c.Visit.Talk))
	}
	settings.Within(&p, "visit.turns", c.Visit.Turns, memory.MinTurns, memory.MaxTurns)
	if c.Model.BaseURL != "" {
		if u, err := url.Parse(c.Model.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			p.Add("model.base_url", "is not an http or https address")
		}
		p.Need("model.name", c.Model.Name)
	}
	c.Search.validate(&p)
	settings.Within(&p, "model.first_token_timeout", c.Model.FirstTokenTimeout, 100*time.Millisecond, time.Minute)
	settings.Within(&p, "model.answer_timeout", c.Model.AnswerTimeout, time.Second, 5*time.Minute)
	settings.Within(&p, "model.price_in", c.Model.PriceIn, 0, 1e6)
	settings.Within(&p, "model.price_out", c.Model.PriceOut, 0, 1e6)
	settings.Within(&p, "trace.days", c.Trace.Days, 0, 366)
	c.Web.validate(&p)
	if c.Hub.Broker != "" {
		if u, err := url.Parse(c.Hub.Broker); err != nil || u.Port() == "" || u.Scheme != "tls" && u.Scheme != "tcp" {
			p.Add("hub.broker", "is not tls://HOST:PORT, or tcp://HOST:PORT on this machine")
		}
	}
	if c.Hub.Enrol != "" {
		if u, err := url.Parse(c.Hub.Enrol); err != nil || u.Port() == "" || u.Scheme != "tls" {
			p.Add("hub.enrol", "is not tls://HOST:PORT")
		}
	}
	if c.Hub.Fingerprint != "" {
		if _, err := wire.ParseFingerprint(c.Hub.Fingerprint); err != nil {
			p.Add("hub.fingerprint", "is not the 64 digits 0-9 a-f that the hub logs")
		}
	}
	c.Content.validate(&p)
	settings.Within(&p, "outbox.max_mib", c.Outbox.MaxMiB, 1, 1<<20)
	if !slices.Contains([]outbox.OnFull{outbox.RejectNew, outbox.DropOldest}, outbox.OnFull(c.Outbox.OnFull)) {
		p.Add("outbox.on_full", fmt.Sprintf("%q is neither %s nor %s", c.Outbox.OnFull, outbox.RejectNew, outbox.DropOldest))
	}
	if pin := c.Staff.PIN.Reveal(); pin != "" {
		if err := validPIN(pin); err != nil {
			p.Add("staff.pin", err.Error())
		}
	}
	if c.Phone.URL != "" {
		if err := validPhoneURL(c.Phone.URL); err != nil {
			p.Add("phone.url", err.Error())
		}
	}
	if c.TakeAlong != "" {
		if err := validTakeAlong(c.TakeAlong); err != nil {
			p.Add("take_along", err.Error())
		}
	}
	settings.Within(&p, "limits.recognitions", c.Limits.Recognitions, 1, 64)
	settings.Within(&p, "limits.answers", c.Limits.Answers, 1, 1024)
	settings.Within(&p, "limits.questions_per_minute", c.Limits.QuestionsPerMinute, 1, 100_000)
	settings.Within(&p, "limits.picture_cache_mib", c.Limits.PictureCacheMiB, 1, 4096)
	settings.Within(&p, "limits.photo_mib", c.Limits.PhotoMiB, 1, 4096)
	return p.Err()
}
