package hub

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"
)

// TestHubKilled kills the hub's process with -9 in the middle of bursts and starts it again: whatever a kiosk was told
// is stored is stored, once, and in the end everything is.
func TestHubKilled(t *testing.T) {
	kills, kiosks, each := 4, 4, 250
	if faults() {
		kills, kiosks, each = 30, 20, 500
	}
	dir := t.TempDir()
	spec := struct{ Dir, MQTTListen, HTTPListen, Site, Database string }{dir, "127.0.0.1:0", "127.0.0.1:0", site, databaseOf(t, dir)}
	cmd, address := startChildHub(t, spec)
	spec.MQTTListen = address
	var all []*kiosk
	for i := range kiosks {
		all = append(all, startKiosk(t, address, fmt.Sprintf("kiosk-%d", i), t.TempDir()))
	}
	rng := rand.New(rand.NewPCG(9, 10))
	for i := range kills {
		before := make([]uint64, len(all))
		var wg sync.WaitGroup
		for i, k := range all {
			before[i] = k.State().AckedSeq
			wg.Go(func() { k.record(t, each) })
		}
		progress(t, all, before)
		time.Sleep(time.Duration(rng.IntN(100)) * time.Millisecond)
		kill(t, cmd)
		// What the kiosks believe the hub has, it must have now.
		believed := map[string]uint64{}
		for _, k := range all {
			believed[k.name] = k.State().AckedSeq
		}
		rows := checkRows(t, stored(t, dir))
		for name, acked := range believed {
			if uint64(rows[name]) < acked {
				t.Fatalf("kill %d: %s was told that %d events are stored, %d are", i, name, acked, rows[name])
			}
		}
		cmd, _ = startChildHub(t, spec)
		wg.Wait()
	}
	for _, k := range all {
		k.drained(t)
	}
	kill(t, cmd)
	rows := checkRows(t, stored(t, dir))
	for _, k := range all {
		if rows[k.name] != kills*each {
			t.Errorf("%s: %d rows, want %d", k.name, rows[k.name], kills*each)
		}
	}
	t.Logf("kill -9 of the hub: %d times in the middle of bursts, %d kiosks, %d events; 0 acknowledged-but-lost, 0 stored twice, 0 gaps", kills, kiosks, kills*kiosks*each)
	if n := quarantined(t, dir); n != 0 {
		t.Errorf("%d messages in quarantine", n)
	}
}

// progress waits until some kiosk has been acknowledged more than before.
func progress(t *testing.T, all []*kiosk, before []uint64) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		for i, k := range all {
			if k.State().AckedSeq > before[i] {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("the hub acknowledges nothing")
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func startChildHub(t *testing.T, spec any) (*exec.Cmd, string) {
	t.Helper()
	cmd := child(t, hubEnv, spec)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the hub's process did not start")
	}
	return cmd, lines.Text()
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
}

// TestKioskKilled kills a kiosk's process with -9 while it records and sends, again and again on the same folder:
// every event it was told is recorded is at the hub in the end, once, and the numbers have no gap.
func TestKioskKilled(t *testing.T) {
	kills := 4
	if faults() {
		kills = 200
	}
	dir := t.TempDir()
	h := startHub(t, Config{Dir: dir})
	spec := childKiosk{Dir: filepath.Join(t.TempDir(), "kiosk"), Broker: "tcp://" + h.MQTTAddr(), Append: true}
	rng := rand.New(rand.NewPCG(11, 12))
	told := map[uint64]bool{}
	for range kills {
		for _, seq := range killedKiosk(t, spec, time.Duration(20+rng.IntN(400))*time.Millisecond) {
			if told[seq] {
				t.Fatalf("number %d was given out twice", seq)
			}
			told[seq] = true
		}
	}
	spec.Append = false
	if out, err := child(t, kioskEnv, spec).Output(); err != nil {
		t.Fatalf("last run: %v, %s", err, out)
	}
	events := stored(t, dir)
	rows := checkRows(t, events)["kiosk-1"]
	stream := events[0].StreamID
	for _, e := range events {
		if e.StreamID != stream || e.Type != "exhibit.seen" {
			t.Fatalf("a kill made the kiosk begin a new stream: %+v", e)
		}
	}
	for seq := range told {
		if seq > uint64(rows) {
			t.Fatalf("event %d was told to be recorded; the hub has %d", seq, rows)
		}
	}
	t.Logf("kill -9 of kiosk and link: %d instants, %d events told durable, %d stored; 0 lost, 0 stored twice, 0 gaps", kills, len(told), rows)
	if n := quarantined(t, dir); n != 0 {
		t.Errorf("%d messages in quarantine", n)
	}
}

// killedKiosk runs a kiosk for a while after its first event and returns the numbers it told before it was killed.
func killedKiosk(t *testing.T, spec childKiosk, after time.Duration) (told []uint64) {
	t.Helper()
	cmd := child(t, kioskEnv, spec)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		seq, err := strconv.ParseUint(lines.Text(), 10, 64)
		if err != nil {
			t.Fatalf("the kiosk's process said %q", lines.Text())
		}
		if told = append(told, seq); len(told) == 1 {
			time.AfterFunc(after, func() { cmd.Process.Kill() })
		}
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("the kiosk's process ended by itself: %v", err)
	}
	return told
}
