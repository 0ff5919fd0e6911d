package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/alecthomas/kong"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

type cli struct {
	Demo      demoCmd      `cmd:"" help:"Hub, kiosk and sample gallery in one process; nothing else needed."`
	Kiosk     kioskCmd     `cmd:"" help:"Run a kiosk."`
	Hub       hubCmd       `cmd:"" help:"Run a hub."`
	Rollout   rolloutCmd   `cmd:"" help:"Say which kiosks get a release, and when; stop it, take it back."`
	Emergency emergencyCmd `cmd:"" help:"Cover all screens with a message."`
	Gallery   galleryCmd   `cmd:"" help:"Write, check and pack a gallery's content."`
	Evaluate  evaluateCmd  `cmd:"" help:"Measure how good recognition and retrieval are."`
	Bench     benchCmd     `cmd:"" help:"Measure how fast this machine is."`
	Install   installCmd   `cmd:"" help:"Give a kiosk on this machine a release from a file."`
	Fleet     fleetCmd     `cmd:"" help:"Simulate many kiosks against a hub, and measure it."`
	Doctor    doctorCmd    `cmd:"" help:"Say what this machine has and lacks for a kiosk."`
	Trace     traceCmd     `cmd:"" help:"Show how a kiosk's answers came about."`
	Version   versionCmd   `cmd:"" help:"Say which version this is."`

	CameraChild cameraChildCmd `cmd:"" hidden:"" help:"Own a camera; started by docent itself."`

	Verbose bool `help:"Log what is being done, to standard error."`
}

// terminal is where a command writes: results to out, progress and logs to err.
type terminal struct {
	out, err io.Writer
	log      *slog.Logger
}

// usageError is a wrong use that the command line parser could not see.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var c cli
	exited := -1
	parser, err := kong.New(&c,
		kong.Name("docent"),
		kong.Description("A guide that stands in the gallery: it names an exhibit from a photo, explains it with its sources, and needs no network."),
		kong.Writers(stdout, stderr),
		kong.Vars{"commands": commandNames()},
		kong.Exit(func(code int) { exited = code }),
		kong.UsageOnError(),
	)
	if err != nil {
		fmt.Fprintln(stderr, "docent:", err)
		return exitFailed
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if exited >= 0 { // --help was asked for and printed
		return exited
	}
	if err != nil {
		var parse *kong.ParseError
		if errors.As(err, &parse) {
			_ = parse.Context.PrintUsage(true)
		}
		fmt.Fprintln(stderr, "docent:", err)
		return exitUsage
	}

	level := slog.LevelWarn
	if c.Verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
	parsed.BindTo(ctx, (*context.Context)(nil))
	err = parsed.Run(&terminal{out: stdout, err: stderr, log: log})
	var usage usageError
	switch {
	case err == nil, errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return exitDone
	case errors.As(err, &usage):
		printError(stderr, err)
		return exitUsage
	default:
		printError(stderr, err)
		return exitFailed
	}
}
