package rollout_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"docent/sync/hub/rollout"
	"docent/sync/wire"
)

func TestDecodePlan(t *testing.T) {
	for _, tt := range []struct {
		name, in, wrong string
		want            rollout.Plan
	}{
		{"none", "", "", rollout.Everybody()},
		{"null", "null", "", rollout.Everybody()},
		{"canary", `{"groups":[{"name":"canary","kiosks":["louvre/a"],"error_threshold":"5%","timeout_hours":0.5},{"name":"some","percent":10,"error_threshold":2,"success_threshold":0},{"name":"all","rest":true,"approval":true}]}`, "", rollout.Plan{Groups: []rollout.Group{
			{Name: "canary", Kiosks: []rollout.Kiosk{{Site: "louvre", Kiosk: "a"}}, Errors: percent(5), TimeoutHours: .5},
			{Name: "some", Percent: 10, Errors: rollout.Limit{N: 2}, Success: of(0)},
			{Name: "all", Rest: true, Approval: true},
		}}},
		{"no JSON", `groups:`, "invalid character", rollout.Plan{}},
		{"unknown key", `{"groups":[{"name":"a","rest":true,"stop":1}]}`, `unknown field "stop"`, rollout.Plan{}},
		{"two plans", `{"groups":[{"name":"a","rest":true}]}{}`, "something follows", rollout.Plan{}},
		{"no group", `{"groups":[]}`, "0 groups", rollout.Plan{}},
		{"too many groups", `{"groups":[` + strings.Repeat(`{"name":"a"},`, 20) + `{"name":"a"}]}`, "21 groups", rollout.Plan{}},
		{"no name", `{"groups":[{"rest":true}]}`, "group 1: name", rollout.Plan{}},
		{"name twice", `{"groups":[{"name":"a","percent":1},{"name":"a","rest":true}]}`, "two groups are called a", rollout.Plan{}},
		{"of no kiosk", `{"groups":[{"name":"a"}]}`, "one of kiosks, percent and rest", rollout.Plan{}},
		{"of two kinds", `{"groups":[{"name":"a","percent":1,"rest":true}]}`, "one of kiosks, percent and rest", rollout.Plan{}},
		{"rest in the middle", `{"groups":[{"name":"a","rest":true},{"name":"b","percent":1}]}`, "rest is for the last", rollout.Plan{}},
		{"percent", `{"groups":[{"name":"a","percent":101}]}`, "percent is 101", rollout.Plan{}},
		{"negative percent", `{"groups":[{"name":"a","percent":-1}]}`, "percent is -1", rollout.Plan{}},
		{"success", `{"groups":[{"name":"a","rest":true,"success_threshold":101}]}`, "success_threshold is 101", rollout.Plan{}},
		{"errors", `{"groups":[{"name":"a","rest":true,"error_threshold":"101%"}]}`, "neither a number", rollout.Plan{}},
		{"negative errors", `{"groups":[{"name":"a","rest":true,"error_threshold":-1}]}`, "neither a number", rollout.Plan{}},
		{"timeout", `{"groups":[{"name":"a","rest":true,"timeout_hours":1e9}]}`, "timeout_hours", rollout.Plan{}},
		{"kiosk", `{"groups":[{"name":"a","kiosks":["louvre"]}]}`, "SITE/KIOSK", rollout.Plan{}},
		{"kiosk's name", `{"groups":[{"name":"a","kiosks":["louvre/A b"]}]}`, "kiosk", rollout.Plan{}},
		{"kiosk twice", `{"groups":[{"name":"a","kiosks":["louvre/a"]},{"name":"b","kiosks":["louvre/a"]}]}`, "louvre/a is in a and in b", rollout.Plan{}},
		{"too long", strings.Repeat(" ", rollout.MaxPlan+1), "bytes", rollout.Plan{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := rollout.DecodePlan([]byte(tt.in))
			if tt.wrong != "" {
				if !errors.Is(err, rollout.ErrPlan) && !errors.Is(err, wire.ErrInvalid) || !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("got %v, want an error with %q", err, tt.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzDecodePlan(f *testing.F) {
	f.Add([]byte(`{"groups":[{"name":"canary","kiosks":["louvre/a"],"error_threshold":"5%","timeout_hours":0.5},{"name":"all","rest":true}],"start_at":"2026-03-01T22:00:00+01:00"}`))
	f.Add([]byte(`{"groups":[{"name":"a","percent":100,"error_threshold":"2"}]}`))
	f.Add([]byte(`null`))
	known := fleet(7, nil)
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := rollout.DecodePlan(b)
		if err != nil {
			return
		}
		again, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		q, err := rollout.DecodePlan(again)
		if err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		if diff := cmp.Diff(p, q); diff != "" {
			t.Error(diff)
		}
		for k, group := range p.Assign(known) {
			if group < 0 || group >= len(p.Groups) {
				t.Errorf("%v in group %d", k, group)
			}
		}
	})
}

// fleet is n kiosks, those that are not away connected.
func fleet(n int, away func(i int) bool) []rollout.Candidate {
	var all []rollout.Candidate
	for i := range n {
		all = append(all, rollout.Candidate{Kiosk: wire.Address{Site: "louvre", Kiosk: fmt.Sprint("kiosk-", i)}, Here: away == nil || !away(i)})
	}
	return all
}

func TestAssign(t *testing.T) {
	named := rollout.Group{Name: "named", Kiosks: []rollout.Kiosk{{Site: "louvre", Kiosk: "kiosk-3"}, {Site: "louvre", Kiosk: "not-here-yet"}}}
	tenth, third, rest := rollout.Group{Name: "tenth", Percent: 10}, rollout.Group{Name: "third", Percent: 33}, rollout.Group{Name: "rest", Rest: true}
	for _, tt := range []struct {
		name   string
		groups []rollout.Group
		known  int
		want   []int
	}{
		{"everybody", []rollout.Group{rest}, 20, []int{20}},
		{"a tenth, rounded up", []rollout.Group{tenth, rest}, 21, []int{3, 18}},
		{"a tenth of one", []rollout.Group{tenth, rest}, 1, []int{1, 0}},
		{"a tenth of none", []rollout.Group{tenth, rest}, 0, []int{0, 0}},
		{"named ones, and a share of the others", []rollout.Group{named, tenth, rest}, 21, []int{2, 2, 18}},
		{"a share and named ones behind it", []rollout.Group{tenth, named, rest}, 21, []int{2, 2, 18}},
		{"a share of what a share leaves", []rollout.Group{tenth, third}, 20, []int{2, 6}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := rollout.Plan{Groups: tt.groups}
			counts := make([]int, len(tt.groups))
			in := p.Assign(fleet(tt.known, nil))
			for _, group := range in {
				counts[group]++
			}
			if diff := cmp.Diff(tt.want, counts); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(in, p.Assign(fleet(tt.known, nil))); diff != "" {
				t.Errorf("another time: %s", diff)
			}
		})
	}
	t.Run("connected ones first", func(t *testing.T) {
		p := rollout.Plan{Groups: []rollout.Group{tenth, rest}}
		known := fleet(20, func(i int) bool { return i != 4 && i != 11 })
		for k, group := range p.Assign(known) {
			if chosen := k.Kiosk == "kiosk-4" || k.Kiosk == "kiosk-11"; chosen != (group == 0) {
				t.Errorf("%s is in group %d", k.Kiosk, group)
			}
		}
	})
}
