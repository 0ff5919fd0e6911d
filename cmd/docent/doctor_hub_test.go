package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDoctorGoesTheWayToTheHub runs doctor beside a kiosk from before it is enrolled until its certificate is revoked.
func TestDoctorGoesTheWayToTheHub(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the whole product; not part of -short")
	}
	dir := t.TempDir()
	line, page, screen := freeAddress(t), freeAddress(t), freeAddress(t)
	hubConfig, config, report := filepath.Join(dir, "hub.yaml"), filepath.Join(dir, "kiosk.yaml"), filepath.Join(dir, "report.json")
	if err := os.WriteFile(hubConfig, fmt.Appendf(nil, "data_dir: %s\nmqtt_listen: %s\nhttp_listen: %s\n", filepath.Join(dir, "hub"), line, page), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := func(more string) {
		t.Helper()
		text := fmt.Appendf(nil, "site: louvre\nkiosk: kiosk-1\nlisten: %s\ndata_dir: %s\nrelease: %s\nhub: {broker: tls://%s}\n%s\n",
			screen, filepath.Join(dir, "kiosk"), sampleRelease(t), line, more)
		if err := os.WriteFile(config, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// doctor returns what it found of the hub, by the name of the check.
	doctor := func(wantCode int) map[string]finding {
		t.Helper()
		code, out, errs := docent(t, "doctor", "--config", config, "--json", report)
		if code != wantCode {
			t.Errorf("doctor: %d, want %d\n%s%s", code, wantCode, out, errs)
		}
		data, err := os.ReadFile(report)
		if err != nil {
			t.Fatal(err)
		}
		var said findings
		if err := json.Unmarshal(data, &said); err != nil {
			t.Fatal(err)
		}
		checks := map[string]finding{}
		for _, f := range said.Checks {
			checks[f.Name] = f
		}
		return checks
	}
	want := func(f finding, status string, say ...string) {
		t.Helper()
		for _, part := range say {
			if !strings.Contains(f.Detail+" → "+f.Advice, part) {
				t.Errorf("%+v does not say %q", f, part)
			}
		}
		if f.Status != status {
			t.Errorf("%+v, want %s", f, status)
		}
	}
	session := func() (number float64) {
		t.Helper()
		var list struct{ Kiosks []map[string]any }
		request(t, http.MethodGet, "http://"+page+"/api/v1/kiosks", nil, &list)
		if len(list.Kiosks) != 1 {
			t.Fatalf("the hub knows %d kiosks", len(list.Kiosks))
		}
		number, _ = list.Kiosks[0]["session_seq"].(float64)
		return number
	}

	h := start(t, "hub", "--config", hubConfig)
	fingerprint := h.out.match(t, `fingerprint="([0-9a-f ]{79})"`)
	settings("")
	got := doctor(exitDone)
	want(got[hubName], wellOK, "answers over TLS", fingerprint, "none is set", "the clocks agree")
	want(got[certName], wellNote, "none yet", "authorise")

	settings("staff: {pin: '2580'}")
	k := start(t, "kiosk", "--config", config)
	code := k.out.match(t, `code=([A-Z0-9]{6})`)
	want(doctor(exitDone)[certName], wellNote, code, "docent hub kiosks authorise "+code)
	authorise(t, k, page)
	k.out.match(t, `(hub connected)`)
	eventually(t, "the kiosk at the hub", func() bool {
		var list struct{ Kiosks []struct{ State string } }
		request(t, http.MethodGet, "http://"+page+"/api/v1/kiosks", nil, &list)
		return len(list.Kiosks) == 1 && list.Kiosks[0].State == "ready"
	})
	before := session()
	got = doctor(exitDone)
	want(got[certName], wellOK, "louvre_kiosk-1", "the hub takes it")
	want(got[lineName], wellOK, "not tried", "connected since")
	settings("") // without the PIN
	want(doctor(exitDone)[lineName], wellOK, "not tried", "which is connected")
	if after := session(); after != before {
		t.Errorf("doctor disturbed the running kiosk: session %v, then %v", before, after)
	}

	if err := k.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := k.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	want(doctor(exitDone)[lineName], wellOK, "the broker lets this kiosk in")
	settings("kiosk_of_another_name: 1")
	if code, _, _ := docent(t, "doctor", "--config", config); code != exitUsage {
		t.Errorf("settings that are wrong: %d", code)
	}
	settings("")
	if code, out, errs := docent(t, "hub", "kiosks", "revoke", "louvre/kiosk-1", "--hub", "http://"+page); code != exitDone {
		t.Fatalf("revoke: %s%s", out, errs)
	}
	got = doctor(exitFailed)
	want(got[certName], wellMissing, "revoked", "type the code")
	if f, ok := got[lineName]; ok {
		t.Errorf("a connection with a certificate that the hub refuses: %+v", f)
	}
}
