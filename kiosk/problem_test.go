package kiosk

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image/color"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"docent/vision"
)

// headerBomb is a whole PNG file whose header says 10,000 × 10,000 and which holds no pixels.
func headerBomb() []byte {
	ihdr := binary.BigEndian.AppendUint32([]byte("IHDR"), 10_000)
	ihdr = binary.BigEndian.AppendUint32(ihdr, 10_000)
	ihdr = append(ihdr, 8, 2, 0, 0, 0)
	out := []byte("\x89PNG\r\n\x1a\n")
	for _, chunk := range [][]byte{ihdr, []byte("IDAT"), []byte("IEND")} {
		out = binary.BigEndian.AppendUint32(out, uint32(len(chunk)-4))
		out = append(out, chunk...)
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(chunk))
	}
	return out
}

func jpegOf(t testing.TB, png []byte) []byte {
	t.Helper()
	p, err := vision.Decode(png)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	data, err := p.JPEG(0, 90)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestBadInput sends what no page sends. Each gets a problem in the visitor's language, and the kiosk goes on.
func TestBadInput(t *testing.T) {
	h := open(t)
	h.recogniser.set(match("red-fan"), nil)
	visit := h.startVisit("en")
	whole := jpegOf(t, board(color.RGBA{9, 9, 200, 255}, 400, 300))
	form := func(file []byte) string { _, b := upload(file); return string(b) }
	formType, _ := upload(nil)
	// Every multipart body has its own boundary, so bodies are made where they are sent.
	photos := []struct {
		name   string
		file   []byte
		status int
		code   code
	}{
		{"text file", []byte("This is a shopping list."), 415, codeNotAPicture},
		{"empty file", nil, 415, codeNotAPicture},
		{"HEIC", []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"), 415, codeNotAPicture},
		{"truncated JPEG", whole[:len(whole)/2], 422, codePictureBroken},
		{"1 × 1", board(color.RGBA{1, 2, 3, 255}, 1, 1), 422, codePictureTooSmall},
		{"100-megapixel header", headerBomb(), 413, codePictureTooLarge},
		{"20 MiB and a byte", append(whole, make([]byte, 20<<20+1-len(whole))...), 413, codePictureTooLarge},
		{"25 MiB", make([]byte, 25<<20), 413, codePictureTooLarge},
	}
	for _, tt := range photos {
		t.Run("photo/"+tt.name, func(t *testing.T) {
			wantProblem(t, h.photo(visit, tt.file), tt.status, tt.code)
		})
	}
	if p := wantProblem(t, h.photo(visit, photos[2].file), 415, codeNotAPicture); !strings.Contains(p.Detail, "HEIC") {
		t.Errorf("HEIC is not named: %s", p.Detail)
	}

	const js = "application/json"
	ask := func(q string) string {
		b, _ := json.Marshal(map[string]string{"visit": visit, "question": q})
		return string(b)
	}
	for _, tt := range []struct {
		name, method, path, typ, body string
		status                        int
		code                          code
	}{
		{"photo of no visit", "POST", "/api/v1/photo", "", "", 404, codeNoSuchVisit},
		{"photo of an unknown visit", "POST", "/api/v1/photo?visit=AAAAAAAAAAAAAAAAAAAAAA", "", "", 404, codeNoSuchVisit},
		{"photo without a camera", "POST", "/api/v1/photo?visit=" + visit, "", "", 503, codeNoCamera},
		{"photo not as a form", "POST", "/api/v1/photo?visit=" + visit, "image/jpeg", string(whole), 415, codeBadRequest},
		{"photo form without a boundary", "POST", "/api/v1/photo?visit=" + visit, "multipart/form-data", "x", 415, codeBadRequest},
		{"photo form of another boundary", "POST", "/api/v1/photo?visit=" + visit, formType, form(whole), 400, codeBadRequest},
		{"photo form without the field", "POST", "/api/v1/photo?visit=" + visit, "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\nx\r\n--b--\r\n", 400, codeBadRequest},
		{"photo form that ends too early", "POST", "/api/v1/photo?visit=" + visit, "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"photo\"\r\n\r\nx", 400, codeBadRequest},

		{"empty question", "POST", "/api/v1/ask", js, ask(""), 400, codeQuestionEmpty},
		{"blank question", "POST", "/api/v1/ask", js, ask(" \t\n\u3000"), 400, codeQuestionEmpty},
		{"question of 501 characters", "POST", "/api/v1/ask", js, ask(strings.Repeat("鼎", 501)), 400, codeQuestionTooLong},
		{"1 MB question", "POST", "/api/v1/ask", js, ask(strings.Repeat("a", 1<<20)), 413, codeQuestionTooLong},
		{"25 MB question", "POST", "/api/v1/ask", js, ask(strings.Repeat("a", 25<<20)), 413, codeQuestionTooLong},
		{"question as text", "POST", "/api/v1/ask", "text/plain", "Who?", 415, codeBadRequest},
		{"question as a form", "POST", "/api/v1/ask", "application/x-www-form-urlencoded", "question=who", 415, codeBadRequest},
		{"question of an unknown visit", "POST", "/api/v1/ask", js, `{"visit":"nobody","question":"Who?"}`, 404, codeNoSuchVisit},
		{"question of no visit", "POST", "/api/v1/ask", js, `{"question":"Who?"}`, 404, codeNoSuchVisit},
		{"explain with nothing in hand", "POST", "/api/v1/ask", js, `{"visit":"` + visit + `","explain":true}`, 409, codeNoSuchExhibit},
		{"question and explain", "POST", "/api/v1/ask", js, `{"visit":"` + visit + `","explain":true,"question":"Who?"}`, 400, codeBadRequest},
		{"no body", "POST", "/api/v1/ask", js, "", 400, codeBadRequest},
		{"no JSON", "POST", "/api/v1/ask", js, "{", 400, codeBadRequest},
		{"null", "POST", "/api/v1/ask", js, "null", 404, codeNoSuchVisit},
		{"a list", "POST", "/api/v1/ask", js, "[]", 400, codeBadRequest},
		{"two values", "POST", "/api/v1/ask", js, ask("Who?") + "{}", 400, codeBadRequest},
		{"wrong type", "POST", "/api/v1/ask", js, `{"visit":7}`, 400, codeBadRequest},
		{"unknown member", "POST", "/api/v1/ask", js, `{"visit":"` + visit + `","quesiton":"Who?"}`, 400, codeBadRequest},
		{"wrong UTF-8", "POST", "/api/v1/ask", js, `{"visit":"` + visit + "\",\"question\":\"\xff\xfe\"}", 400, codeBadRequest},

		{"huge JSON", "POST", "/api/v1/visit/start", js, `{"language":"` + strings.Repeat("e", 1<<20) + `"}`, 413, codeBadRequest},
		{"deep JSON", "POST", "/api/v1/visit/start", js, strings.Repeat("[", 10_000), 400, codeBadRequest},
		{"end of an unknown visit", "POST", "/api/v1/visit/end", js, `{"visit":"x"}`, 404, codeNoSuchVisit},
		{"forget an unknown visit", "POST", "/api/v1/visit/forget", js, `{"visit":"x"}`, 404, codeNoSuchVisit},
		{"pick an unknown exhibit", "POST", "/api/v1/visit/exhibit", js, `{"visit":"` + visit + `","exhibit":"mona-lisa"}`, 404, codeNoSuchExhibit},
		{"pick in an unknown visit", "POST", "/api/v1/visit/exhibit", js, `{"visit":"x","exhibit":"red-fan"}`, 404, codeNoSuchVisit},

		{"preview without a camera", "GET", "/api/v1/preview", "", "", 503, codeNoCamera},
		{"unknown photo", "GET", "/api/v1/photo/none?visit=" + visit, "", "", 404, codeNotFound},
		{"photo of nobody", "GET", "/api/v1/photo/none", "", "", 404, codeNoSuchVisit},
		{"socket without upgrade", "GET", "/api/v1/ws?visit=" + visit, "", "", 426, codeBadRequest},
		{"unknown address", "GET", "/api/v1/nothing", "", "", 404, codeNotFound},
		{"unknown address, posted", "POST", "/api/v2/photo", js, "{}", 404, codeNotFound},
		{"wrong method", "DELETE", "/api/v1/gallery", "", "", 405, codeMethodNotAllowed},
		{"get what is posted", "GET", "/api/v1/ask", "", "", 405, codeMethodNotAllowed},
		{"put a picture", "PUT", "/api/v1/pictures/a.png", "", "", 405, codeMethodNotAllowed},
		{"post a page", "POST", "/", js, "{}", 405, codeMethodNotAllowed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := h.do(tt.method, tt.path, tt.typ, []byte(tt.body))
			wantProblem(t, r, tt.status, tt.code)
			if tt.status == 405 && r.header.Get("Allow") == "" {
				t.Error("no Allow header")
			}
		})
	}
	if r := h.get("/readyz"); r.status != http.StatusOK {
		t.Errorf("afterwards: %d %s", r.status, r.body)
	}
	h.events.wantTypes(t) // nothing of this is worth remembering
}

func TestProblemsSpeakTheVisitorsLanguage(t *testing.T) {
	h := open(t)
	for _, tt := range []struct{ query, accept, want string }{
		{"", "", "no_such_visit.en"},
		{"", "zh-Hant-TW, en;q=0.5", "no_such_visit.zh"},
		{"&lang=zh", "en", "no_such_visit.zh"},
		{"&lang=en", "zh", "no_such_visit.en"},
		{"&lang=fr", "", "no_such_visit.en"},
		{"&lang=%00%ff", "\x80", "no_such_visit.en"},
	} {
		r := h.get("/api/v1/photo/x?visit=none"+tt.query, "Accept-Language", tt.accept)
		p := wantProblem(t, r, 404, codeNoSuchVisit)
		i := 0
		if strings.HasSuffix(tt.want, ".zh") {
			i = 1
		}
		if p.Title != sentences["no_such_visit"][i].title {
			t.Errorf("%s and %q: %s", tt.query, tt.accept, p.Title)
		}
	}
}

func TestEveryCodeHasSentences(t *testing.T) {
	for _, c := range []code{
		codeNotAPicture, codePictureTooLarge, codePictureTooSmall, codePictureBroken, codeQuestionEmpty, codeQuestionTooLong,
		codeNoSuchVisit, codeNoSuchExhibit, codeNoCamera, codeTooDark, codeBlurred, codeBusy, codeNotReady, codeBadRequest,
		codeForbidden, codeNotFound, codeMethodNotAllowed, codeInternal,
	} {
		for _, lang := range []string{"en", "zh"} {
			s := sentenceFor(&problem{code: c, variant: "heic"}, lang)
			if s.title == "" || s.detail == "" {
				t.Errorf("%s has nothing to say in %s", c, lang)
			}
			if chinese := strings.ContainsFunc(s.title+s.detail, func(r rune) bool { return r > 0x2e80 }); chinese != (lang == "zh") {
				t.Errorf("%s in %s: %s %s", c, lang, s.title, s.detail)
			}
		}
	}
}

// TestRawRequests sends what no HTTP client sends.
func TestRawRequests(t *testing.T) {
	h := open(t)
	for name, request := range map[string]string{
		"no HTTP":             "HELLO\r\n\r\n",
		"bad escape":          "GET /api/v1/exhibits/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		"a head of 10 kB":     "GET / HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("a", 10_000) + "\r\n\r\n",
		"a negative length":   "POST /api/v1/ask HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
		"a length of 1 TB":    "POST /api/v1/ask HTTP/1.1\r\nHost: x\r\nContent-Length: 1099511627776\r\n\r\n",
		"chunks without end":  "POST /api/v1/ask HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
		"a body that is late": "POST /api/v1/ask HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", h.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprint(conn, request); err != nil {
			t.Fatal(err)
		}
		if name == "a body that is late" {
			conn.Close() // the server must not care
			continue
		}
		if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, 12)
		n, err := conn.Read(answer)
		if err != nil || !bytes.HasPrefix(answer[:n], []byte("HTTP/1.1 4")) {
			t.Errorf("%s: %q, %v", name, answer[:n], err)
		}
		conn.Close()
	}
	if r := h.get("/readyz"); r.status != http.StatusOK {
		t.Errorf("afterwards: %d", r.status)
	}
}
