package kiosk

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

func TestContentConfig(t *testing.T) {
	web := httptest.NewTLSServer(http.NotFoundHandler())
	web.Close()
	ca, none := filepath.Join(t.TempDir(), "ca.pem"), filepath.Join(t.TempDir(), "none.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		content ContentConfig
		want    []string // problems, by the beginning of their text
	}{
		{"nothing", ContentConfig{}, nil},
		{"default", defaultContent(), nil},
		{"all", ContentConfig{MaxKbitS: 64, Hours: "22:00-06:00", Mirror: "https://content.example/docent", MirrorCA: ca, StickFolders: []string{"/mnt/usb"}}, nil},
		{"too slow, never, in clear", ContentConfig{MaxKbitS: 5, Hours: "at night", Mirror: "http://content.example"}, []string{"content.max_kbit_s: ", "content.hours: ", "content.mirror: "}},
		{"certificates of nothing", ContentConfig{MirrorCA: "/etc/ca.pem"}, []string{"content.mirror_ca: "}},
		{"certificates that are not there", ContentConfig{Mirror: "https://content.example", MirrorCA: none}, []string{"content.mirror_ca: read CA file: stat " + none}},
		{"the whole disk", ContentConfig{StickFolders: []string{"/", "media"}}, []string{"content.stick_folders: ", "content.stick_folders: "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := DefaultConfig()
			c.Content = tt.content
			wantProblems(t, c, tt.want)
		})
	}
}
