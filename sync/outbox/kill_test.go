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

// appendForEver appends from many goroutines and prints each number once Append has returned it.
func appendForEver(dir string) error {
	o, err := Open(dir, Options{Kiosk: "kiosk-1", MinFree: 1})
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
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

// TestKillWhileAppending kills a process with -9 in the middle of its appends, again and again on the same folder.
// Every number it had been given must be there, without a gap, and nothing may be reported as lost.
func TestKillWhileAppending(t *testing.T) {
	times := 4
	if faults() {
		times = 100
	}
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range times {
		told := killedChild(t, dir, time.Duration(50+rng.IntN(400))*time.Millisecond)
		o := open(t, dir)
		s := o.State()
		if s.Degraded != "" || len(s.Losses) > 0 {
			t.Fatalf("kill %d: %+v", i, s)
		}
		events := pending(t, o)
		checkChain(t, events)
		have := map[uint64]bool{}
		for _, p := range events {
			have[p.Seq] = true
		}
		for _, seq := range told {
			if !have[seq] {
				t.Fatalf("kill %d: event %d was told to be stored and is not there", i, seq)
			}
		}
		t.Logf("kill %d: %d events told, %d stored, all there", i, len(told), len(events))
		if _, err := o.Ack(ack(o, s.LastSeq-uint64(min(len(events)/3, 100)))); err != nil { // leave some for the next round
			t.Fatal(err)
		}
		closeNow(t, o)
	}
}

// killedChild runs a child for a while after its first event and returns the numbers it told before it was killed.
func killedChild(t *testing.T, dir string, after time.Duration) []uint64 {
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
	var told []uint64
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		seq, err := strconv.ParseUint(lines.Text(), 10, 64)
		if err != nil {
			t.Fatalf("child said %q", lines.Text())
		}
		if told = append(told, seq); len(told) == 1 {
			time.AfterFunc(after, func() { cmd.Process.Kill() })
		}
	}
	err = cmd.Wait()
	if err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("child ended by itself: %v", err)
	}
	if len(told) == 0 {
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
