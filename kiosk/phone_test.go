package kiosk

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// listen opens an event stream and returns its events one after the other.
func (h *house) listen(path string) (next func() (event, data string), closed func()) {
	h.t.Helper()
	resp, err := client.Get(h.base + path)
	if err != nil {
		h.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		h.t.Fatalf("%s: %d", path, resp.StatusCode)
	}
	lines := bufio.NewScanner(resp.Body)
	return func() (event, data string) {
		h.t.Helper()
		for lines.Scan() {
			if l, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				event = l
			}
			if l, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return event, l
			}
		}
		h.t.Fatalf("%s ended: %v", path, lines.Err())
		return
	}, func() { resp.Body.Close() }
}

func withPhone(o *Options) { o.Config.Phone.URL = "http://192.0.2.7:8080/" }

func (h *house) offer(visit string) (token string) {
	h.t.Helper()
	var o struct {
		URL, QR string
		Seconds int
	}
	h.post("/api/v1/phone/offer", map[string]string{"visit": visit}, http.StatusCreated).json(h.t, &o)
	base, token, ok := strings.Cut(o.URL, "#")
	if !ok || base != "http://192.0.2.7:8080/phone.html" || !strings.HasPrefix(o.QR, "<svg") || o.Seconds != 120 {
		h.t.Errorf("offer %+v", o)
	}
	return token
}

func (h *house) send(token string, file []byte) reply {
	h.t.Helper()
	typ, body := upload(file)
	return h.do(http.MethodPost, "/api/v1/phone/photo?token="+token, typ, body)
}

func TestPhotoFromAPhone(t *testing.T) {
	h := open(t, withPhone)
	h.recogniser.set(match("red-fan"), nil)
	visit := h.startVisit("en")
	token := h.offer(visit)
	next, closed := h.listen("/api/v1/phone/wait?visit=" + visit)
	defer closed()

	wantProblem(t, h.send(token, []byte("no picture")), http.StatusUnsupportedMediaType, codeNotAPicture)
	r := h.send(token, board(black, 640, 480)) // the code is still good
	if r.status != http.StatusNoContent || len(r.body) != 0 {
		t.Fatalf("status %d: %s", r.status, r.body)
	}
	event, data := next()
	var a photoAnswer
	if err := json.Unmarshal([]byte(data), &a); event != "photo" || err != nil || a.Decision != "match" || a.Candidates[0].Exhibit.ID != "red-fan" {
		t.Errorf("%s: %s (%v)", event, data, err)
	}
	if r := h.get(a.Photo.URL); r.status != http.StatusOK || !bytes.HasPrefix(r.body, []byte("\xff\xd8")) {
		t.Errorf("the photo: %d", r.status)
	}
	p := wantProblem(t, h.send(token, board(black, 640, 480)), http.StatusGone, codeNoSuchVisit)
	if p.Title != "This code is over" {
		t.Errorf("title %q", p.Title)
	}
}

func TestCodesForPhonesEnd(t *testing.T) {
	h := open(t, withPhone)
	h.recogniser.set(match("red-fan"), nil)
	visit := h.startVisit("en")
	picture := board(black, 640, 480)

	first := h.offer(visit)
	next, closed := h.listen("/api/v1/phone/wait?visit=" + visit)
	defer closed()
	second := h.offer(visit)
	if event, _ := next(); event != "over" {
		t.Errorf("a new code, and the one before says %s", event)
	}
	wantProblem(t, h.send(first, picture), http.StatusGone, codeNoSuchVisit)
	for range offerTries {
		wantProblem(t, h.send(second, []byte("no picture")), http.StatusUnsupportedMediaType, codeNotAPicture)
	}
	h.phonePhotos = newBucket(100, time.Second)
	wantProblem(t, h.send(second, picture), http.StatusGone, codeNoSuchVisit)

	third := h.offer(visit)
	h.post("/api/v1/visit/end", map[string]string{"visit": visit}, http.StatusNoContent)
	wantProblem(t, h.send(third, picture), http.StatusGone, codeNoSuchVisit)
	wantProblem(t, h.send("", picture), http.StatusGone, codeNoSuchVisit)
}

func TestPhoneDesk(t *testing.T) {
	var d phoneDesk
	now := time.Unix(1_000_000, 0)
	token, _, ok := d.open("a", now)
	if !ok {
		t.Fatal("no code")
	}
	if _, _, ok := d.take(token, now.Add(offerLife+time.Second)); ok {
		t.Error("a code that ran out is good")
	}
	_, give, ok := d.take(token, now)
	if !ok {
		t.Fatal("a good code is refused")
	}
	if _, _, again := d.take(token, now); again {
		t.Error("two photos at once")
	}
	d.withdraw("a", now)
	give([]byte("late")) // must not reach anybody, nor panic
	for i := range mostOffers {
		if _, _, ok := d.open(string(rune('α'+i)), now); !ok {
			t.Fatalf("code %d refused", i)
		}
	}
	if _, _, ok := d.open("one too many", now); ok {
		t.Error("more codes than there may be")
	}
	if _, _, ok := d.open("later", now.Add(offerLife+time.Second)); !ok {
		t.Error("codes that ran out still take room")
	}
}

func TestWithoutPhones(t *testing.T) {
	h := open(t)
	h.refused("/api/v1/phone/offer", map[string]any{"visit": h.startVisit("en")}, http.StatusNotFound, codeNotFound)
	for listen, want := range map[string]string{
		"127.0.0.1:8080": "", "0.0.0.0:8080": "", "[::1]:80": "", ":8080": "", "kiosk.local:80": "", "192.0.2.7:8080": "http://192.0.2.7:8080",
	} {
		if got := (Config{Listen: listen}).phoneURL(); got != want {
			t.Errorf("%s: %q, want %q", listen, got, want)
		}
	}
}

func TestPhotosFromPhonesHaveARate(t *testing.T) {
	h := open(t, withPhone)
	var last reply
	for range 10 {
		last = h.send("x", []byte("x"))
	}
	wantProblem(t, last, http.StatusServiceUnavailable, codeBusy)
}
