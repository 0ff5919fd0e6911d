// Command docent is the whole product in one binary: the kiosk, the hub, and the tools of content writers.
//
// In: a command line. Out: exit code 0 when it is done, 1 when it did not work, 2 when it was used wrongly. This is
// the only place that reads the environment, wires areas together and exits.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
