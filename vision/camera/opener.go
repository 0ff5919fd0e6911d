package camera

import (
	"errors"
	"log/slog"
	"os/exec"
	"sync"
)

// Program returns the program that owns a camera, not yet started: one that calls [Serve] with its standard input and
// its file 3, such as this very binary with a hidden command. Input, error output and files are set by the [Opener].
type Program func() *exec.Cmd

// maxStuck is how many processes that cannot be killed are left behind before no more are started. Linux kills none
// that waits for a driver.
const maxStuck = 3

var errStuckProcesses = errors.New("earlier processes hang in the camera's driver and cannot be ended; unplug the camera or restart the machine")

// Opener opens one source again and again. Cameras, streams and video files are opened by a process of their own, which
// is killed when the source is closed: OpenCV waits for a camera for as long as it likes, and a crash in a decoder
// must not end the kiosk. Folders of pictures are opened here.
type Opener struct {
	spec     string
	settings Settings
	program  Program
	log      *slog.Logger

	mu    sync.Mutex
	stuck []<-chan struct{} // each closed when a process that was killed has ended
}

// NewOpener returns an opener of what spec names, see [Open]. The error is [ErrSpec].
func NewOpener(spec string, s Settings, program Program, log *slog.Logger) (*Opener, error) {
	if _, err := kindOf(spec); err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Opener{spec: spec, settings: s.withDefaults(), program: program, log: log}, nil
}

// Open opens the source, which does not wait for the camera: the first Read does.
func (o *Opener) Open() (Source, error) {
	k, err := kindOf(o.spec) // again: a folder may have been put in place of a file
	if err != nil {
		return nil, err
	}
	if k == kindFolder {
		return OpenFolder(o.spec, o.settings)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stuck = stillOpen(o.stuck)
	if len(o.stuck) >= maxStuck {
		return nil, errStuckProcesses
	}
	return startProcess(o, patienceWith[k])
}

// leave notes a process that did not end when it was killed.
func (o *Opener) leave(ended <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stuck = append(o.stuck, ended)
}

func stillOpen(channels []<-chan struct{}) []<-chan struct{} {
	var open []<-chan struct{}
	for _, c := range channels {
		select {
		case <-c:
		default:
			open = append(open, c)
		}
	}
	return open
}
