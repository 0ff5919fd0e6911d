package display

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Run runs a program with arguments and returns what it prints, at most [maxPicture] bytes.
type Run func(ctx context.Context, args ...string) ([]byte, error)

// Find returns a program of this machine by its name; nil where it is not installed.
func Find(name string) Run {
	path, err := exec.LookPath(name)
	if err != nil {
		return nil
	}
	return func(ctx context.Context, args ...string) ([]byte, error) {
		out, says := &limited{most: maxPicture}, &limited{most: 512}
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.Stdout, cmd.Stderr = out, says
		cmd.WaitDelay = time.Second // a child of it may hold the pipes
		if err := cmd.Run(); err != nil {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			line, _, _ := strings.Cut(strings.TrimSpace(says.String()+"\n"+out.head()), "\n")
			return nil, errors.New(strings.TrimSuffix(fmt.Sprintf("%v: %s", err, strings.TrimSpace(line)), ": "))
		}
		if out.over {
			return nil, fmt.Errorf("it prints more than %d bytes", out.most)
		}
		return out.Bytes(), nil
	}
}

// limited keeps the first bytes that are written to it.
type limited struct {
	bytes.Buffer
	most int
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	if room := l.most - l.Len(); len(p) > room {
		l.over = true
		l.Buffer.Write(p[:room])
		return len(p), nil
	}
	return l.Buffer.Write(p)
}

// head is the first of what was written, for a message.
func (l *limited) head() string { return string(l.Bytes()[:min(l.Len(), 256)]) }
