package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"
)

// runAsDocent makes the test binary behave as docent, so that tests run the product as its own process.
const runAsDocent = "RUN_AS_DOCENT"

func TestMain(m *testing.M) {
	if os.Getenv(runAsDocent) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// process is docent running on its own.
type process struct {
	cmd *exec.Cmd
	out *lines
}

// lines collects what a process prints and lets a test wait for a line.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{} // closed and replaced at each write
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.more)
	l.more = make(chan struct{})
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// match waits for the pattern and returns its first group.
func (l *lines) match(t *testing.T, pattern string) string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	deadline := time.After(3 * time.Minute)
	for {
		l.mu.Lock()
		found, more := re.FindStringSubmatch(l.text.String()), l.more
		l.mu.Unlock()
		if found != nil {
			return found[1]
		}
		select {
		case <-more:
		case <-deadline:
			t.Fatalf("docent never printed %s; it printed:\n%s", pattern, l)
		}
	}
}

// command is docent with these arguments, not yet started.
func command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), runAsDocent+"=1")
	return cmd
}

// docent runs a command to its end and returns its exit code and what it printed.
func docent(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := command(t.Context(), args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !asExit(err, &exit) {
		t.Fatalf("run docent %v: %v", args, err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func asExit(err error, exit **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError)
	*exit = e
	return ok
}

// start starts docent; it is stopped, and must stop well, when the test ends.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{out: &lines{more: make(chan struct{})}}
	p.cmd = command(context.Background(), args...)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.cmd.ProcessState != nil {
			return
		}
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Errorf("stop docent %v: %v", args, err)
		}
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("docent %v stopped with %v; it printed:\n%s", args, err, p.out)
		}
	})
	return p
}

// kill ends the process as a power cut would.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait() // killed: its error is what was asked for
}

// house is one folder for the demo of all tests, so that the sample gallery is made once.
var house = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "docent-test-")
	return filepath.Join(dir, "demo"), err
})

func houseDir(t *testing.T) string {
	t.Helper()
	dir, err := house()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// sampleRelease is the folder of a packed release of the sample gallery.
func sampleRelease(t *testing.T) string {
	t.Helper()
	dir := houseDir(t)
	var out bytes.Buffer
	h, err := prepareDemo(t.Context(), &terminal{out: &out, err: &out}, dir, "")
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	return h.release
}

// request sends JSON (or nothing, where body is nil) and decodes the answer into out.
func request(t *testing.T, method, url string, body, out any) int {
	t.Helper()
	var r io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		r = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, r)
	if err != nil {
		t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if out != nil {
		if err := json.Unmarshal(data, out); err != nil {
			t.Fatalf("%s %s: %v in %.300s", method, url, err, data)
		}
	}
	return res.StatusCode
}

// storedEvents reads the hub's own database, as "type exhibit" in the order of arrival.
func storedEvents(t *testing.T, db string) []string {
	t.Helper()
	d, err := sql.Open("sqlite3", "file:"+db+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	rows, err := d.QueryContext(t.Context(), `SELECT type, coalesce(json_extract(data, '$.exhibit'), '') FROM events ORDER BY id`)
	if err != nil {
		t.Fatalf("read %s: %v", db, err)
	}
	defer rows.Close()
	var events []string
	for rows.Next() {
		var typ, exhibit string
		if err := rows.Scan(&typ, &exhibit); err != nil {
			t.Fatal(err)
		}
		events = append(events, strings.TrimSpace(fmt.Sprint(typ, " ", exhibit)))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return events
}

// eventually waits until ok, which is asked again and again, says yes.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("never came: %s", what)
}
