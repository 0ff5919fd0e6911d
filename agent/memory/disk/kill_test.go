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

// conversation is the visit of a round.
func conversation(round int) memory.Visit {
	return memory.Visit{Name: fmt.Sprintf("%032x", round), Key: [32]byte{7, byte(round), byte(round >> 8)}}
}

// talk says one numbered thing after the other, each of another kind, with the consumer at work beside it.
func talk(dir string, round int) {
	s, err := Open(dir, Options{})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	v := conversation(round)
	m := memory.New(memory.Options{Store: s, Publish: func(_ context.Context, e memory.Envelope) error {
		opened, err := v.Open(e)
		for _, c := range opened.Commands {
			fmt.Println("published", c.Key, c.Version, c.ID)
		}
		return err
	}})
	go m.Run(context.Background())
	for i := 0; i < 200; i++ {
		text := fmt.Sprintf("We have %d minutes. I'm allergic to %s", minutes(i), word(i))
		fmt.Println("begun", i)
		h, err := m.Hear(context.Background(), v, memory.Said{Text: text, At: time.Unix(1e9, 0).UTC()})
		if err != nil {
			fmt.Println("error", err)
			return
		}
		fmt.Println("critical", i)
		if err := m.Keep(context.Background(), v, h); err != nil {
			fmt.Println("error", err)
			return
		}
		fmt.Println("kept", i)
	}
	select {} // until it is killed
}

func minutes(i int) int { return 100 + i }

// word is one of its own for each number, of letters only.
func word(i int) string { return "thing" + string(rune('a'+i/26)) + string(rune('a'+i%26)) }

// TestKill kills a kiosk at a random moment of each of many conversations, all on one store. Every fact that was
// acknowledged has to be there, in the state that was said last, and each thing that was said may have been applied once.
// DOCENT_FAULTS=1 is the long form, of 500 conversations.
func TestKill(t *testing.T) {
	conversations := 6
	if os.Getenv("DOCENT_FAULTS") == "1" {
		conversations = 500
	}
	if testing.Short() {
		conversations = 2
	}
	dir := t.TempDir()
	acknowledged, versions := 0, 0
	for round := range conversations {
		heard := killOne(t, dir, round)
		acknowledged += heard.critical + heard.kept + 2
		versions += len(heard.given)
		s, err := Open(dir, Options{})
		if err != nil {
			t.Fatalf("after kill %d: %v", round, err)
		}
		checkKilled(t, s, round, heard, "at the start")
		m := memory.New(memory.Options{Store: s})
		ctx, stop := context.WithCancel(t.Context())
		ran := make(chan struct{})
		go func() { defer close(ran); m.Run(ctx) }()
		if _, err := m.Recall(conversation(round)); err != nil { // which takes up what waits
			t.Fatal(err)
		}
		for !drained(t, s) {
			time.Sleep(time.Millisecond)
		}
		stop()
		<-ran
		checkKilled(t, s, round, heard, "when all is worked in")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d conversations killed, %d acknowledged facts, none lost; %d versions told to others, none twice; none applied twice", conversations, acknowledged, versions)
}

// heard is what a child told before it was killed: the last numbers, -1 for none.
type heard struct {
	begun, critical, kept int
	given                 map[string]string // key and version → id of the command
}

func killOne(t *testing.T, dir string, round int) heard {
	t.Helper()
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
	h := heard{-1, -1, -1, map[string]string{}}
	lines, until := bufio.NewScanner(out), 1+rand.IntN(60)
	for n := 1; lines.Scan(); n++ {
		if n == until { // what is already in the pipe is still read
			time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond) // in the middle of what comes next
			if err := child.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		fields := strings.Fields(lines.Text())
		number := -1
		if len(fields) == 2 {
			number, _ = strconv.Atoi(fields[1])
		}
		switch fields[0] {
		case "begun":
			h.begun = number
		case "critical":
			h.critical = number
		case "kept":
			h.kept = number
		case "published":
			version := fields[1] + " " + fields[2]
			if before, known := h.given[version]; known && before != fields[3] {
				t.Fatalf("version %s was given to %s and %s", version, before, fields[3])
			}
			h.given[version] = fields[3]
		case "error":
			t.Fatal(lines.Text())
		}
	}
	_ = child.Wait() // it was killed
	return h
}

// checkKilled holds what is remembered against what the child told.
func checkKilled(t *testing.T, s *Store, round int, h heard, when string) {
	t.Helper()
	facts, err := memory.New(memory.Options{Store: s}).Recall(conversation(round))
	if err != nil {
		t.Fatal(err)
	}
	things, left := map[string]memory.Fact{}, memory.Fact{}
	for _, f := range facts {
		switch f.Kind {
		case memory.KindAllergy:
			things[f.Value] = f
		case memory.KindTime:
			left = f
		}
	}
	for i := 0; i <= h.critical; i++ {
		if _, ok := things[word(i)]; !ok {
			t.Fatalf("conversation %d, %s: %s is lost", round, when, word(i))
		}
	}
	for thing, f := range things {
		if f.Version != 1 { // each was said once
			t.Fatalf("conversation %d, %s: %s was applied %d times", round, when, thing, f.Version)
		}
	}
	// What was begun last may be there without its acknowledgement; what was acknowledged may not be gone.
	said := -1
	for i := 0; i <= h.begun; i++ {
		if strings.Contains(left.Text, strconv.Itoa(minutes(i))) {
			said = i
		}
	}
	if said < h.kept || left.Version > uint64(h.begun+1) {
		t.Fatalf("conversation %d, %s: %q in version %d; kept %d, begun %d", round, when, left.Text, left.Version, h.kept, h.begun)
	}
}

// drained says whether nothing waits in the queue any more.
func drained(t *testing.T, s *Store) bool {
	t.Helper()
	waiting := false
	if err := s.Scan("q/", func(string, []byte) error { waiting = true; return nil }); err != nil {
		t.Fatal(err)
	}
	return !waiting
}
