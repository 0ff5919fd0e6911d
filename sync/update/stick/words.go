package stick

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"docent/internal/durable"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

const (
	remembered = 24 * time.Hour // how long it is said what became of a stick that is gone
	maxLines   = 4              // files that are told of at once
)

// refusals says, by code, why a file was refused and what the person with the stick can do.
var refusals = map[string]string{
	"signature":       "it is not signed with the keys of this house",
	"stale":           "it is older than what this kiosk has heard since; write a new one. What it has of the release that the hub wants is used all the same",
	"older":           "this kiosk shows a newer release",
	"mismatch":        "its parts do not belong together; write it again",
	"metadata":        "its parts do not belong together; write it again",
	"too_long":        "its parts do not belong together; write it again",
	"wrong_hash":      "some of it is not what was signed; copy it again, or take another stick",
	"wrong_size":      "some of it is not what was signed; copy it again, or take another stick",
	"wrong_block":     "some of it is not what was signed; copy it again, or take another stick",
	"missing_object":  "not all of it could be read; plug it in again and leave it in",
	"bad_index":       "what was signed is no release; build and sign it again",
	"not_the_release": "what was signed is no release; build and sign it again",
	"taken_back":      "the house has taken it back here; it is shown again when the hub says so",
	"disk_full":       "there is too little room on the kiosk's disk",
	"health":          "it was tried out, and exhibits were not recognised or found; build it again under a higher number",
}

// verdict says how an installation ended, and whether the file's release is shown.
func (f *found) verdict(d wire.Deploy, err error, now time.Time) (text string, shown bool) {
	l, code := f.file.label, d.Code
	if c := trust.Code(err); c != "" {
		code = c
	}
	switch {
	case d.Shown == l.ReleaseID && (err == nil || code == "older" || code == "stale"):
		return fmt.Sprintf("release %d is shown%s", l.Number, f.pullable()), true
	case code == "expired":
		return fmt.Sprintf("refused: it has run out; write a new one. If this kiosk's clock is wrong (it says %s), set that first", now.Format("2006-01-02 15:04")), false
	case refusals[code] != "":
		return "refused: " + refusals[code], false
	case err != nil:
		return "not installed: " + err.Error(), false
	}
	return fmt.Sprintf("not installed: release %d was tried before and did not do; a release with a higher number is needed", l.Number), false
}

// pullable says that the stick may be pulled, if it is one.
func (f *found) pullable() string {
	if f.inbox {
		return ""
	}
	return ", the stick may be pulled"
}

// progress says how far the running installation is, and whether the stick may be pulled.
func (f *found) progress(d wire.Deploy) string {
	n := f.file.label.Number
	if d.ReleaseID != f.file.label.ReleaseID {
		if underWay(d.Status) {
			return fmt.Sprintf("release %d waits until the kiosk is done with release %d; leave it in", n, d.Number)
		}
		d = wire.Deploy{}
	}
	switch d.Status {
	case wire.DeployDownloaded, wire.DeployVerifying:
		return fmt.Sprintf("all of release %d is here%s; it is being tried out", n, f.pullable())
	case wire.DeployPauseBeforeInstall:
		return fmt.Sprintf("all of release %d is here%s; it is shown when nobody is at the screen", n, f.pullable())
	case wire.DeployInstalling, wire.DeployPauseBeforeCommit, wire.DeploySuccess:
		return fmt.Sprintf("release %d is being shown%s", n, f.pullable())
	}
	of := ""
	if d.Of > 0 {
		of = fmt.Sprintf(", %.1f of %.1f MB", float64(d.Done)/1e6, float64(d.Of)/1e6)
	}
	switch {
	case f.inbox:
		return fmt.Sprintf("release %d is read%s", n, of)
	case f.gone:
		return fmt.Sprintf("the stick was pulled, release %d is not whole yet%s; the rest comes over the network, or when it is plugged in again", n, of)
	}
	return fmt.Sprintf("release %d is read%s; leave the stick in. If it is pulled now nothing is lost, and the rest comes over the network or when it is plugged in again", n, of)
}

// underWay tells whether a deployment has begun and not ended.
func underWay(s wire.DeployStatus) bool {
	switch s {
	case wire.DeployPending, wire.DeployDownloading, wire.DeployDownloaded, wire.DeployVerifying, wire.DeployPauseBeforeInstall,
		wire.DeployInstalling, wire.DeployPauseBeforeCommit:
		return true
	}
	return false
}

// name is what people call a file by.
func (w *Watcher) name(f *found) string {
	if f.inbox {
		return filepath.Base(f.path)
	}
	return f.path
}

// String says what is on sticks and what becomes of it; empty where there was none for a day.
func (w *Watcher) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []string
	if f := w.running; f != nil {
		lines = append(lines, w.name(f)+": "+f.progress(w.heard))
	}
	for _, path := range slices.Sorted(maps.Keys(w.files)) {
		f := w.files[path]
		text := f.text
		if text == "" && f.file != nil {
			text = "found"
		}
		if text != "" && f != w.running {
			lines = append(lines, w.name(f)+": "+text)
		}
	}
	if len(lines) == 0 && w.last != "" && w.opt.Now().Sub(w.lastAt) <= remembered {
		lines = append(lines, w.last+" ("+w.lastAt.UTC().Format("15:04")+" UTC)")
	}
	return strings.Join(lines[:min(len(lines), maxLines)], ". ")
}

// NoteFile is the file in the inbox that says how it goes with what was put there.
const NoteFile = "status.json"

// Note is what NoteFile says.
type Note struct {
	File string `json:"file"` // name of the file it is about
	Text string `json:"text"`
	Done bool   `json:"done"` // nothing more happens to it
	OK   bool   `json:"ok"`   // its release is shown
}

// note tells whoever has put something into the inbox how it goes with it, when that has changed, and removes what is
// done with.
func (w *Watcher) note() {
	if w.opt.Inbox == "" {
		return
	}
	w.mu.Lock()
	var notes []Note
	for _, f := range w.files {
		if f.inbox && !f.stays && (f.tried || f == w.running || f.text != "") {
			n := Note{File: filepath.Base(f.path), Text: f.text, Done: f.tried, OK: f.ok}
			if f == w.running {
				n.Text = f.progress(w.heard)
			}
			notes = append(notes, n)
		}
	}
	w.mu.Unlock()
	for _, n := range notes {
		if err := w.write(n); err != nil {
			w.opt.Logger.Warn("note about an installation not written", "err", err)
		}
		if !n.Done {
			continue
		}
		path := filepath.Join(w.opt.Inbox, n.File)
		err := os.Remove(path)
		w.mu.Lock()
		if f := w.files[path]; f != nil && err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.stays = true // it is not ours; it is done with all the same
			w.opt.Logger.Warn("installed file not removed", "path", path, "err", err)
		} else {
			delete(w.files, path)
		}
		w.mu.Unlock()
	}
}

// write writes a note, unless it was the last one. Only Run's goroutine does.
func (w *Watcher) write(n Note) error {
	data, err := json.Marshal(n)
	if err != nil || string(data) == w.noted {
		return err
	}
	if err := durable.WriteFile(filepath.Join(w.opt.Inbox, NoteFile), data, 0o644); err != nil {
		return err
	}
	w.noted = string(data)
	return nil
}

// ReadNote reads the note of an inbox; false where there is none.
func ReadNote(inbox string) (Note, bool) {
	var n Note
	data, err := os.ReadFile(filepath.Join(inbox, NoteFile))
	return n, err == nil && len(data) < 4<<10 && json.Unmarshal(data, &n) == nil
}
