package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPublishedReleaseIsShown follows new content on its whole way: a changed gallery is built, signed and published to
// a hub, and a kiosk that began with the release before shows it, but not while a visitor is there. Then the kiosk is
// started again and shows it still.
func TestPublishedReleaseIsShown(t *testing.T) {
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
	release, keys, bundle, hubKey := filepath.Join(dir, "release"), filepath.Join(dir, "keys"), filepath.Join(dir, "bundle"), filepath.Join(dir, "hub.pem")
	ok("gallery", "build", gallery, "--number", "2", "--out", release)

	mqtt, page, screen := freeAddress(t), freeAddress(t), freeAddress(t)
	hubConfig := filepath.Join(dir, "hub.yaml")
	if err := os.WriteFile(hubConfig, fmt.Appendf(nil, "data_dir: %s\nmqtt_listen: %s\nhttp_listen: %s\n", filepath.Join(dir, "hub"), mqtt, page), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, "hub", "--config", hubConfig)
	eventually(t, "the hub's key", func() bool { return download("http://"+page+"/api/v1/content/key", hubKey) == nil })
	ok("gallery", "sign", release, "--keys", keys, "--hub-key", hubKey, "--out", bundle)

	config := filepath.Join(dir, "kiosk.yaml")
	err := os.WriteFile(config, fmt.Appendf(nil, "site: louvre\nkiosk: kiosk-1\nlisten: %s\ndata_dir: %s\nrelease: %s\nhub: {broker: tls://%s, root: %s}\n",
		screen, filepath.Join(dir, "kiosk"), first, mqtt, filepath.Join(keys, "metadata", "1.root.json")), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	k := start(t, "kiosk", "--config", config)
	authorise(t, k, page)
	api := "http://" + screen + "/api/v1/"
	shown := func() (name string, number int) {
		var g struct {
			Name    map[string]string
			Release struct{ Number int }
		}
		res, err := http.Get(api + "gallery")
		if err != nil {
			return "", 0
		}
		res.Body.Close()
		request(t, http.MethodGet, api+"gallery", nil, &g)
		return g.Name["en"], g.Release.Number
	}
	eventually(t, "an open kiosk", func() bool { _, n := shown(); return n == 1 })

	var visit struct{ Visit string }
	if code := request(t, http.MethodPost, api+"visit/start", map[string]string{"language": "en"}, &visit); code != http.StatusCreated {
		t.Fatalf("start visit: %d", code)
	}
	if out := ok("gallery", "publish", bundle, "--hub", "http://"+page); !strings.Contains(out, "is published") {
		t.Errorf("publish said %s", out)
	}
	deployment := func() (status, shown string) {
		var answer struct {
			Kiosks []struct {
				Deployment struct{ Status, Shown string }
			}
		}
		request(t, http.MethodGet, "http://"+page+"/api/v1/kiosks", nil, &answer)
		if len(answer.Kiosks) == 0 {
			return "", ""
		}
		return answer.Kiosks[0].Deployment.Status, answer.Kiosks[0].Deployment.Shown
	}
	eventually(t, "a kiosk that waits for its visitor to leave", func() bool { s, _ := deployment(); return s == "pause_before_installing" })
	if _, n := shown(); n != 1 {
		t.Errorf("release %d is shown while a visitor is there", n)
	}
	if code := request(t, http.MethodPost, api+"visit/end", visit, nil); code != http.StatusNoContent {
		t.Fatalf("end visit: %d", code)
	}
	eventually(t, "the new release", func() bool { name, n := shown(); return n == 2 && name == "A Changed House" })
	eventually(t, "success at the hub", func() bool { s, id := deployment(); return s == "success" && strings.HasPrefix(id, "2-") })

	k.kill(t)
	start(t, "kiosk", "--config", config)
	eventually(t, "the new release after a kill", func() bool { _, n := shown(); return n == 2 })
}

// renameGallery gives a gallery another English name.
func renameGallery(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, "gallery.yaml")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "name:") {
			for j := i; j < min(i+4, len(lines)); j++ {
				if strings.HasPrefix(strings.TrimSpace(lines[j]), "en:") {
					lines[j] = lines[j][:strings.Index(lines[j], "en:")] + "en: A Changed House"
					if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
						t.Fatal(err)
					}
					return
				}
			}
		}
	}
	t.Fatalf("no English name found in %.300s", data)
}

func download(url, path string) error {
	client := http.Client{Timeout: 5 * time.Second}
	res, err := client.Get(url)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}
