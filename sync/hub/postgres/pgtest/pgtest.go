// Package pgtest gives tests a PostgreSQL server of their own, from Debian's package, on a socket in a temporary folder.
package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Server is a server of a test.
type Server struct {
	bin, dir string
	as       *syscall.Credential // whom it runs as; nil: this process's user
	guard    io.Closer           // when it is closed, the server ends and its folder goes
}

var (
	shared    = sync.OnceValues(start)
	databases atomic.Int64
)

// Database makes an empty database on a server that all tests of the binary share, and returns its URL. It skips the
// test where PostgreSQL is not installed.
func Database(t testing.TB) string {
	t.Helper()
	return serverOf(t, shared).Database(t)
}

// Restored backs a database of Database up, as it is now, restores it as another, and returns the URL of that.
func Restored(t testing.TB, from string) string {
	t.Helper()
	s := serverOf(t, shared)
	to := s.Database(t)
	file := filepath.Join(s.dir, fmt.Sprintf("dump%d", databases.Add(1)))
	if err := s.run("pg_dump", "--format=custom", "--file="+file, from); err != nil {
		t.Fatal(err)
	}
	if err := s.run("pg_restore", "--single-transaction", "--exit-on-error", "--dbname="+to, file); err != nil {
		t.Fatal(err)
	}
	return to
}

// New starts a server for one test, which may stop and start it. It skips the test where PostgreSQL is not installed.
func New(t testing.TB) *Server {
	t.Helper()
	s := serverOf(t, start)
	t.Cleanup(func() { _ = s.guard.Close() })
	return s
}

var errAbsent = errors.New("PostgreSQL is not installed: make setup-test")

func serverOf(t testing.TB, get func() (*Server, error)) *Server {
	t.Helper()
	s, err := get()
	if errors.Is(err, errAbsent) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Database makes an empty database and returns its URL.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test%d", databases.Add(1))
	s.Exec(t, "postgres", "CREATE DATABASE "+name)
	return s.url(name)
}

func (s *Server) url(database string) string {
	return "postgres:///" + database + "?user=docent&host=" + s.dir
}

// Exec runs a statement in a database.
func (s *Server) Exec(t testing.TB, database, statement string) {
	t.Helper()
	if err := exec1(s.url(database), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func exec1(url, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, statement)
	return errors.Join(err, c.Close(ctx))
}

// Crash stops the server without letting it finish anything.
func (s *Server) Crash(t testing.TB) {
	t.Helper()
	if err := s.run("pg_ctl", "-D", s.dir+"/data", "-m", "immediate", "-w", "stop"); err != nil {
		t.Fatal(err)
	}
}

// Start starts a server that was stopped, and waits until it has recovered.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) start() error {
	return s.run("pg_ctl", "-D", s.dir+"/data", "-l", s.dir+"/log", "-w", "-t", "120", "-o", "-k "+s.dir, "start")
}

// folder finds the programs of the newest version that is installed.
func folder() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		if path, err := exec.LookPath("initdb"); err == nil {
			return filepath.Dir(path), nil
		}
		return "", errAbsent
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })
	return filepath.Dir(newest), nil
}

// start makes a cluster that is as durable as one in use, and starts it.
func start() (*Server, error) {
	bin, err := folder()
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin}
	// Not t.TempDir: a socket's path may have 107 bytes, and the server's user has to reach it.
	if s.dir, err = os.MkdirTemp("/tmp", "docent-pg-"); err != nil {
		return nil, err
	}
	if os.Geteuid() == 0 { // the server refuses to run as root
		if s.as, err = unprivileged(); err != nil {
			return nil, err
		}
		if err := os.Chown(s.dir, int(s.as.Uid), int(s.as.Gid)); err != nil {
			return nil, err
		}
	}
	if err := s.watch(); err != nil {
		return nil, err
	}
	if err := s.init(); err != nil {
		return nil, errors.Join(err, s.guard.Close())
	}
	return s, nil
}

func (s *Server) init() error {
	if err := s.run("initdb", "-D", s.dir+"/data", "-U", "docent", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"); err != nil {
		return err
	}
	conf, err := os.OpenFile(s.dir+"/data/postgresql.conf", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = conf.WriteString("listen_addresses = ''\nshared_buffers = 64MB\nmax_connections = 60\n")
	if err := errors.Join(err, conf.Close()); err != nil {
		return err
	}
	return s.start()
}

// watching waits for the end of its input, ends the server, and removes the folder it is given when that has ended.
const watching = `read _
[ -f data/postmaster.pid ] && server=$(head -n 1 data/postmaster.pid) && kill -QUIT "$server" && for i in $(seq 300); do
	kill -0 "$server" || break
	sleep 0.1
done
cd / && rm -rf "$0"`

// watch starts a process that ends the server and removes its folder when this process has ended, however that was.
func (s *Server) watch() error {
	cmd := exec.Command("sh", "-c", watching, s.dir)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: s.as}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.guard = in
	return cmd.Process.Release() // it ends with the guard, and nobody waits for it
}

func (s *Server) run(program string, args ...string) error {
	cmd := exec.Command(filepath.Join(s.bin, program), args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	// A file, not a pipe: the server would hold a pipe open.
	out, err := os.OpenFile(filepath.Join(s.dir, program+".out"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(out.Name())
		log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		return fmt.Errorf("%s: %w: %s %s", program, err, bytes.TrimSpace(said), log[max(0, len(log)-2000):])
	}
	return nil
}

// unprivileged is the user that Debian's package makes, or nobody.
func unprivileged() (*syscall.Credential, error) {
	var errs []error
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.Join(errs...)
}

// Log is the server's log.
func (s *Server) Log() string { return filepath.Join(s.dir, "log") }
