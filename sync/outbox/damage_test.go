package outbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"docent/sync/wire"
)

// TestFlippedBitsAreReported flips one bit at a time in the files of a store that was not closed, and expects of
// each: the outbox opens; every event is either still there or within a range reported as lost; and new events get
// numbers that were never used. The long form also damages a store with tables, and cuts files off.
func TestFlippedBitsAreReported(t *testing.T) {
	if !faults() {
		damage(t, 300, func(file string) int {
			if strings.HasSuffix(file, ".mem") {
				return 6
			}
			return 1
		})
		return
	}
	t.Run("log", func(t *testing.T) { damage(t, 300, func(string) int { return 60 }) })
	t.Run("tables", func(t *testing.T) { damage(t, 30_000, func(string) int { return 12 }) })
}

// damage fills an outbox with n events and damages each file of a copy, one bit or cut at a time.
func damage(t *testing.T, n int, tries func(file string) int) {
	dir := t.TempDir()
	o := open(t, dir)
	fill(t, o, n)
	stream := o.State().StreamID
	base := snapshot(t, dir)
	closeNow(t, o)

	rng := rand.New(rand.NewPCG(1, 2))
	files, err := filepath.Glob(filepath.Join(base, "store", "*"))
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	lost, damages := 0, 0
	for _, file := range append(files, filepath.Join(base, "watermark")) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		size := used(b)
		if size == 0 {
			continue
		}
		rel, err := filepath.Rel(base, file)
		if err != nil {
			t.Fatal(err)
		}
		for i := range tries(file) {
			copied := snapshot(t, base)
			at, bit := rng.IntN(size), rng.IntN(8)
			what := fmt.Sprintf("%s, byte %d, bit %d flipped", rel, at, bit)
			if i%6 == 5 {
				what = fmt.Sprintf("%s, cut off at byte %d", rel, at)
				err = os.Truncate(filepath.Join(copied, rel), int64(at))
			} else {
				err = flip(filepath.Join(copied, rel), at, bit)
			}
			if err != nil {
				t.Fatal(err)
			}
			lost += checkDamaged(t, copied, what, stream, n)
			damages++
			os.RemoveAll(copied)
		}
	}
	t.Logf("%d times damaged, %d events lost and reported", damages, lost)
	if lost == 0 {
		t.Error("no damage did any harm: this test has not tested anything")
	}
}

func flip(file string, at, bit int) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], int64(at)); err != nil {
		return err
	}
	b[0] ^= 1 << bit
	_, err = f.WriteAt(b[:], int64(at))
	return err
}

// checkDamaged opens a damaged outbox and returns how many events of the stream are gone.
func checkDamaged(t *testing.T, dir, what, stream string, n int) (gone int) {
	t.Helper()
	if faults() { // some damage to tables ends the process
		if deaths := openInChildren(t, dir, what); deaths > 0 {
			t.Logf("%s: opening ended the process %d times", what, deaths)
		}
	}
	o, err := Open(dir, Options{Kiosk: "kiosk-1", MinFree: 1})
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return 0
	}
	defer closeNow(t, o)
	have, reported := map[uint64]bool{}, map[uint64]bool{}
	for _, p := range pending(t, o) {
		if p.StreamID == stream {
			have[p.Seq] = true
		}
		for _, l := range toldBy(t, p) {
			for seq := l.From; seq <= l.To && l.StreamID == stream; seq++ {
				reported[seq] = true
			}
		}
	}
	s := o.State()
	for seq := uint64(1); seq <= uint64(n); seq++ {
		if !have[seq] {
			gone++
			if !reported[seq] {
				t.Fatalf("%s: event %d vanished without a report; state %+v", what, seq, s)
			}
		}
	}
	if gone > 0 && s.StreamID == stream {
		t.Errorf("%s: %d events gone, state %+v", what, gone, s)
	}
	seq, err := o.Append(context.Background(), "exhibit.seen", nil)
	if err != nil || o.State().StreamID == stream && seq != uint64(n+1) {
		t.Errorf("%s: next event has number %d, %v", what, seq, err)
	}
	return gone
}

// openInChildren opens an outbox in child processes until one lives through it, as a supervisor would.
func openInChildren(t *testing.T, dir, what string) (deaths int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), openEnv+"="+dir)
		out, err := cmd.CombinedOutput()
		if err == nil {
			return deaths
		}
		if deaths++; deaths > maxDeaths {
			t.Fatalf("%s: opened %d times in vain:\n%s", what, deaths, out)
		}
	}
}

