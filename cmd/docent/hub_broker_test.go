package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"docent/sync/hub/authority"
)

// TestBrokerConfig: only a hub that is one has files for a broker, and they say whose they are.
func TestBrokerConfig(t *testing.T) {
	dir := t.TempDir()
	data, config := filepath.Join(dir, "hub"), filepath.Join(dir, "hub.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, "data_dir: %s\n", data), 0o600); err != nil {
		t.Fatal(err)
	}
	call := func(want int, said, kind, folder string, more ...string) {
		t.Helper()
		code, out, errs := docent(t, append([]string{"hub", "broker-config", kind, filepath.Join(dir, folder), "--config", config}, more...)...)
		if code != want || !strings.Contains(out+errs, said) {
			t.Errorf("%s %v: exit code %d, said %s%s", kind, more, code, out, errs)
		}
	}
	call(exitFailed, "data_dir "+data+" has no authority", "nats", "none")
	for _, path := range []string{data, filepath.Join(dir, "none")} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s was made", path)
		}
	}
	if _, err := authority.Open(filepath.Join(data, "authority"), time.Now); err != nil {
		t.Fatal(err)
	}
	call(exitUsage, `--route: route "n2" is not`, "nats", "nats", "--host", "n1", "--route", "n2")
	call(exitDone, "data_dir is "+data, "nats", "nats", "--host", "n1", "--route", "nats://n2:6222")
	call(exitFailed, "nats.conf, which is of nats", "mosquitto", "nats")
	call(exitDone, "data_dir is "+data, "mosquitto", "mosquitto")
}
