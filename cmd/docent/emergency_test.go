package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEmergencyCoversTheScreen follows a message from the command line through the hub, its broker and the link to what
// a page of the kiosk hears; the kiosk is killed and comes back without the hub, and the end arrives where it was missed.
func TestEmergencyCoversTheScreen(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the whole product; not part of -short")
	}
	dir := t.TempDir()
	mqtt, page, screen := freeAddress(t), freeAddress(t), freeAddress(t)
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	hubConfig := write("hub.yaml", fmt.Sprintf("data_dir: %s\nmqtt_listen: %s\nhttp_listen: %s\n", filepath.Join(dir, "hub"), mqtt, page))
	config := write("kiosk.yaml", fmt.Sprintf("site: louvre\nkiosk: kiosk-1\nlisten: %s\ndata_dir: %s\nrelease: %s\nhub: {broker: tls://%s}\n",
		screen, filepath.Join(dir, "kiosk"), sampleRelease(t), mqtt))
	say := func(args ...string) string {
		t.Helper()
		code, out, errs := docent(t, append(append([]string{"emergency"}, args...), "--hub", "http://"+page)...)
		if code != exitDone {
			t.Fatalf("docent emergency %v: %d\n%s%s", args, code, out, errs)
		}
		return out
	}

	hub := start(t, "hub", "--config", hubConfig)
	k := start(t, "kiosk", "--config", config)
	authorise(t, k, page)
	eventually(t, "a kiosk at the hub", func() bool {
		var answer struct{ Kiosks []struct{ ID string } }
		if res, err := http.Get("http://" + page + "/healthz"); err != nil {
			return false
		} else {
			res.Body.Close()
		}
		request(t, http.MethodGet, "http://"+page+"/api/v1/kiosks", nil, &answer)
		return len(answer.Kiosks) == 1
	})
	if out := say("show", "--text", "en=Leave, please; now.", "--text", "zh=请离开。"); !strings.Contains(out, "Sent to 1 kiosk.") {
		t.Errorf("it said %s", out)
	}
	const covered = `{"text":{"en":"Leave, please; now.","zh":"请离开。"}}`
	eventually(t, "the message on the screen", func() bool { return firstSignal(screen) == covered })
	if out := say("tell"); out != "en: Leave, please; now.\nzh: 请离开。\n" {
		t.Errorf("it tells %s", out)
	}

	k.kill(t)
	hub.kill(t)
	k = start(t, "kiosk", "--config", config)
	eventually(t, "the message after a restart without a hub", func() bool { return firstSignal(screen) == covered })

	k.kill(t)
	start(t, "hub", "--config", hubConfig)
	eventually(t, "a hub", func() bool {
		res, err := http.Get("http://" + page + "/healthz")
		if err == nil {
			res.Body.Close()
		}
		return err == nil
	})
	say("end")
	start(t, "kiosk", "--config", config)
	eventually(t, "a screen without the message", func() bool { return firstSignal(screen) == `{"text":null}` })
	eventually(t, "the hub has heard of it", func() bool {
		var answer struct{ Events []struct{ Type string } }
		request(t, http.MethodGet, "http://"+page+"/api/v1/events?limit=1000", nil, &answer)
		seen := map[string]bool{}
		for _, e := range answer.Events {
			seen[e.Type] = true
		}
		return seen["emergency.shown"] && seen["emergency.over"]
	})
}

// firstSignal is what a page hears first from a kiosk, empty where there is none.
func firstSignal(address string) string {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/api/v1/signals", nil)
	if err != nil {
		return ""
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			return data
		}
	}
	return ""
}

// TestEmergencyTextsAreNamed looks at what is said of a message that cannot be sent, before any hub is asked.
func TestEmergencyTextsAreNamed(t *testing.T) {
	for _, tt := range []struct {
		name string
		text []string
		want string // part of the error; "" where there is none
	}{
		{"two languages", []string{"en=Leave by exit 2, please; 1+1=2.", "zh=请离开"}, ""},
		{"no language", []string{"Please leave"}, "write, for one, --text 'en="},
		{"no message", []string{"en= "}, "write, for one, --text 'en="},
		{"a language that is none", []string{"e=Leave"}, `"e" is no language`},
		{"a language twice", []string{"en=Leave", "en=Stay"}, "given twice for the language en"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			texts, err := (emergencyShowCmd{Text: tt.text}).texts()
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want == "" && texts["en"] != "Leave by exit 2, please; 1+1=2.":
				t.Errorf("texts %v", texts)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("error %v, want %q in it", err, tt.want)
			case tt.want != "":
				args := []string{"emergency", "show"}
				for _, text := range tt.text {
					args = append(args, "--text", text)
				}
				if code, _, errs := docent(t, args...); code != exitUsage || !strings.Contains(errs, tt.want) {
					t.Errorf("exit code %d, said %s", code, errs)
				}
			}
		})
	}
}
