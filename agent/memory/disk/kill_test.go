package disk

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"docent/agent/memory"
)

// The child of the kill test talks until it is killed, and prints a line for what is acknowledged.
const (
	childDir   = "DOCENT_MEMORY_CHILD_DIR"
	childRound = "DOCENT_MEMORY_CHILD_ROUND"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		round, _ := strconv.Atoi(os.Getenv(childRound))
		talk(dir, round)
		return
	}
	os.Exit(m.Run())
}

var killed = memory.Visit{Name: strings.Repeat("c", 32), Key: [32]byte{7}}

// talk says one numbered thing after the other, each of another kind, with the consumer at work beside it.
func talk(dir string, round int) {
	s, err := Open(dir, Options{})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	m := memory.New(memory.Options{Store: s, Publish: func(_ context.Context, e memory.Envelope) error {
		opened, err := killed.Open(e)
		for _, c := range opened.Commands {
			fmt.Println("published", c.Key, c.Version, c.ID)
		}
		return err
	}})
	go m.Run(context.Background())
	for i := 0; ; i++ {
		minutes := 100 + (round*50+i)%500
		text := fmt.Sprintf("We have %d minutes. I'm allergic to %s", minutes, word(round, i))
		h, err := m.Hear(context.Background(), killed, memory.Said{Text: text, At: time.Unix(1e9, 0).UTC()})
		if err != nil {
			fmt.Println("error", err)
			return
		}
		fmt.Println("critical", word(round, i))
		if err := m.Keep(context.Background(), killed, h); err != nil {
			fmt.Println("error", err)
			return
		}
		fmt.Println("kept", minutes)
	}
}

// word is one of twenty made up of letters only.
func word(round, i int) string { return "thing" + string(rune('a'+(round*7+i)%20)) }

// TestKill kills a kiosk at random moments, again and again on the same store, and wants every acknowledged fact to be
// there, and every version to have been given once. DOCENT_MEMORY_KILLS sets how often.
func TestKill(t *testing.T) {
	kills := 6
	if n, err := strconv.Atoi(os.Getenv("DOCENT_MEMORY_KILLS")); err == nil {
		kills = n
	}
	if testing.Short() {
		kills = 2
	}
	dir := t.TempDir()
	given := map[string]string{} // key and version → id of the command
	acknowledged := 0
	things := map[string]bool{}
	for round := range kills {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childDir+"="+dir, childRound+"="+strconv.Itoa(round))
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		minutes, lines, until := "", bufio.NewScanner(out), 20+rand.IntN(60)
		for n := 0; lines.Scan(); n++ {
			if n == until { // what is already in the pipe is still read
				if err := child.Process.Signal(syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
			fields := strings.Fields(lines.Text())
			switch fields[0] {
			case "critical":
				things[fields[1]] = true
				acknowledged++
			case "kept":
				minutes = fields[1]
				acknowledged++
			case "published":
				version := fields[1] + " " + fields[2]
				if before, known := given[version]; known && before != fields[3] {
					t.Fatalf("version %s was given to %s and %s", version, before, fields[3])
				}
				given[version] = fields[3]
			case "error":
				t.Fatal(lines.Text())
			}
		}
		_ = child.Wait() // it was killed

		s, err := Open(dir, Options{})
		if err != nil {
			t.Fatalf("after kill %d: %v", round, err)
		}
		m := memory.New(memory.Options{Store: s})
		facts, err := m.Recall(killed)
		if err != nil {
			t.Fatal(err)
		}
		have, left := map[string]bool{}, ""
		for _, f := range facts {
			if f.Kind == memory.KindAllergy {
				have[f.Value] = true
			}
			if f.Kind == memory.KindTime {
				left = f.Text
			}
		}
		for thing := range things {
			if !have[thing] {
				t.Fatalf("after kill %d: %s is lost", round, thing)
			}
		}
		// What was said last may be there without its acknowledgement; what was acknowledged may not be gone.
		if minutes != "" && !strings.Contains(left, minutes) && !strings.Contains(left, next(minutes)) {
			t.Fatalf("after kill %d: %q, want %s minutes or the next", round, left, minutes)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, %d acknowledged facts, none lost; %d versions given, none twice", kills, acknowledged, len(given))
}

// next is what is said after so many minutes.
func next(minutes string) string {
	n, _ := strconv.Atoi(minutes)
	return strconv.Itoa(100 + (n-100+1)%500)
}
