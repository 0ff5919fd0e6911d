package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var rewriteGolden = flag.Bool("update", false, "rewrite golden files")

type goPackage struct {
	ImportPath string
	Dir        string
	Doc        string
	GoFiles    []string
	CgoFiles   []string
	Deps       []string
	Standard   bool
	Module     *struct{ Path string }
}

func listPackages(t *testing.T, args ...string) []goPackage {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,Doc,GoFiles,CgoFiles,Deps,Standard,Module"}, args...)...)
	cmd.Dir = "../.."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v\n%s", args, err, &stderr)
	}
	var packages []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("read go list: %v", err)
		}
		packages = append(packages, p)
	}
}

// TestImportRules keeps the areas apart. A rule that has to be broken is a design decision, to be made in
// DESIGN.md and here.
func TestImportRules(t *testing.T) {
	rules := []struct {
		from      string
		forbidden []string
		why       string
	}{
		{"docent/vision", []string{"docent/kiosk", "docent/sync", "docent/agent", "docent/hardware", "docent/ui"}, "vision hands out recognitions; kiosk carries them"},
		{"docent/localindex", []string{"docent/kiosk", "docent/sync", "docent/agent", "docent/vision", "docent/hardware", "docent/ui"}, "content on disk depends on nothing of the house"},
		{"docent/agent", []string{"docent/kiosk", "docent/sync", "docent/vision", "docent/hardware", "docent/ui"}, "the guide answers from a library it is given"},
		{"docent/hardware", []string{"docent/kiosk", "docent/sync", "docent/agent", "docent/vision", "docent/localindex", "docent/ui"}, "the box knows nothing of galleries"},
		{"docent/ui", []string{"docent/kiosk", "docent/sync", "docent/agent", "docent/vision", "docent/localindex", "docent/hardware"}, "pages are files"},
		{"docent/sync", []string{"docent/kiosk", "docent/agent", "docent/hardware", "docent/ui"}, "sync carries bytes it does not interpret"},
		{"docent/sync/wire", []string{"docent/localindex", "docent/vision"}, "only the hub builds releases"},
		{"docent/sync/outbox", []string{"docent/localindex", "docent/vision"}, "only the hub builds releases"},
		{"docent/sync/link", []string{"docent/localindex", "docent/vision"}, "only the hub builds releases"},
		{"docent/kiosk", []string{"docent/sync/hub"}, "a kiosk holds no hub; cmd puts both in one process for the demo"},
	}
	below := func(path, area string) bool { return path == area || strings.HasPrefix(path, area+"/") }
	for _, p := range listPackages(t, "./...") {
		for _, rule := range rules {
			if !below(p.ImportPath, rule.from) {
				continue
			}
			for _, dep := range p.Deps {
				for _, f := range rule.forbidden {
					if below(dep, f) {
						t.Errorf("%s imports %s: %s", p.ImportPath, dep, rule.why)
					}
				}
			}
		}
		if below(p.ImportPath, "docent/vision") {
			for _, dep := range p.Deps {
				if below(dep, "docent/localindex") && dep != "docent/localindex/vector" && dep != "docent/localindex/gallery" {
					t.Errorf("%s imports %s: vision uses only the vector index and the content words", p.ImportPath, dep)
				}
			}
		}
	}
}

// TestPackageComments checks that every package says once what it is for.
func TestPackageComments(t *testing.T) {
	for _, p := range listPackages(t, "./...") {
		if len(p.GoFiles)+len(p.CgoFiles) == 0 {
			continue
		}
		if p.Doc == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

// TestNoReplace keeps go.mod free of replace lines: what is built is what the module proxy serves.
func TestNoReplace(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(mod), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "replace") {
			t.Errorf("go.mod: %s", line)
		}
	}
}

// TestDependencies keeps the modules that end up in the binary in a file, so that a heavier binary shows in review.
func TestDependencies(t *testing.T) {
	modules := map[string]bool{}
	for _, p := range listPackages(t, "-deps", "./cmd/docent") {
		if !p.Standard && p.Module != nil && p.Module.Path != "docent" {
			modules[p.Module.Path] = true
		}
	}
	var list []string
	for m := range modules {
		list = append(list, m)
	}
	sort.Strings(list)
	got := strings.Join(list, "\n") + "\n"
	golden := filepath.Join("testdata", "modules.txt")
	if *rewriteGolden {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("modules in the binary changed (-%s +built); if that is meant: go test ./cmd/docent -run TestDependencies -update\n%s", golden, diff)
	}
}
