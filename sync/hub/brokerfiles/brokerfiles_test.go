package brokerfiles

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"docent/sync/hub/authority"
	"docent/sync/hub/store"
	"docent/sync/wire"
)

var start = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func certificates() []store.Certificate {
	a, b := wire.Address{Site: "louvre", Kiosk: "hall-1"}, wire.Address{Site: "louvre", Kiosk: "hall-2"}
	return []store.Certificate{
		{Serial: "a1", Kiosk: a},
		{Serial: "a2", Kiosk: a}, // renewed
		{Serial: "b1", Kiosk: b, RevokedAt: start},
		{Serial: "c1", Kiosk: wire.Address{Site: "prado", Kiosk: "hall-1"}},
	}
}

func files(t *testing.T, kind Kind, now *time.Time) (*Files, string) {
	t.Helper()
	a, err := authority.Open(t.TempDir(), func() time.Time { return *now })
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "broker")
	f, err := New(Options{Kind: kind, Dir: dir, Authority: a, Site: "louvre", Workers: []string{"1", "2"}})
	if err != nil {
		t.Fatal(err)
	}
	return f, dir
}

func write(t *testing.T, f *Files, c []store.Certificate, now time.Time) bool {
	t.Helper()
	changed, err := f.Write(c, now)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestMosquittoList(t *testing.T) {
	now := start
	f, dir := files(t, Mosquitto, &now)
	write(t, f, certificates(), now)
	const want = `# Written by the hub whenever a kiosk is let in or shut out. Who is not listed may do nothing.

user docent-worker-1
topic read dt/docent/v1/#
topic write cmd/docent/v1/#

user docent-worker-2
topic read dt/docent/v1/#
topic write cmd/docent/v1/#

user louvre_hall-1
topic read cmd/docent/v1/louvre/hall-1/+
topic write dt/docent/v1/louvre/hall-1/event
topic write dt/docent/v1/louvre/hall-1/status
topic write dt/docent/v1/louvre/hall-1/deploy
topic write dt/docent/v1/louvre/hall-1/res
topic write dt/docent/v1/louvre/hall-1/fetch

`
	if got := read(t, dir, "kiosks.acl"); got != want {
		t.Errorf("kiosks.acl:\n%s", got)
	}
	block, _ := pem.Decode([]byte(read(t, dir, "revoked.crl")))
	list, err := x509.ParseRevocationList(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if err := list.CheckSignatureFrom(f.opt.Authority.Certificate()); err != nil {
		t.Error(err)
	}
	if e := list.RevokedCertificateEntries; len(e) != 1 || e[0].SerialNumber.Text(16) != "b1" || !list.NextUpdate.After(start.AddDate(5, 0, 0)) {
		t.Errorf("revoked %v until %v", e, list.NextUpdate)
	}
}

func TestNATSConfiguration(t *testing.T) {
	now := time.Now()
	f, dir := files(t, NATS, &now)
	write(t, f, certificates(), now)
	o, err := server.ProcessConfigFile(filepath.Join(dir, "nats.conf"))
	if err != nil {
		t.Fatal(err)
	}
	users := map[string]*server.User{}
	for _, u := range o.Users {
		users[u.Username] = u
	}
	if len(users) != 4 || users["docent:louvre_hall-1:a1"] == nil || users["docent:louvre_hall-1:a2"] == nil || users["docent:docent-worker-2"] == nil {
		t.Errorf("users: %v", users)
	}
	p := users["docent:louvre_hall-1:a1"].Permissions
	if got := strings.Join(p.Subscribe.Allow, " "); got != "cmd.docent.v1.louvre.hall-1.*" {
		t.Errorf("a kiosk may subscribe to %s", got)
	}
	if got := strings.Join(p.Publish.Allow, " "); strings.ContainsAny(got, "*>") || strings.Count(got, "dt.docent.v1.louvre.hall-1.") != 5 || len(p.Publish.Allow) != 5 {
		t.Errorf("a kiosk may publish %s", got)
	}
	if !o.SyncAlways || !o.TLSMap || !o.MQTT.TLSMap || o.MQTT.Port != 8883 || o.Cluster.Port != 0 {
		t.Errorf("options: %+v", o.MQTT)
	}
}

// TestWrittenAgain says when the files are: with a change, once a day, and with the broker's certificate.
func TestWrittenAgain(t *testing.T) {
	now := start
	f, dir := files(t, Mosquitto, &now)
	all := certificates()
	if !write(t, f, all, now) || write(t, f, all, now) {
		t.Error("not written, or written without a change")
	}
	all[0].RevokedAt = now
	if !write(t, f, all, now) {
		t.Error("a revoked certificate is no change")
	}
	now = now.Add(again + time.Minute)
	if !write(t, f, all, now) {
		t.Error("not written for a day")
	}
	server := read(t, dir, certificateFile)
	conf := filepath.Join(dir, "docent.conf")
	if err := os.WriteFile(conf, []byte("# mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	now = start.Add(authority.ServerLife - renew + time.Hour)
	if !write(t, f, all, now) || read(t, dir, certificateFile) == server {
		t.Error("the broker's certificate was not renewed")
	}
	if read(t, conf) != "# mine" {
		t.Error("a file of the operator's was written over")
	}
}

func TestCheckRoute(t *testing.T) {
	for route, good := range map[string]bool{
		"nats://n2.example:6222": true, "nats://10.0.0.2:6222": true, "nats://[::1]:6222": true,
		"n2.example:6222": false, "n2.example": false, "nats://n2.example": false, "nats://:6222": false, "http://n2.example:6222": false, "nats://n2:0": false,
		"nats://n2:70000": false, "nats://n2:6222/x": false, "nats://u:p@n2:6222": false, "nats://n2:6222,nats://n3:6222": false, "": false,
	} {
		if err := CheckRoute(route); (err == nil) != good {
			t.Errorf("%q: %v", route, err)
		}
	}
}

// TestOtherBroker: a folder is one broker's.
func TestOtherBroker(t *testing.T) {
	now := time.Now()
	for kind, other := range map[Kind]Kind{Mosquitto: NATS, NATS: Mosquitto} {
		f, dir := files(t, kind, &now)
		write(t, f, certificates(), now)
		if _, err := New(Options{Kind: other, Dir: dir}); err == nil || !strings.Contains(err.Error(), "which is of "+string(kind)) {
			t.Errorf("%s where %s is: %v", other, kind, err)
		}
		if _, err := New(Options{Kind: kind, Dir: dir}); err != nil {
			t.Errorf("%s again: %v", kind, err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for name, o := range map[string]Options{
		"another broker": {Kind: "rabbit", Dir: "x"}, "a route without a port": {Kind: NATS, Dir: "x", Routes: []string{"nats://n2"}}, "a worker that is no name": {Kind: NATS, Dir: "x", Workers: []string{"a b"}},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
