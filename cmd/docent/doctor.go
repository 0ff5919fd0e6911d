package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"gocv.io/x/gocv"

	"docent/hardware"
	"docent/kiosk"
	"docent/kiosk/speech"
	"docent/localindex"
	"docent/ui"
	"docent/vision"
	"docent/vision/camera"
	"docent/vision/label"
)

type doctorCmd struct {
	Config string `help:"YAML file of the kiosk's settings; without one, what a kiosk does by default." type:"existingfile" placeholder:"FILE"`
	JSON   string `name:"json" help:"Write the findings to this file, - for standard output." placeholder:"FILE"`
}

// How a check came out.
const (
	wellOK      = "ok"
	wellNote    = "note"    // a kiosk does without, or somebody should know
	wellMissing = "missing" // a kiosk needs it
)

// finding is what a check found, in words for a technician.
type finding struct {
	Name   string `json:"name"`
	Status string `json:"status"` // ok, note or missing
	Detail string `json:"detail"`
	Advice string `json:"advice,omitempty"` // what to do about it
}

// findings is what doctor reports.
type findings struct {
	OK      bool      `json:"ok"` // nothing is missing
	Version string    `json:"version"`
	Checks  []finding `json:"checks"`
}

// errMissing ends a doctor that found something missing; everything about it has been said.
var errMissing = errors.New("this machine is not ready for a kiosk")

func (c doctorCmd) Run(ctx context.Context, t *terminal) error {
	config, err := loadSettings(c.Config, kiosk.DefaultConfig())
	if err != nil {
		return err
	}
	d := doctor{config: config, configured: c.Config != "", sys: os.DirFS("/sys"), log: t}
	report := d.examine(ctx)
	inWords, err := t.report(c.JSON, report)
	if err != nil {
		return err
	}
	if inWords {
		report.print(t)
	}
	if !report.OK {
		return errMissing
	}
	return nil
}

func (r findings) print(t *terminal) {
	fmt.Fprintf(t.out, "Docent %s on this machine\n\n", r.Version)
	missing := 0
	for _, f := range r.Checks {
		mark := map[string]string{wellOK: "ok", wellNote: "note", wellMissing: "MISSING"}[f.Status]
		fmt.Fprintf(t.out, "  %-8s %-15s %s\n", mark, f.Name, f.Detail)
		if f.Advice != "" {
			fmt.Fprintf(t.out, "  %-8s %-15s → %s\n", "", "", f.Advice)
		}
		if f.Status == wellMissing {
			missing++
		}
	}
	switch missing {
	case 0:
		fmt.Fprintln(t.out, "\nEverything that a kiosk needs of this machine is here.")
	case 1:
		fmt.Fprintln(t.out, "\nOne thing is missing; the rest is ready.")
	default:
		fmt.Fprintf(t.out, "\n%d things are missing; the rest is ready.\n", missing)
	}
}

// doctor looks at a machine as a kiosk with these settings would find it.
type doctor struct {
	config     kiosk.Config
	configured bool // the settings were given, so what they name must be there
	sys        fs.FS
	log        *terminal
}

func (d doctor) examine(ctx context.Context) findings {
	r := findings{OK: true, Version: version()}
	running := d.running(ctx)
	for _, check := range []func(context.Context) finding{
		d.openCV, d.page, d.release, func(ctx context.Context) finding { return d.camera(ctx, running) }, d.labels, d.voice, d.model, d.disk,
		func(ctx context.Context) finding { return d.port(running) }, d.brightness, d.screenshot,
	} {
		r.Checks = append(r.Checks, check(ctx))
	}
	r.Checks = append(r.Checks, d.hub(ctx, running)...)
	r.Checks = append(r.Checks, d.content(ctx)...)
	r.Checks = append(r.Checks, d.clock(ctx))
	r.OK = !slices.ContainsFunc(r.Checks, func(f finding) bool { return f.Status == wellMissing })
	return r
}

func found(name, detail string) finding { return finding{Name: name, Status: wellOK, Detail: detail} }

func note(name, detail, advice string) finding {
	return finding{Name: name, Status: wellNote, Detail: detail, Advice: advice}
}

func missing(name, detail, advice string) finding {
	return finding{Name: name, Status: wellMissing, Detail: detail, Advice: advice}
}

func (d doctor) openCV(context.Context) finding {
	v := gocv.OpenCVVersion()
	detail := fmt.Sprintf("%s, on %d processors", v, runtime.NumCPU())
	if !strings.HasPrefix(v, "4.6.") {
		return note("OpenCV", detail, "Docent is tested with OpenCV 4.6 of Debian 12.")
	}
	return found("OpenCV", detail)
}