// toldBy reads the loss that an event tells of, if it does.
func toldBy(t *testing.T, p Pending) []Loss {
	t.Helper()
	e, err := wire.DecodeEvent(p.Event)
	if err != nil {
		t.Fatal(err)
	}
	if e.Type != LostType {
		return nil
	}
	var l Loss
	if err := json.Unmarshal(e.Data, &l); err != nil {
		t.Fatal(err)
	}
	return []Loss{l}
}

// toldLosses counts the events that tell the hub of a loss.
func toldLosses(t *testing.T, o *Outbox) (n int) {
	t.Helper()
	for _, p := range pending(t, o) {
		n += len(toldBy(t, p))
	}
	return n
}

func TestLossIsReportedOnce(t *testing.T) {
	dir := t.TempDir()
	o := open(t, dir)
	fill(t, o, 50)
	old := o.State().StreamID
	// Remove what a damaged record would take along.
	if err := deleteEvents(o, 20, 21, 50); err != nil {
		t.Fatal(err)
	}
	closeNow(t, o)
	o = open(t, dir)
	want := []Loss{
		{StreamID: old, From: 20, To: 21, Reason: "missing in the store"},
		{StreamID: old, From: 50, To: 50, Reason: "cut off in the store"},
	}
	s := o.State()
	if len(s.Losses) != 2 || s.Losses[0] != want[0] || s.Losses[1] != want[1] || s.Degraded == "" {
		t.Fatalf("losses are %+v", s)
	}
	if s.StreamID == old || s.LastSeq != 2 {
		t.Errorf("no new stream with two reports: %+v", s)
	}
	closeNow(t, o)
	o = open(t, dir)
	if again := o.State(); len(again.Losses) > 0 || again.Degraded != "" || again.StreamID != s.StreamID {
		t.Errorf("after another restart: %+v", again)
	}
	if got := len(pending(t, o)); got != 47+2 {
		t.Errorf("%d events pending, want 49", got)
	}
	// The hub fills the gaps in its books with what it was told, and the old stream goes.
	if freed, err := o.Ack(wire.Ack{StreamID: old, AckedSeq: 50}); err != nil || freed != 47 {
		t.Errorf("freed %d, %v", freed, err)
	}
	if _, err := o.Ack(wire.Ack{StreamID: old, AckedSeq: 50}); err == nil {
		t.Error("the old stream is still held")
	}
	closeNow(t, o)
	if s := open(t, dir).State(); s.Degraded != "" || s.Depth != 2 {
		t.Errorf("at the end: %+v", s)
	}
}

// deleteEvents takes events of the first stream out of the store behind the outbox's back.
func deleteEvents(o *Outbox, seqs ...uint64) error {
	txn := o.db.NewTransaction(true)
	defer txn.Discard()
	for _, seq := range seqs {
		if err := txn.Delete(eventKey(0, seq)); err != nil {
			return err
		}
	}
	return txn.Commit()
}

func TestBrokenChainIsReportedOnce(t *testing.T) {
	dir := t.TempDir()
	o := open(t, dir)
	fill(t, o, 10)
	events := pending(t, o)
	e, err := wire.DecodeEvent(events[4].Event)
	if err != nil {
		t.Fatal(err)
	}
	e.Data = []byte(`{"forged":true}`)
	b, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	txn := o.db.NewTransaction(true)
	if err := txn.Set(eventKey(0, 5), b); err != nil {
		t.Fatal(err)
	}
	if err := txn.Commit(); err != nil {
		t.Fatal(err)
	}
	old := o.State().StreamID
	closeNow(t, o)
	o = open(t, dir)
	s := o.State()
	if s.Degraded != "the hash chain does not hold at event 6" || s.StreamID == old {
		t.Errorf("state %+v", s)
	}
	closeNow(t, o)
	if s := open(t, dir).State(); s.Degraded != "" || s.Depth != 10 {
		t.Errorf("after another restart: %+v", s)
	}
}

func TestStoreThatIsGone(t *testing.T) {
	dir := t.TempDir()
	o := open(t, dir)
	fill(t, o, 7)
	old := o.State().StreamID
	closeNow(t, o)
	if err := os.RemoveAll(filepath.Join(dir, "store")); err != nil {
		t.Fatal(err)
	}
	o = open(t, dir)
	s := o.State()
	if len(s.Losses) != 1 || s.Losses[0] != (Loss{old, 1, 7, "the store is gone"}) || toldLosses(t, o) != 1 {
		t.Errorf("state %+v", s)
	}
}

