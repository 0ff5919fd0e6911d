package ways_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"docent/sync/update"
	"docent/sync/update/internal/house"
	"docent/sync/update/limit"
	"docent/sync/update/trust"
	"docent/sync/update/ways"
	"docent/sync/wire"
)

// TestWaitsForItsHours: a release that is published at four is known at once, comes when it is time at no more than the
// line may carry, stops when the time is over, and goes on the next time, all by itself.
func TestWaitsForItsHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // its clock begins at midnight UTC
		h := house.New(t)
		changed := make([]int, 60)
		for i := range changed {
			changed[i] = i
		}
		h.Publish(house.Pack(t, 2, len(changed), changed...))
		hours, err := limit.ParseHours("16:05-16:07, 16:15-16:17, 16:20-16:25")
		if err != nil {
			t.Fatal(err)
		}
		line := limit.New(64, hours, time.Now, time.FixedZone("there", 16*3600)) // where it is four in the afternoon
		over := ways.New(ways.Options{Hub: h, Line: line})
		dir := t.TempDir()
		client, err := trust.NewClient(filepath.Join(dir, "metadata"), h.Root())
		if err != nil {
			t.Fatal(err)
		}
		store, err := update.OpenStore(filepath.Join(dir, "content"), house.Pack(t, 1, 3), h.Now)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var last wire.Deploy
		u, err := update.New(update.Options{
			Store: store, Trust: client, Source: over, Content: anything{}, MinFree: 1,
			Report: func(d wire.Deploy) { mu.Lock(); last = d; mu.Unlock() },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if err := u.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		status := func() wire.DeployStatus { mu.Lock(); defer mu.Unlock(); return last.Status }

		time.Sleep(5*time.Minute - time.Second)
		objects, metadata := h.Sent()
		if objects != 0 || metadata == 0 || status() != wire.DeployDownloading {
			t.Errorf("before it is time: %d bytes of objects, %d of metadata, %s", objects, metadata, status())
		}
		time.Sleep(3 * time.Minute)
		first, _ := h.Sent()
		if most := 2*60*8000 + 8000; first < most/2 || first > most || status() != wire.DeployDownloading {
			t.Errorf("after the first time: %d bytes, at most %d were allowed; %s", first, most, status())
		}
		time.Sleep(6 * time.Minute)
		if objects, _ := h.Sent(); objects != first {
			t.Errorf("%d bytes came between", objects-first)
		}
		time.Sleep(12 * time.Minute)
		if status() != wire.DeploySuccess {
			t.Errorf("in the end: %s", status())
		}
		cancel()
		running.Wait()
	})
}