func (d doctor) page(context.Context) finding {
	pages, err := ui.Kiosk()
	if err != nil {
		return missing("Page", err.Error(), "Use a released binary, or build with: make build")
	}
	files := 0
	err = fs.WalkDir(pages, ".", func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files++
		}
		return err
	})
	if err != nil {
		return missing("Page", err.Error(), "")
	}
	return found("Page", fmt.Sprintf("built in, %d files", files))
}

func (d doctor) release(ctx context.Context) finding {
	const name = "Release"
	if _, err := os.Stat(d.config.Release); errors.Is(err, fs.ErrNotExist) {
		if !d.configured {
			return note(name, "none at "+d.config.Release, "Name the kiosk's settings with --config, or pack a release: docent gallery build GALLERY --out "+d.config.Release)
		}
		return missing(name, "none at "+d.config.Release, "Pack one: docent gallery build GALLERY --out "+d.config.Release)
	}
	began := time.Now()
	r, err := localindex.Open(ctx, d.config.Release)
	if err != nil {
		return missing(name, err.Error(), "Copy the release again, whole; every file in it is checked.")
	}
	defer r.Close()
	recogniser, err := vision.Open(r.PartDir(vision.IndexPart{}.Name()), vision.Options{})
	if err != nil {
		return missing(name, err.Error(), "Pack the release again with this version of docent.")
	}
	defer recogniser.Close()
	g, m := r.Gallery(), r.Manifest()
	detail := fmt.Sprintf("%s: %d exhibits, %s, opened in %.1f s", m.ID, len(g.Exhibits), strings.Join(g.Languages, " and "), time.Since(began).Seconds())
	if _, trouble := recogniser.Neural(); trouble != nil {
		return note(name, detail+"; its neural network is not used: "+trouble.Error(), "Exhibits are recognised by their details alone. Pack the release on a machine like this one, or without recognition.neural.")
	}
	o := opened{dir: d.config.Release, release: r, recogniser: recogniser}
	if err := o.tryOut(ctx); err != nil {
		return missing(name, detail+"; but "+err.Error(), "Copy the release again; if that does not help, pack it again with this version of docent.")
	}
	return found(name, detail+"; exhibits are recognised and found")
}

// probeWait is how long a camera may take to give its first picture.
const probeWait = 30 * time.Second

func (d doctor) camera(ctx context.Context, running *runningKiosk) finding {
	const name = "Camera"
	cameras, err := hardware.Cameras(d.sys)
	if err != nil {
		return note(name, err.Error(), "")
	}
	var seen []string
	for _, c := range cameras {
		seen = append(seen, fmt.Sprintf("%s (%s)", c.Device, c.Name))
	}
	there := "found: " + strings.Join(seen, ", ")
	if len(seen) == 0 {
		there = "no camera is plugged in"
	}
	switch source := d.config.Camera.Source; {
	case source == "" && len(seen) > 0:
		return note(name, "none in the settings; "+there, "Set camera.source to one of them.")
	case source == "":
		return note(name, "none in the settings; "+there, "Visitors send photos from their phones, or find exhibits by number and name.")
	case running != nil && running.Camera == "":
		return found(name, shownSource(source)+" is the running kiosk's, which is not ready yet")
	case running != nil && running.Camera == string(camera.StateReady):
		return found(name, shownSource(source)+" is in use by the running kiosk")
	case running != nil:
		return missing(name, fmt.Sprintf("the running kiosk says %s: %s", running.Camera, running.CameraTrouble), cameraAdvice)
	default:
		size, err := d.probe(ctx, source)
		if err != nil {
			return missing(name, fmt.Sprintf("%s: %v; %s", shownSource(source), err, there), cameraAdvice)
		}
		return found(name, fmt.Sprintf("%s gives pictures of %s", shownSource(source), size))
	}
}

const cameraAdvice = "Plug it in again, try another socket and cable, and see that no other program uses it; docs/kiosk.md says more."

// shownSource is a source without the password in its address.
func shownSource(source string) string {
	if u, err := url.Parse(source); err == nil && u.User != nil {
		return u.Redacted()
	}
	return source
}

// probe takes one picture, the way a kiosk does.
func (d doctor) probe(ctx context.Context, source string) (size string, err error) {
	opener, err := camera.NewOpener(source, camera.Settings{
		Width: d.config.Camera.Width, Height: d.config.Camera.Height, FrameRate: d.config.Camera.FrameRate,
	}, cameraProgram, d.log.log)
	if err != nil {
		return "", err
	}
	src, err := opener.Open()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, probeWait)
	defer cancel()
	img := gocv.NewMat()
	defer func() { img.Close() }()
	err = src.Read(ctx, &img)
	if err := errors.Join(err, src.Close()); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d × %d", img.Cols(), img.Rows()), nil
}

