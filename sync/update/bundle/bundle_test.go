package bundle

import (
	"path/filepath"
	"testing"
)

// FuzzDecodeIndex feeds the index decoder.
func FuzzDecodeIndex(f *testing.F) {
	good := Index{Format: 1, ReleaseID: "2-abc", Number: 2, Files: []File{{Path: "a/b", Size: 3, Chunks: []Chunk{{SHA256: Sum(nil), Size: 3}}}}}
	data, err := good.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"format":1,"release_id":"../x","files":[{"path":"../../etc/passwd"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := Decode(data)
		if err != nil {
			return
		}
		for _, file := range x.Files {
			if !filepath.IsLocal(filepath.FromSlash(file.Path)) {
				t.Errorf("accepted the path %q", file.Path)
			}
		}
		if _, err := x.Encode(); err != nil {
			t.Error(err)
		}
	})
}
