package release

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sealed is a manifest as Pack would write it, after change.
func sealed(t testing.TB, change func(*Manifest)) []byte {
	t.Helper()
	m := Manifest{
		Format: Format, Number: 3, Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Gallery: "test", Languages: []string{"en"},
		Files: []File{{Path: "a", Size: 1, SHA256: strings.Repeat("0", 64)}, {Path: "b/c", Size: 2, SHA256: strings.Repeat("f", 64)}},
	}
	change(&m)
	if m.ID == "" {
		m.ID = releaseID(m.Number, m.Files)
	}
	data, err := m.encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDecodeManifestRefuses(t *testing.T) {
	file := func(path string) func(*Manifest) { return func(m *Manifest) { m.Files[0].Path = path } }
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "read it"},
		{"other format", sealed(t, func(m *Manifest) { m.Format = 2 }), "format is 2"},
		{"negative number", sealed(t, func(m *Manifest) { m.Number = -1 }), "number"},
		{"no gallery", sealed(t, func(m *Manifest) { m.Gallery = "" }), "gallery"},
		{"no language", sealed(t, func(m *Manifest) { m.Languages = nil }), "language"},
		{"id of other files", sealed(t, func(m *Manifest) { m.ID = "3-000000000000" }), "its id"},
		{"path upwards", sealed(t, file("../x")), "not allowed"},
		{"path upwards inside", sealed(t, file("a/../../x")), "not allowed"},
		{"absolute path", sealed(t, file("/etc/passwd")), "not allowed"},
		{"path with a backslash", sealed(t, file(`..\x`)), "not allowed"},
		{"path with a drive", sealed(t, file("C:x")), "not allowed"},
		{"path with a line end", sealed(t, file("a\nb")), "not allowed"},
		{"empty path", sealed(t, file("")), "not allowed"},
		{"the manifest in itself", sealed(t, file(ManifestFile)), "not allowed"},
		{"long path", sealed(t, file(strings.Repeat("a", 513))), "not allowed"},
		{"file twice", sealed(t, file("b/c")), "twice"},
		{"negative size", sealed(t, func(m *Manifest) { m.Files[0].Size = -1 }), "size"},
		{"huge file", sealed(t, func(m *Manifest) { m.Files[0].Size = MaxFileBytes + 1 }), "size"},
		{"no hash", sealed(t, func(m *Manifest) { m.Files[0].SHA256 = "" }), "hash"},
		{"unknown key", []byte(strings.Replace(string(sealed(t, func(*Manifest) {})), `"number"`, `"extra": 1, "number"`, 1)), "unknown field"},
		{"something behind it", append(sealed(t, func(*Manifest) {}), "{}"...), "invalid character"},
		{"white space behind it", append(sealed(t, func(*Manifest) {}), ' '), "changed"},
		{"other date", []byte(strings.Replace(string(sealed(t, func(*Manifest) {})), "2026-01-02", "2026-01-03", 1)), "changed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := DecodeManifest(tt.data)
			if !errors.Is(err, ErrManifest) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want ErrManifest that says %q", err, tt.want)
			}
		})
	}
	if _, err := DecodeManifest(sealed(t, func(*Manifest) {})); err != nil {
		t.Errorf("a good manifest: %v", err)
	}
}

func FuzzDecodeManifest(f *testing.F) {
	f.Add(sealed(f, func(*Manifest) {}))
	f.Add(sealed(f, func(m *Manifest) { m.Files = nil }))
	f.Add([]byte(`{"format":1,"files":[{"path":"../../etc/passwd"}]}`))
	f.Add([]byte(`{"format":1,"parts":{"x":[[[[[[[[]]]]]]]]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := DecodeManifest(data)
		if err != nil {
			return
		}
		again, err := m.encode()
		if err != nil || string(again) != string(data) {
			t.Errorf("accepted a manifest it would not write: %v\n%s", err, data)
		}
		for _, file := range m.Files {
			if !filepath.IsLocal(filepath.FromSlash(file.Path)) {
				t.Errorf("accepted the path %q", file.Path)
			}
		}
	})
}

func TestReadJSONRefuses(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"unknown.json":  `{"nonsense": 1}`,
		"trailing.json": `{} {}`,
		"broken.json":   `{`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		var v struct{ Known int }
		if err := ReadJSON(dir, name, &v); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}
