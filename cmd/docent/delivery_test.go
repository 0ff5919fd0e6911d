package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestContentWithoutAHub follows a release to kiosks that reach no hub: one has a stick plugged in, another is given a
// file, the third has a mirror.
func TestContentWithoutAHub(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the whole product; not part of -short")
	}
	dir := t.TempDir()
	first := sampleRelease(t)
	gallery := filepath.Join(dir, "gallery")
	if err := os.CopyFS(gallery, os.DirFS(filepath.Join(filepath.Dir(first), "gallery"))); err != nil {
		t.Fatal(err)
	}
	renameGallery(t, gallery)
	ok := func(args ...string) string {
		t.Helper()
		code, out, errs := docent(t, args...)
		if code != exitDone {
			t.Fatalf("docent %v: %d\n%s%s", args, code, out, errs)
		}
		return out
	}
	release, keys, signed, hubKey := filepath.Join(dir, "release"), filepath.Join(dir, "keys"), filepath.Join(dir, "signed"), filepath.Join(dir, "hub.pem")
	file, web := filepath.Join(dir, "release-2.docent"), filepath.Join(dir, "web")
	ok("gallery", "build", gallery, "--number", "2", "--out", release)
	mqtt, page := freeAddress(t), freeAddress(t)
	hubConfig := filepath.Join(dir, "hub.yaml")
	if err := os.WriteFile(hubConfig, fmt.Appendf(nil, "data_dir: %s\nmqtt_listen: %s\nhttp_listen: %s\n", filepath.Join(dir, "hub"), mqtt, page), 0o600); err != nil {
		t.Fatal(err)
	}
	hub := start(t, "hub", "--config", hubConfig)
	eventually(t, "the hub's key", func() bool { return download("http://"+page+"/api/v1/content/key", hubKey) == nil })
	if code, _, errs := docent(t, "gallery", "bundle", file, "--hub", "http://"+page); code != exitFailed || !strings.Contains(errs, "publishes nothing yet") {
		t.Errorf("before anything was published: %d %s", code, errs)
	}
	ok("gallery", "sign", release, "--keys", keys, "--hub-key", hubKey, "--out", signed)
	ok("gallery", "publish", signed, "--hub", "http://"+page)
	root := filepath.Join(keys, "metadata", "1.root.json")
	if out := ok("gallery", "bundle", file, "--hub", "http://"+page, "--root", root); !strings.Contains(out, "Release 2") {
		t.Errorf("bundle said %s", out)
	}
	if out := ok("gallery", "mirror", web, "--hub", "http://"+page); !strings.Contains(out, "holds 1 release, the newest is 2") {
		t.Errorf("mirror said %s", out)
	}
	if out := ok("gallery", "mirror", web, "--hub", "http://"+page); !strings.Contains(out, ": 0 objects written") {
		t.Errorf("the same again said %s", out)
	}
	if code, _, _ := docent(t, "gallery", "bundle", filepath.Join(dir, "release-2.zip"), "--hub", "http://"+page); code != exitUsage {
		t.Errorf("a name that no kiosk finds: %d", code)
	}
	hub.kill(t)

	// kiosk starts one with these further settings and returns the number of the release that it shows, and what staff
	// read there.
	kiosk := func(name, more string) (config string, shown func() int, staff func() map[string]string) {
		screen := freeAddress(t)
		config = filepath.Join(dir, name+".yaml")
		text := fmt.Sprintf("site: louvre\nkiosk: %s\nlisten: %s\ndata_dir: %s\nrelease: %s\nstaff: {pin: \"1234\"}\nhub: {root: %s}\ncontent: {%s}\n",
			name, screen, filepath.Join(dir, name), first, root, more)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		start(t, "kiosk", "--config", config)
		shown = func() int {
			res, err := http.Get("http://" + screen + "/api/v1/gallery")
			if err != nil {
				return 0
			}
			res.Body.Close()
			var g struct{ Release struct{ Number int } }
			request(t, http.MethodGet, "http://"+screen+"/api/v1/gallery", nil, &g)
			return g.Release.Number
		}
		eventually(t, "kiosk "+name, func() bool { return shown() > 0 })
		staff = func() map[string]string {
			var d struct{ Status map[string]string }
			if code := request(t, http.MethodPost, "http://"+screen+"/api/v1/staff/open", map[string]string{"pin": "1234"}, &d); code != http.StatusOK {
				t.Fatalf("diagnostics: %d", code)
			}
			return d.Status
		}
		return config, shown, staff
	}

	media := filepath.Join(dir, "media", "technician", "STICK")
	_, shown, staff := kiosk("by-stick", "stick_folders: ["+filepath.Join(dir, "media")+"]")
	if err := os.MkdirAll(media, 0o755); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(media, "release-2.docent"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the release of the stick", func() bool { return shown() == 2 })
	if told := staff(); !strings.Contains(told["stick"], "the stick may be pulled") || !strings.Contains(told["content"], "MB by stick") {
		t.Errorf("staff read %q", told)
	}

	config, shown, _ := kiosk("by-file", "stick_folders: []")
	if out := ok("install", file, "--config", config); !strings.Contains(out, "release 2 is shown") || shown() != 2 {
		t.Errorf("install said %s; shown is %d", out, shown())
	}
	if code, _, errs := docent(t, "install", hubKey, "--config", config); code != exitFailed || !strings.Contains(errs, "none that docent gallery bundle wrote") {
		t.Errorf("another file: %d %s", code, errs)
	}

	server := httptest.NewServer(http.FileServer(http.Dir(web))) // on this machine, where it may be without TLS
	defer server.Close()
	_, shown, _ = kiosk("by-mirror", "stick_folders: [], mirror: \""+server.URL+"\"")
	eventually(t, "the release of the mirror", func() bool { return shown() == 2 })
}
