package hub

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"docent/sync/wire"
)

// FuzzEnrolment sends whatever to the addresses that a kiosk without a certificate may use, and to those that want one:
// each is answered in the protocol's words, and nobody gets a certificate.
func FuzzEnrolment(f *testing.F) {
	csr := `{"csr":"AA=="}`
	for i := range uint8(4) {
		for _, id := range []string{"", "0123456789abcdef0123456789abcdef", "../..", "\x00%2f"} {
			f.Add(i, id, []byte(csr))
			f.Add(i, id, []byte(nil))
		}
	}
	now := &clock{}
	h := runHub(f, Config{Dir: f.TempDir(), Clock: now.now})
	server, err := h.authority.Server()
	if err != nil {
		f.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(server.Certificate[0])
	if err != nil {
		f.Fatal(err)
	}
	turn := time.Duration(0)
	f.Fuzz(func(t *testing.T, which uint8, id string, body []byte) {
		turn += time.Minute
		now.set(turn % (24 * time.Hour)) // so that it is not always too soon
		r := httptest.NewRequest([]string{http.MethodPost, http.MethodGet}[which%2], "/", nil)
		r.URL = &url.URL{Path: []string{wire.EnrolPath, wire.EnrolPath + "/" + id, wire.RenewPath, wire.StandingPath}[which%4]}
		r = r.Clone(t.Context())
		r.Body = http.NoBody
		if len(body) > 0 {
			r.Body = httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body)).Body
		}
		r.TLS = &tls.ConnectionState{}
		if which%8 > 3 {
			r.TLS.PeerCertificates = []*x509.Certificate{leaf}
		}
		w := httptest.NewRecorder()
		h.enrolment.server.Handler.ServeHTTP(w, r)
		if w.Code >= http.StatusInternalServerError {
			t.Fatalf("%s %s: %d %s", r.Method, r.URL, w.Code, w.Body)
		}
		var a wire.EnrolAnswer
		if json.Unmarshal(w.Body.Bytes(), &a) == nil && (a.Status == wire.EnrolGranted || len(a.Certificate) > 0) {
			t.Errorf("%s %s: granted %+v", r.Method, r.URL, a)
		}
	})
}
