package hub

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"docent/localindex/release/releasetest"
	"docent/sync/link"
	"docent/sync/update"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// packNoise makes a release with n pictures of size bytes that no other release has.
func packNoise(t *testing.T, number, n, size int) string {
	t.Helper()
	random := rand.NewChaCha8([32]byte{byte(number)})
	pictures := make([][]byte, n)
	for i := range pictures {
		pictures[i] = make([]byte, size)
		if _, err := random.Read(pictures[i]); err != nil {
			t.Fatal(err)
		}
	}
	return releasetest.Pack(t, number, time.Now(), pictures)
}

// asker notes what content is asked for and what comes.
type asker struct {
	update.Source
	mu    sync.Mutex
	asked int64 // bytes of objects that the hub was asked for, and sent as far as the line let it
	came  int64
}

func (a *asker) Fetch(ctx context.Context, req wire.Fetch) (wire.Chunk, error) {
	object := wire.ValidObject(req.Name)
	c, err := a.Source.Fetch(ctx, req)
	a.mu.Lock()
	defer a.mu.Unlock()
	if object && !errors.Is(err, link.ErrNotConnected) {
		if err != nil { // asked for, and lost on the way or never sent
			a.asked += int64(req.Length)
		} else {
			a.asked += int64(len(c.Data))
			a.came += int64(len(c.Data))
		}
	}
	return c, err
}

func (a *asker) arrived() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.came
}

// waiting is an event that the hub has not confirmed.
type waiting struct {
	seq  uint64
	at   time.Time
	came int64 // content that had arrived when it happened
}

// TestThinLine brings events up and a release down over one line of few bits, with a long delay, losses, silences and
// cuts. Both get through; nothing is lost or stored twice; no event waits for more than a few blocks of content; and of the
// content, no more than a twentieth travels twice. DOCENT_FAULTS=1 takes the line of a mobile modem far from its mast: 64
// kbit/s, 0.8 s there and back, 5 % lost, cut every 30 s.
func TestThinLine(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a slow line; not part of -short")
	}
	speed, pictures, size := 4.0, 4, 30_000
	if faults() {
		speed, pictures, size = 1, 30, 80_000
	}
	scaled := func(d time.Duration) time.Duration { return time.Duration(float64(d) / speed) }

	h := startHub(t, Config{Dir: t.TempDir()})
	a := author(t, h)
	root, err := a.Root()
	if err != nil {
		t.Fatal(err)
	}
	line := &thinLine{
		rate: 64_000 / 8 * speed, delay: scaled(400 * time.Millisecond), loss: 0.05,
		cut: scaled(30 * time.Second), silence: scaled(40 * time.Second), silent: scaled(5 * time.Second),
	}
	var u *update.Updater
	dir := t.TempDir()
	k := startKiosk(t, line.start(t, h.MQTTAddr()), "kiosk-1", filepath.Join(dir, "outbox"), func(o *link.Options) {
		o.AckTimeout = scaled(link.DefaultAckTimeout)
		o.Random = func() float64 { return rand.Float64() / speed }
		o.Desired = func(wire.Desired) {
			if u != nil {
				u.Desired()
			}
		}
	})
	s, err := update.OpenStore(filepath.Join(dir, "content"), packNoise(t, 1, 1, 1000), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	client, err := trust.NewClient(filepath.Join(dir, "metadata"), root)
	if err != nil {
		t.Fatal(err)
	}
	r := sign(t, a, packNoise(t, 2, pictures, size))
	r.upload(t, h, 0)
	if code, body := r.publish(t, h); code != http.StatusOK {
		t.Fatalf("publish: %d %s", code, body)
	}
	content := &asker{Source: link.Content{Link: k.link}}
	if u, err = update.New(update.Options{
		Store: s, Trust: client, Source: content, Content: stage{}, Report: k.link.Report, MinFree: 1, Retry: scaled(time.Minute), Poll: scaled(15 * time.Minute),
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := u.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	defer running.Wait()
	defer cancel()

	// An event every two seconds, as from a busy screen.
	began := time.Now()
	var open []waiting
	var waits []time.Duration
	var overtaken []int64
	next := time.NewTicker(scaled(2 * time.Second))
	defer next.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	events, during := 0, 0 // during: confirmed while content was still to come
	for u.State().ReleaseID != r.index.ReleaseID || u.State().Status != wire.DeploySuccess || len(open) > 0 {
		if time.Since(began) > 30*time.Minute {
			t.Fatalf("after %v: %+v, %d events wait", time.Since(began), u.State(), len(open))
		}
		select {
		case <-next.C:
			if u.State().Status == wire.DeploySuccess {
				continue
			}
			seq, err := k.Append(ctx, "exhibit.seen", map[string]any{"n": events, "exhibit": "penrose", "decision": "match", "visit": "0198f3d2-0000-7000-8000-000000000000"})
			if err != nil {
				t.Fatal(err)
			}
			events++
			open = append(open, waiting{seq, time.Now(), content.arrived()})
		case <-look.C:
			acked := k.State().AckedSeq
			for len(open) > 0 && open[0].seq <= acked {
				waits = append(waits, time.Since(open[0].at))
				overtaken = append(overtaken, content.arrived()-open[0].came)
				if u.State().Status != wire.DeploySuccess {
					during++
				}
				open = open[1:]
			}
		}
	}
	took := time.Since(began)
	cancel()
	running.Wait()
	k.drained(t)

	rows := checkRows(t, stored(t, h.cfg.Dir))
	if rows["kiosk-1"] < events { // there are those of the connection, too
		t.Errorf("%d rows, %d events", rows["kiosk-1"], events)
	}
	slices.Sort(waits)
	slices.Sort(overtaken)
	total := int64(0)
	entries, err := os.ReadDir(r.objects)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	// What came twice, and what came of packets that were cut off and had to come again.
	resent := float64(content.came-total+line.torn.Load()) / float64(total)
	asked := float64(content.asked-total) / float64(total)
	t.Logf("%.0f kbit/s, %v there and back, %d cuts: %d bytes of content in %v (%.0f %% of the line), %.2f %% of it carried twice, %.2f %% asked for twice; the line carried %d down and %d up",
		line.rate*8/1000, 2*line.delay, line.cuts.Load(), total, took.Round(time.Second), 100*float64(total)/took.Seconds()/line.rate, 100*resent, 100*asked, line.down.Load(), line.up.Load())
	t.Logf("%d events: confirmed after %v (half), %v (99 %%), %v (last); while %d (half), %d (99 %%), %d bytes (most) of content came",
		events, waits[len(waits)/2], waits[len(waits)*99/100], waits[len(waits)-1], overtaken[len(overtaken)/2], overtaken[len(overtaken)*99/100], overtaken[len(overtaken)-1])
	if line.cuts.Load() == 0 {
		t.Error("the line was never cut")
	}
	if most := overtaken[len(overtaken)-1]; during < events/2 || faults() && most > 128<<10 {
		t.Errorf("events were starved: of %d %d were confirmed while content came, and %d bytes of it came before one of them", events, during, most)
	}
	allowed := total / 20
	if !faults() {
		allowed += line.cuts.Load() * 16 << 10 // of so little content, the block that a cut goes through is a large part
	}
	if twice := content.came - total + line.torn.Load(); twice > allowed {
		t.Errorf("%d bytes of %d were carried twice", twice, total)
	}
}