func TestUnreadableStoresAreSetAside(t *testing.T) {
	dir := t.TempDir()
	for range 4 {
		o := open(t, dir)
		fill(t, o, 2)
		closeNow(t, o)
		if err := os.WriteFile(filepath.Join(dir, "store", "MANIFEST"), []byte("this is no manifest"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := open(t, dir)
	if s := o.State(); !strings.Contains(s.Degraded, "set aside as store.damaged-000004") || len(s.Losses) != 1 {
		t.Errorf("state %+v", s)
	}
	aside, err := filepath.Glob(filepath.Join(dir, "store.damaged-*"))
	if err != nil || len(aside) != keptAside {
		t.Errorf("set aside: %v, %v", aside, err)
	}
}

func TestWatermarkSurvivesATornWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "watermark")
	w, err := openWatermark(path)
	if err != nil {
		t.Fatal(err)
	}
	const id = "0192f0c1-2345-7abc-8def-0123456789ab"
	for seq := range uint64(5) {
		if err := w.write(id, seq); err != nil {
			t.Fatal(err)
		}
	}
	newest := int64(w.turn%2) * slotSize
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	if err := flip(path, int(newest)+30, 3); err != nil {
		t.Fatal(err)
	}
	w, err = openWatermark(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, seq, ok := w.read(); !ok || got != id || seq != 3 {
		t.Errorf("read %s, %d, %v; want the slot before", got, seq, ok)
	}
	if err := w.write(id, 9); err != nil {
		t.Fatal(err)
	}
	if _, seq, _ := w.read(); seq != 9 {
		t.Errorf("read %d after another write", seq)
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
}

// FuzzWatermark: any bytes are read without harm, and writing over them works.
func FuzzWatermark(f *testing.F) {
	f.Add([]byte("DOM1"))
	f.Add(bytes.Repeat([]byte{0}, 2*slotSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "watermark")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		w, err := openWatermark(path)
		if err != nil {
			t.Fatal(err)
		}
		w.read()
		if err := w.write("0192f0c1-2345-7abc-8def-0123456789ab", 7); err != nil {
			t.Fatal(err)
		}
		if _, seq, ok := w.read(); !ok || seq != 7 {
			t.Fatalf("read %d, %v after writing 7", seq, ok)
		}
		if err := w.close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestStoreThatKillsItsProcessIsSetAside(t *testing.T) {
	dir := t.TempDir()
	o := open(t, dir)
	fill(t, o, 2)
	closeNow(t, o)
	note := filepath.Join(dir, "opening")
	if err := os.WriteFile(note, []byte(".."), 0o600); err != nil { // died twice: worth another try
		t.Fatal(err)
	}
	o = open(t, dir)
	if s := o.State(); s.Degraded != "" || s.Depth != 2 {
		t.Errorf("after two deaths: %+v", s)
	}
	closeNow(t, o)
	if err := os.WriteFile(note, []byte("..."), 0o600); err != nil {
		t.Fatal(err)
	}
	o = open(t, dir)
	if s := o.State(); !strings.Contains(s.Degraded, "ended the process 3 times") || len(s.Losses) != 1 {
		t.Errorf("after three deaths: %+v", s)
	}
	if _, err := os.Stat(note); !os.IsNotExist(err) {
		t.Errorf("the note is still there: %v", err)
	}
}

func TestEmptyLogFilesAreNoDamage(t *testing.T) {
	dir := t.TempDir()
	o := open(t, dir)
	fill(t, o, 10)
	copied := snapshot(t, dir)
	for _, name := range []string{"00002.mem", "000009.vlog"} { // what a kill leaves right after the file was made
		if err := os.WriteFile(filepath.Join(copied, "store", name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o = open(t, copied)
	if s := o.State(); s.Degraded != "" || s.Depth != 10 {
		t.Errorf("state %+v", s)
	}
	closeNow(t, o)
	copied = snapshot(t, dir)
	if err := os.Truncate(filepath.Join(copied, "store", "00001.mem"), 0); err != nil {
		t.Fatal(err)
	}
	o = open(t, copied)
	if s := o.State(); len(s.Losses) != 1 || s.Losses[0].To != 10 {
		t.Errorf("the log itself was emptied: %+v", s)
	}
}