func (d doctor) labels(ctx context.Context) finding {
	const name = "Label reading"
	reader, err := label.Find(ctx, d.config.Labels.Timeout)
	switch {
	case errors.Is(err, label.ErrNotInstalled):
		return note(name, "off: "+err.Error(), "Optional: apt-get install tesseract-ocr tesseract-ocr-chi-sim")
	case err != nil:
		return note(name, "off: "+err.Error(), "")
	case !d.config.Labels.Read:
		return note(name, "off in the settings (labels.read)", "")
	}
	detail := "tesseract " + reader.Version()
	if lacks := reader.Missing([]string{"zh", "en"}); len(lacks) > 0 {
		return note(name, detail+", without data for "+strings.Join(lacks, " and "), "Optional: apt-get install tesseract-ocr-chi-sim tesseract-ocr-eng")
	}
	return found(name, detail+", Chinese and English")
}

func (d doctor) voice(context.Context) finding {
	const name = "Voice"
	if spoken := speech.Find().Languages([]string{"zh", "en"}); len(spoken) > 0 {
		return found(name, "espeak-ng, Chinese and English")
	}
	return note(name, "espeak-ng is not installed; texts are read aloud only where the browser has voices", "Optional: apt-get install espeak-ng")
}

// model asks the server that writes answers for anything: any answer says that it is there.
func (d doctor) model(ctx context.Context) finding {
	const name = "Model"
	if d.config.Model.BaseURL == "" {
		return found(name, "none in the settings; the guide answers with sentences of the gallery's own texts")
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(d.config.Model.BaseURL, "/")+"/models", nil)
	if err != nil {
		return missing(name, err.Error(), "")
	}
	if key := string(d.config.Model.Key); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return note(name, "not in reach: "+err.Error(), "The guide answers with sentences of the gallery's own texts until it is.")
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden {
		return note(name, req.URL.Host+" refuses the key: "+res.Status, "See model.key.")
	}
	return found(name, req.URL.Host+" answers")
}

// Disk space that a kiosk wants: below the first it stops writing down visits, and below the second a new release may
// not fit beside the old one.
const (
	leastDisk = 256 << 20
	easyDisk  = 2 << 30
)

func (d doctor) disk(context.Context) finding {
	const name = "Disk"
	if err := hardware.Writable(d.config.DataDir); err != nil {
		status := missing
		if !d.configured {
			status = note
		}
		return status(name, err.Error(), "Give the kiosk's user the folder: install -d -o docent "+d.config.DataDir)
	}
	space, err := hardware.Disk(d.config.DataDir)
	if err != nil {
		return missing(name, err.Error(), "")
	}
	detail := fmt.Sprintf("%s free of %s for %s", gibibytes(space.Free), gibibytes(space.Total), d.config.DataDir)
	switch {
	case space.Free < leastDisk:
		return missing(name, detail, "Make room: visits and events cannot be kept.")
	case space.Free < easyDisk:
		return note(name, detail, "Make room before the next release comes.")
	}
	return found(name, detail)
}

func gibibytes(n uint64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }

func (d doctor) port(running *runningKiosk) finding {
	const name = "Address"
	if running != nil {
		said := "with release " + running.Release
		if !running.ready() {
			said = "which is not ready for visitors"
		}
		return found(name, d.config.Listen+": a kiosk answers there already, "+said)
	}
	l, err := net.Listen("tcp", d.config.Listen)
	if err != nil {
		return missing(name, err.Error(), "Stop the program that uses it, or choose another address for listen.")
	}
	if err := l.Close(); err != nil {
		return missing(name, err.Error(), "")
	}
	return found(name, d.config.Listen+" is free")
}

// brightness asks what dims the screen, and dims nothing.
func (d doctor) brightness(ctx context.Context) finding {
	const name = "Brightness"
	by, err := newOwnScreen(d.config).light.By(ctx)
	if err != nil {
		return note(name, "the page dims itself: "+err.Error(), "docs/kiosk.md says what a screen needs to be dimmed itself.")
	}
	return found(name, "set by "+by)
}

// screenshot asks what takes pictures of the screen, and takes none.
func (d doctor) screenshot(ctx context.Context) finding {
	const name = "Screenshots"
	by, err := newOwnScreen(d.config).camera.By(ctx)
	if err != nil {
		return note(name, "none: "+err.Error(), "Optional: docs/kiosk.md says how the browser gives them (screen.devtools).")
	}
	return found(name, "taken by "+by)
}

func (d doctor) clock(context.Context) finding {
	const name = "Clock"
	now := time.Now().Format("2006-01-02 15:04 MST")
	synced, err := hardware.ClockSynced()
	switch {
	case err != nil:
		return note(name, now+"; "+err.Error(), "")
	case !synced:
		return note(name, now+", not set by the network", "See that the time is right. Where there is a network: timedatectl set-ntp true")
	}
	return found(name, now+", set by the network")
}
