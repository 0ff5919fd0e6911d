package main

import (
	"context"
	"os"
	"os/exec"

	"docent/vision/camera"
)

// cameraChildCmd is the process that owns a camera. Only docent starts it, see [cameraProgram].
type cameraChildCmd struct{}

func (cameraChildCmd) Run(ctx context.Context) error {
	_ = os.WriteFile("/proc/self/comm", []byte("docent-camera"), 0) // for lists of processes, which say "exe" otherwise
	return camera.Serve(ctx, os.Stdin, os.NewFile(3, "frames"), func() { os.Exit(exitDone) })
}

// cameraProgram is this very program as the owner of a camera, also after its file was replaced by a newer one.
func cameraProgram() *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", "camera-child")
	cmd.Args[0] = "docent"
	return cmd
}
