package brokersuite

import (
	"encoding/json"
	"net/http"
)

// troubles asks the hub's page what is wrong with kiosks.
func (h *house) troubles(r running) []string {
	h.t.Helper()
	res, err := http.Get("http://" + r.HTTPAddr() + "/api/v1/kiosks")
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	var in struct {
		Kiosks []struct {
			Troubles []struct{ Code, Value string }
		}
	}
	if err := json.NewDecoder(res.Body).Decode(&in); err != nil {
		h.t.Fatal(err)
	}
	var out []string
	for _, k := range in.Kiosks {
		for _, trouble := range k.Troubles {
			out = append(out, trouble.Code+" "+trouble.Value)
		}
	}
	return out
}
