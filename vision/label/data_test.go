package label

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"
)

// unknownPhotos are visitors' photos of works that are not in the catalogue, and the names of those that are, each
// with a number as if on its wall.
func unknownPhotos(t *testing.T) (photos []string, names map[string]Names) {
	t.Helper()
	dir := os.Getenv("DOCENT_DATA")
	if dir == "" {
		dir = "../../../shared/data"
	}
	dir = filepath.Join(dir, "estense")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("needs the photos of DOCENT_DATA")
	}
	for _, row := range table(t, filepath.Join(dir, "photos", "labels.csv")) {
		if row[1] == "" {
			photos = append(photos, filepath.Join(dir, "photos", row[0]))
		}
	}
	names = map[string]Names{}
	for i, row := range table(t, filepath.Join(dir, "catalogue.csv")) {
		names[row[0]] = Names{Number: string(rune('1'+i/100)) + row[0][1:], Titles: []string{row[1]}}
	}
	return photos, names
}

func table(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}
