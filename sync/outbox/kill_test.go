package outbox

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"docent/sync/wire"
)

// childEnv names the folder of the outbox that a child process of a test fills until it is killed, openEnv of one
// that it only opens.
const (
	childEnv = "DOCENT_TEST_OUTBOX"
	openEnv  = "DOCENT_TEST_OUTBOX_OPEN"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		if err := appendForEver(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if dir := os.Getenv(openEnv); dir != "" {
		o, err := Open(dir, Options{Kiosk: "kiosk-1", MinFree: 1})
		if err == nil {
			err = o.Close()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// faults tells whether the long form of the fault tests is asked for.
func faults() bool { return os.Getenv("DOCENT_FAULTS") == "1" }

// appendForEver appends from many goroutines and prints each number once Append has returned it. It acknowledges all
// but the newest few as it goes, and replaces its store often.
func appendForEver(dir string) error {
	o, err := Open(dir, Options{Kiosk: "kiosk-1", MinFree: 1})
	if err != nil {
		return err
	}
	o.reclaimAt = 32 << 10
	var wg sync.WaitGroup
	var mu sync.Mutex
	wg.Go(func() {
		for {
			if s := o.State(); s.LastSeq > s.AckedSeq+100 {
				if _, err := o.Ack(wire.Ack{StreamID: s.StreamID, AckedSeq: s.LastSeq - 20}); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
			}
			time.Sleep(time.Millisecond)
		}
	})
	for range 8 {
		wg.Go(func() {
			for {
				seq, err := o.Append(context.Background(), "exhibit.seen", map[string]string{"visit": "v", "exhibit": "penrose"})
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				mu.Lock()
				fmt.Println(seq)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return nil
}

// TestKillWhileAppending kills a process with -9 in the middle of its appends, acknowledgements and replacements of its
// store, again and again on the same folder. Every number it had been given must be there unless it was acknowledged,
// without a gap, and nothing may be reported as lost.
func TestKillWhileAppending(t *testing.T) {
	times := 4
	if faults() {
		times = 200
	}
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(3, 4))
	all := 0
	for i := range times {
		var told []uint64
		if i%3 == 2 { // while it opens the store
			told = killedChild(t, dir, true, time.Duration(rng.IntN(80))*time.Millisecond)
		} else {
			told = killedChild(t, dir, false, time.Duration(50+rng.IntN(400))*time.Millisecond)
		}
		o := open(t, dir)
		s := o.State()
		if s.Degraded != "" || len(s.Losses) > 0 {
			t.Fatalf("kill %d: %+v", i, s)
		}
		events := pending(t, o)
		checkChain(t, events)
		if uint64(len(events)) != s.LastSeq-s.AckedSeq || len(events) > 0 && events[0].Seq != s.AckedSeq+1 {
			t.Fatalf("kill %d: %d events in the store, state %+v", i, len(events), s)
		}
		for _, seq := range told {
			if seq > s.LastSeq {
				t.Fatalf("kill %d: event %d was told to be stored and is not there", i, seq)
			}
		}
		all += len(told)
		closeNow(t, o)
	}
	t.Logf("kill -9 of the outbox: %d instants, %d events told durable; 0 lost, 0 gaps", times, all)
}

// killedChild runs a child for a while, from its start or from its first event on, and returns the numbers it told
// before it was killed.
func killedChild(t *testing.T, dir string, fromStart bool, after time.Duration) []uint64 {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if fromStart {
		time.AfterFunc(after, func() { cmd.Process.Kill() })
	}
	var told []uint64
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		seq, err := strconv.ParseUint(lines.Text(), 10, 64)
		if err != nil {
			t.Fatalf("child said %q", lines.Text())
		}
		if told = append(told, seq); len(told) == 1 && !fromStart {
			time.AfterFunc(after, func() { cmd.Process.Kill() })
		}
	}
	err = cmd.Wait()
	if err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("child ended by itself: %v", err)
	}
	if len(told) == 0 && !fromStart {
		t.Fatal("child stored nothing")
	}
	return told
}

// BenchmarkAppend measures durable events a second from 1, 16 and 128 callers at once.
func BenchmarkAppend(b *testing.B) {
	for _, callers := range []int{1, 16, 128} {
		b.Run(strconv.Itoa(callers), func(b *testing.B) {
			o := open(b, b.TempDir())
			data := map[string]any{"visit": "0192f0c1-2345-7abc-8def-0123456789ab", "exhibit": "penrose", "decision": "match", "confidence": 0.97, "by": "photo"}
			b.ResetTimer()
			var wg sync.WaitGroup
			for c := range callers {
				n := b.N / callers
				if c < b.N%callers {
					n++
				}
				wg.Go(func() {
					for range n {
						if _, err := o.Append(context.Background(), "exhibit.seen", data); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
