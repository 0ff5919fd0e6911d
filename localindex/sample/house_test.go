package sample_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestGallery(t *testing.T) {
	h := loadHouse(t)
	if h.ID != "patterns" || !slices.Equal(h.Languages, []string{"en", "zh"}) || h.TimeZone != "Asia/Shanghai" {
		t.Errorf("id %q, languages %v, time zone %q", h.ID, h.Languages, h.TimeZone)
	}
	near := map[string][]string{} // halls joined by doors without steps
	steps := 0
	for i, room := range h.Halls {
		if room.ID != plan[i].hall {
			t.Errorf("hall %d is %q, want %q", i+1, room.ID, plan[i].hall)
		}
		for _, d := range room.Doors {
			other := h.outline(d.To)
			if other == nil {
				t.Fatalf("%s: a door leads to the unknown hall %q", room.ID, d.To)
			}
			if a, b := toBorder(d.At, room.Outline), toBorder(d.At, other); a > 1e-9 || b > 1e-9 {
				t.Errorf("door %s–%s at %v is not on the wall of both (%g m, %g m)", room.ID, d.To, d.At, a, b)
			}
			if !d.StepFree {
				steps++
				continue
			}
			near[room.ID] = append(near[room.ID], d.To)
			near[d.To] = append(near[d.To], room.ID)
		}
	}
	if len(h.Halls) != len(plan) || steps != 1 {
		t.Errorf("%d halls, %d doors with steps; want 4 and 1", len(h.Halls), steps)
	}
	reached, queue := map[string]bool{"tilings": true}, []string{"tilings"}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, n := range near[queue[0]] {
			if !reached[n] {
				reached[n] = true
				queue = append(queue, n)
			}
		}
	}
	if len(reached) != len(h.Halls) {
		t.Errorf("without steps only %v can be reached", slices.Sorted(maps.Keys(reached)))
	}
	for _, k := range h.Kiosks {
		if !inside(k.At, h.outline(k.Hall)) {
			t.Errorf("%s is not inside hall %s", k.ID, k.Hall)
		}
	}
	if len(h.Kiosks) != 2 || len(h.Attract) != 6 || h.Recognition["index"] != "auto" {
		t.Errorf("%d kiosks, %d attract lines, recognition %v", len(h.Kiosks), len(h.Attract), h.Recognition)
	}
}

func TestVenue(t *testing.T) {
	h := loadHouse(t)
	v := h.Venue
	clock := func(times ...string) {
		t.Helper()
		for i, s := range times {
			if _, err := time.Parse("15:04", s); err != nil {
				t.Error(err)
			}
			if i > 0 && s <= times[i-1] {
				t.Errorf("%s is not after %s", s, times[i-1])
			}
		}
	}
	var days []string
	for _, d := range v.Hours {
		days = append(days, d.Day)
		clock(d.Open, d.LastEntry, d.Close)
	}
	if diff := cmp.Diff([]string{"tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}, days); diff != "" {
		t.Errorf("open days (-want +got):\n%s", diff)
	}
	for _, c := range v.Closures {
		if _, err := time.Parse(time.DateOnly, c.Date); err != nil {
			t.Error(err)
		}
		if c.Open != "" {
			clock(c.Open, c.Close)
		}
	}
	texts := []both{h.Name, v.Address}
	texts = append(append(texts, h.Attract...), v.Rules...)
	for _, room := range h.Halls {
		texts = append(texts, room.Name, room.About)
	}
	for _, c := range v.Closures {
		texts = append(texts, c.Reason)
	}
	for _, k := range v.Tickets {
		texts = append(texts, k.Name, k.Price)
	}
	for _, s := range v.Services {
		texts = append(texts, s.Name, s.Where)
		if s.About != nil {
			texts = append(texts, *s.About)
		}
		if s.Hall != "" && h.outline(s.Hall) == nil {
			t.Errorf("service %s is in the unknown hall %q", s.ID, s.Hall)
		}
	}
	for _, e := range v.Events {
		texts = append(texts, e.Name, e.When, e.About)
		clock(e.Start)
		if e.Minutes <= 0 || e.Day != "" && !slices.Contains(days, e.Day) || e.Hall != "" && h.outline(e.Hall) == nil {
			t.Errorf("event %s: day %q, %d minutes, hall %q", e.ID, e.Day, e.Minutes, e.Hall)
		}
	}
	for _, x := range texts {
		if x.EN == "" || hasHan(x.EN) || !hasHan(x.ZH) {
			t.Errorf("%q / %q: want English and Chinese", x.EN, x.ZH)
		}
	}
}

func TestDocuments(t *testing.T) {
	type front struct {
		Title    string `yaml:"title"`
		Domain   string `yaml:"domain"`
		Language string `yaml:"language"`
	}
	for name, domain := range map[string]string{"about-the-gallery": "venue", "how-the-pictures-are-made": "exhibit", "visiting-with-children": "service"} {
		t.Run(name, func(t *testing.T) {
			var en, zh front
			english := document(t, "documents/"+name+".md", &en)
			chinese := document(t, "documents/"+name+".zh.md", &zh)
			if en.Title == "" || !hasHan(zh.Title) || en.Domain != domain || zh.Domain != domain || en.Language != "en" || zh.Language != "zh" {
				t.Errorf("front matter %+v and %+v", en, zh)
			}
			if len(english) < 2 || len(english) != len(chinese) {
				t.Errorf("%d English and %d Chinese sections", len(english), len(chinese))
			}
		})
	}
}
