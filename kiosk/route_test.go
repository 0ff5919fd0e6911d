package kiosk

import (
	"net/http"
	"testing"
)

func TestRoute(t *testing.T) {
	h := open(t)
	var r struct {
		Minutes float64
		Stops   []struct {
			Exhibit exhibitCard
			Reason  string
			Minutes float64
		}
	}
	h.get("/api/v1/route?minutes=60&lang=zh&interests=painter").json(t, &r)
	if len(r.Stops) != 2 || r.Minutes <= 0 || r.Minutes > 60 || r.Stops[0].Exhibit.Title == "" || r.Stops[0].Reason == "" {
		t.Errorf("%+v", r)
	}
	for query, want := range map[string]int{
		"?minutes=x": http.StatusBadRequest, "?minutes=1": http.StatusBadRequest, "?minutes=100000": http.StatusBadRequest, "?hall=none": http.StatusNotFound,
		"?visit=none": http.StatusNotFound, "?interests=a,b,c,d,e,f,g,h,i,j,k": http.StatusBadRequest,
	} {
		if got := h.get("/api/v1/route" + query).status; got != want {
			t.Errorf("%s: status %d, want %d", query, got, want)
		}
	}
}
