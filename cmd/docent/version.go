package main

import (
	"fmt"
	"runtime/debug"
)

type versionCmd struct{}

func (versionCmd) Run(t *terminal) error {
	_, err := fmt.Fprintln(t.out, "docent", version())
	return err
}

// builtFrom is what git describe said when make built this binary; the linker sets it. Other builds leave it empty.
var builtFrom string

// version is what this binary was built from, at most 64 bytes, as a status message holds.
func version() string {
	info, _ := debug.ReadBuildInfo()
	return versionOf(builtFrom, info)
}

// versionOf is what make has written into the binary, else the commit or the module's version that the Go tool has.
func versionOf(built string, info *debug.BuildInfo) string {
	if built != "" {
		return built[:min(64, len(built))]
	}
	if info == nil {
		return "unknown"
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			if s.Value == "true" {
				modified = "+changes"
			}
		}
	}
	switch module := info.Main.Version; {
	case revision != "":
		return revision + modified
	case module != "" && module != "(devel)":
		return module[:min(64, len(module))]
	}
	return "unknown"
}
