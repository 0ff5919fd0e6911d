package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const addressLine = `Visitor's page +(http://\S+)`

// TestVisit is the whole line: headless Chromium photographs a sample exhibit, reads its name, asks, sees a citation;
// then the memory events are in the hub's database.
func TestVisit(t *testing.T) {
	if testing.Short() {
		t.Skip("the whole visit is not part of -short")
	}
	dir := houseDir(t)
	p := start(t, "demo", "--dir", dir, "--listen", "127.0.0.1:0", "--hub-listen", "127.0.0.1:0")
	browse(t, p.out.match(t, addressLine))
	hasWholeVisit(t, filepath.Join(dir, "hub", "hub.db"), 2)
}

// TestRealVisit is the same line on real paintings and a real visitor's photo.
func TestRealVisit(t *testing.T) {
	if testing.Short() {
		t.Skip("the whole visit is not part of -short")
	}
	estense := realData(t, "estense")
	known, unknown := labelled(t, filepath.Join(estense, "photos"))

	galleryDir := t.TempDir()
	if err := os.CopyFS(galleryDir, os.DirFS(filepath.Join(estense, "references"))); err != nil {
		t.Fatal(err)
	}
	copyFile(t, filepath.Join(estense, "catalogue.csv"), filepath.Join(galleryDir, "catalogue.csv"))
	camera := t.TempDir()
	copyFile(t, known[0].file, filepath.Join(camera, "photo.jpg"))

	dir := t.TempDir()
	p := start(t, "demo", "--dir", dir, "--gallery", galleryDir, "--photos", camera, "--listen", "127.0.0.1:0", "--hub-listen", "127.0.0.1:0")
	address := p.out.match(t, addressLine)
	browse(t, address)
	hasWholeVisit(t, filepath.Join(dir, "hub", "hub.db"), 1)

	var visit struct{ Visit string }
	if code := request(t, http.MethodPost, address+"/api/v1/visit/start", map[string]string{"language": "en"}, &visit); code != http.StatusCreated {
		t.Fatalf("start visit: %d", code)
	}
	right := 0
	for _, photo := range known[:10] {
		if r := upload(t, address, visit.Visit, photo.file); r.Decision == "match" {
			if slices.Contains(photo.exhibits, r.first()) {
				right++
			} else {
				t.Errorf("%s shows %v and was named %s", photo.file, photo.exhibits, r.first())
			}
		}
	}
	if right < 8 {
		t.Errorf("%d of 10 real photos were named right, want at least 8", right)
	}
	for _, photo := range unknown[:5] {
		if r := upload(t, address, visit.Visit, photo.file); r.Decision == "match" {
			t.Errorf("%s shows nothing of the catalogue and was named %s", photo.file, r.first())
		}
	}
}

// browse runs the browser's part.
func browse(t *testing.T, address string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "npm", "run", "--silent", "test:visit")
	cmd.Dir = filepath.Join("..", "..", "ui", "e2e")
	cmd.Env = append(os.Environ(), "DOCENT_URL="+address)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the visit in the browser: %v\n%s", err, out)
	}
}

// hasWholeVisit waits until the hub's database holds what that many visits told.
func hasWholeVisit(t *testing.T, db string, visits int) {
	t.Helper()
	var events []string
	eventually(t, "the events of a whole visit at the hub", func() bool {
		events = storedEvents(t, db)
		for _, typ := range []string{"visit.started", "exhibit.seen ", "question.answered ", "visit.ended"} {
			if countType(typ, events) < visits {
				return false
			}
		}
		return true
	})
	t.Logf("at the hub: %q", events)
}

type labelledPhoto struct {
	file     string
	exhibits []string
}

// labelled reads labels.csv: framed photos of catalogued works, and of others.
func labelled(t *testing.T, photos string) (known, unknown []labelledPhoto) {
	t.Helper()
	f, err := os.Open(filepath.Join(photos, "labels.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		photo := labelledPhoto{filepath.Join(photos, row[0]), strings.Fields(row[1])}
		switch {
		case !strings.HasPrefix(row[0], "framed/"):
		case len(photo.exhibits) > 0:
			known = append(known, photo)
		default:
			unknown = append(unknown, photo)
		}
	}
	return known, unknown
}

type recognition struct {
	Decision   string
	Candidates []struct{ Exhibit struct{ ID string } }
}

func (r recognition) first() string {
	if len(r.Candidates) == 0 {
		return ""
	}
	return r.Candidates[0].Exhibit.ID
}

func upload(t *testing.T, address, visit, file string) recognition {
	t.Helper()
	picture, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("photo", "photo.jpg")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write(picture); err != nil {
		t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(address+"/api/v1/photo?visit="+visit, form.FormDataContentType(), &body)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		t.Fatalf("upload %s: %d %s", file, res.StatusCode, data)
	}
	var r recognition
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// realData is a folder of the data for tests; the test is skipped where it is absent.
func realData(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("DOCENT_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	dir = filepath.Join(dir, name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no real photos here: %v (set DOCENT_DATA)", err)
	}
	return dir
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := fs.ReadFile(os.DirFS(filepath.Dir(from)), filepath.Base(from))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
