package hub

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"docent/internal/space/smalldisk"
	"docent/sync/link"
	"docent/sync/outbox"
)

// TestHubDiskFull fills the disk of a hub in a process of its own while kiosks send: nothing is acknowledged that is not
// stored, the hub neither dies nor has to be started again, and with room again everything arrives.
func TestHubDiskFull(t *testing.T) {
	rounds, kiosks, each := 2, 2, 50
	if faults() {
		rounds, kiosks, each = 20, 10, 300
	}
	disk := smalldisk.Mount(t, "96m")
	dir := filepath.Join(disk, "hub")
	cmd, address := startChildHub(t, struct{ Dir, MQTTListen, HTTPListen, Site string }{dir, "127.0.0.1:0", "127.0.0.1:0", site})
	var all []*kiosk
	for i := range kiosks {
		all = append(all, startKiosk(t, address, fmt.Sprintf("kiosk-%d", i), t.TempDir(), func(o *link.Options) {
			o.Random = func() float64 { return 0.001 }
		}))
	}
	told := 0
	for range rounds {
		var wg sync.WaitGroup
		for _, k := range all {
			wg.Go(func() { k.record(t, each) })
		}
		free := smalldisk.Fill(t, disk)
		wg.Wait()
		told += kiosks * each
		// While it is full the hub refuses; what it acknowledged before is all that it has acknowledged.
		acked := uint64(0)
		for _, k := range all {
			acked += k.State().AckedSeq
		}
		free()
		for _, k := range all {
			k.drained(t)
		}
		if acked > uint64(told) {
			t.Errorf("%d acknowledged of %d", acked, told)
		}
	}
	if cmd.ProcessState != nil || cmd.Process.Signal(unix.Signal(0)) != nil {
		t.Error("the hub's process ended")
	}
	kill(t, cmd)
	t.Logf("hub's disk full %d times while %d kiosks sent: %s", rounds, kiosks, count(t, told, dir))
}

// quiet waits until nothing in a folder has changed for half a second: the database writes tables behind its callers.
func quiet(t *testing.T, dir string) {
	t.Helper()
	before, since := "", time.Now()
	until(t, "quiet database", func() bool {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		now := ""
		for _, e := range entries {
			if info, err := e.Info(); err == nil {
				now += fmt.Sprintln(e.Name(), info.Size(), info.ModTime())
			}
		}
		if now != before {
			before, since = now, time.Now()
		}
		return time.Since(since) > 500*time.Millisecond
	})
}

// TestKioskDiskFull fills the disk of a kiosk while it records and sends: Append refuses in time, what it had taken is
// sent, and with room again it takes more. Nothing dies of a page that the disk cannot hold.
func TestKioskDiskFull(t *testing.T) {
	rounds := 1
	if faults() {
		rounds = 6
	}
	disk := smalldisk.Mount(t, "256m") // 128 MiB of which have to stay free
	dir := t.TempDir()
	h := startHub(t, Config{Dir: dir})
	address := h.MQTTAddr()
	told := 0
	data := map[string]string{"text": strings.Repeat("x", 60_000)}
	for round := range rounds {
		h.stop() // so that what is taken stays
		o, err := outbox.Open(filepath.Join(disk, "outbox"), outbox.Options{Kiosk: "kiosk-1"})
		if err != nil {
			t.Fatal(err)
		}
		until(t, "room that is held", func() bool {
			_, err := os.Stat(filepath.Join(disk, "outbox", "ballast"))
			return err == nil
		})
		others := filepath.Join(disk, "others")
		if err := os.WriteFile(others, make([]byte, o.State().FreeBytes-(136<<20)), 0o600); err != nil {
			t.Fatal(err)
		}
		before := told
		for {
			_, err := o.Append(context.Background(), "exhibit.seen", data)
			if errors.Is(err, outbox.ErrDiskFull) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			told++
		}
		if told == before {
			t.Fatal("nothing was taken: the disk was full to begin with")
		}
		quiet(t, filepath.Join(disk, "outbox", "store"))
		free := smalldisk.Fill(t, disk) // somebody else takes what the kiosk had left
		if _, err := o.Append(context.Background(), "exhibit.seen", nil); !errors.Is(err, outbox.ErrDiskFull) {
			t.Errorf("on a disk without a byte: %v", err)
		}
		if err := o.Close(); err != nil {
			t.Errorf("close on a full disk: %v", err)
		}
		free()
		if err := os.Remove(others); err != nil {
			t.Fatal(err)
		}
		h = startHub(t, Config{Dir: dir, MQTTListen: address})
		k := startKiosk(t, address, "kiosk-1", filepath.Join(disk, "outbox"))
		k.drained(t)
		until(t, "room", func() bool {
			_, err := k.Append(context.Background(), "exhibit.seen", nil)
			if err == nil {
				told++
			}
			return err == nil
		})
		k.drained(t)
		if s := k.State(); s.Degraded != "" {
			t.Errorf("round %d: %+v", round, s)
		}
		k.stop()
	}
	t.Logf("kiosk's disk full %d times: %s", rounds, count(t, told, dir))
}
