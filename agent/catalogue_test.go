package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"docent/agent/plan"
	"docent/agent/tool"
)

// TestTasksOfSeveralExhibits tries what is computed from the catalogue and the plan of the house.
func TestTasksOfSeveralExhibits(t *testing.T) {
	for _, tt := range []struct {
		name, exhibit, question string
		want, not               []string
		cite                    []string
	}{
		{"the oldest", "", "What is the oldest exhibit?", []string{"the oldest is Apollonian gasket (c. 200 BC"}, nil, []string{"apollonian-gasket"}},
		{"two oldest and the way", "", "Tell me about the two oldest pictures and how to walk between them",
			[]string{"Apollonian gasket (c. 200 BC; packing described 1943) and Girih star (by about 1200; analysed 2007)", "From Apollonian gasket (206) it is about", "to Girih star (102)"}, nil, []string{"apollonian-gasket", "girih-star"}},
		{"two oldest, Chinese", "", "介绍一下最古老的两幅，以及怎么从一幅走到另一幅", []string{"最早的是", "米，步行约"}, nil, []string{"apollonian-gasket", "girih-star"}},
		{"how many", "", "How many exhibits are there?", []string{"shows 24 exhibits, in 4 halls"}, nil, []string{"gallery/en"}},
		{"how many in a hall", "", "曲线厅里有几幅画？", []string{"曲线厅有6件展品"}, nil, []string{"hall/zh/curves"}},
		{"by a maker", "", "Which works are by Alan Turing?", []string{"1 exhibit listed as “after Alan Turing”", "Turing pattern"}, nil, []string{"turing-pattern"}},
		{"of a time", "", "Which pictures are from the 1960s?", []string{"3 exhibits from 1960 to 1969", "Spirograph", "Dragon curve", "Lorenz attractor"}, []string{"Rule 30"}, nil},
		{"way to an exhibit", "", "How do I get to Rule 30?", []string{"From here it is about", "Rule 30 (303)", "from Tilings through Waves and Fields to Growth"}, nil, []string{"rule-30"}},
		{"step-free way", "", "How do I get to the moiré rings without steps?", []string{"through Curves and Growth to Waves and Fields", "step-free"}, nil, []string{"moire-rings"}},
		{"way to a hall", "penrose-tiling", "How do I get to the Growth hall?", []string{"From Penrose tiling (101)", "the Growth hall"}, nil, []string{"hall/en/growth"}},
		{"what comes next", "girih-star", "What should I see next?", []string{"Next you could see", "m from here"}, []string{"see Girih star"}, nil},
		{"compare with the oldest", "", "Which is older, the oldest picture here or the Hilbert curve?", []string{"Apollonian gasket", "Hilbert curve"}, nil, []string{"apollonian-gasket", "hilbert-curve"}},
		{"several tasks", "", "What are the highlights of Waves and Fields, and when do you close today?", []string{"Sound made visible", "18:00"}, nil, []string{"hall/en/fields", "venue/en/hours"}},
		{"a part of several is missing", "", "When do you close today, and who is the director of the gallery?", []string{"18:00", "nothing on this part: who is the director of the gallery?"}, nil, []string{"venue/en/hours"}},
		{"weekend", "", "Are you open at the weekend?", []string{"Sunday 29 November 2026"}, []string{"Saturday"}, []string{"venue/en/hours"}},
		{"next weekend", "", "What events are there next weekend?", []string{"Children's drawing workshop", "Sand and sound"}, nil, []string{"event/en/drawing-workshop"}},
		{"a date", "", "3月3日开门吗？", []string{"2027年3月3日（星期三）开放：10:00至18:00"}, nil, []string{"venue/zh/hours"}},
		{"a holiday that is not listed", "", "Are you open on 25 December?", []string{"lists no special hours for Friday 25 December 2026", "usually open from 10:00 to 21:00"}, nil, []string{"venue/en/hours"}},
		{"how it was made", "turing-pattern", "How was this made?", []string{"Two substances spread", "Materials: Computed drawing, pigment print"}, []string{"Maker"}, []string{"turing-pattern"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := hear(t, New(Options{Clock: sunday}), sampleLibrary(t), Turn{Exhibit: tt.exhibit, Question: tt.question, Language: "en", Place: "kiosk-1"})
			checkHeard(t, h)
			bare := spacedMark.ReplaceAllString(h.text, "")
			for _, want := range tt.want {
				if !strings.Contains(bare, want) {
					t.Errorf("%q is not in: %s", want, bare)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(bare, not) {
					t.Errorf("%q is in: %s", not, bare)
				}
			}
			for _, cite := range tt.cite {
				if !slices.ContainsFunc(h.sources, func(s Source) bool { return s.Section == cite || s.Exhibit == cite }) {
					t.Errorf("does not cite %s: %s", cite, h.text)
				}
			}
		})
	}
}

func TestNoSuchDayIsAskedBack(t *testing.T) {
	for question, want := range map[string]string{"What happens on 31 February?": "There is no such day", "2月30日开门吗？": "没有“2月30日”这一天"} {
		h := hear(t, New(Options{Clock: sunday}), sampleLibrary(t), Turn{Question: question, Language: "en"})
		if h.done.Reply != ReplyClarify || !strings.Contains(h.text, want) || len(h.followUps) < 2 {
			t.Errorf("%s: %+v %s %q", question, h.done, h.text, h.followUps)
		}
	}
}

// TestPlansByWhatIsRemembered plans walks by what the visitor said before: how long, without steps, with children.
func TestPlansByWhatIsRemembered(t *testing.T) {
	g, lib := New(Options{Clock: sunday}), sampleLibrary(t)
	remembered := []Remembered{
		{Kind: "time", Key: "time", Value: "2026-11-29T15:25:00+08:00"}, {Kind: "access", Key: "access/wheelchair", Value: "wheelchair"},
		{Kind: "interest", Key: "interest/chaos", Value: "likes"}, {Kind: "interest", Key: "interest/tiles", Value: "dislikes"},
	}
	h := hear(t, g, lib, Turn{Question: "Plan a route for me", Language: "en", Place: "kiosk-1", Remembered: remembered})
	if !h.done.Answered || !strings.Contains(spacedMark.ReplaceAllString(h.text, ""), "The whole way is step-free.") || !strings.Contains(h.text, "because you asked for “chaos”") {
		t.Errorf("%s", h.text)
	}
	var minutes int
	if _, after, ok := strings.Cut(h.text, "takes about "); !ok {
		t.Errorf("no time in %s", h.text)
	} else if _, err := fmt.Sscanf(after, "%d minutes", &minutes); err != nil || minutes > 25 {
		t.Errorf("%d minutes (%v), 25 are left: %s", minutes, err, h.text)
	}
	if strings.Contains(h.text, "Truchet tiles") {
		t.Errorf("what the visitor does not like: %s", h.text)
	}
	h = hear(t, g, lib, Turn{Question: "What should I see next?", Exhibit: "penrose-tiling", Language: "en", Place: "kiosk-1", Seen: []string{"girih-star", "truchet-tiles"}})
	if !h.done.Answered || strings.Contains(h.text, "Girih star (") || strings.Contains(h.text, "Truchet tiles (") {
		t.Errorf("what was seen is suggested: %s", h.text)
	}
	if h := hear(t, g, lib, Turn{Question: "Plan a route for me", Language: "en", Place: "kiosk-1"}); h.done.Reply != ReplyClarify {
		t.Errorf("nobody said how long: %s", h.text)
	}
}

// TestStepsSideBySide runs six steps: four at once and no more, those that wait after what they wait for, told in the
// order they were planned.
func TestStepsSideBySide(t *testing.T) {
	var mu sync.Mutex
	var running, most int
	var began []string
	full := make(chan struct{}) // closed when four run
	slow := func(_ context.Context, raw json.RawMessage) (tool.Data, error) {
		mu.Lock()
		running++
		most = max(most, running)
		began = append(began, string(raw))
		if running == atOnce {
			close(full)
		}
		mu.Unlock()
		<-full
		mu.Lock()
		running--
		mu.Unlock()
		return tool.Data{Facts: []tool.Fact{{Text: string(raw), Passage: "p"}}}, nil
	}
	r, err := tool.NewRegistry(tool.Tool{Name: "slow", Schema: json.RawMessage(`{}`), CanParallel: true, New: func() (tool.Func, error) { return slow, nil }})
	if err != nil {
		t.Fatal(err)
	}
	c := &guideCaller{Caller: tool.NewCaller(r, tool.DefaultLimits, nil, nil, sunday, nil)}
	var list steps
	list.add("slow", "", 1)
	list.add("slow", "", 2, 1)
	for i := 3; i <= 6; i++ {
		list.add("slow", "", i)
	}
	var told []string
	for _, r := range New(Options{}).execute(t.Context(), c, list.list, Turn{}, plan.ExecutionPlan{}) {
		told = append(told, r.result.Data.Facts[0].Text)
	}
	if got := strings.Join(told, ""); got != "123456" || most != atOnce {
		t.Errorf("told %s, %d at once; want 123456, %d", got, most, atOnce)
	}
	if slices.Index(began, "2") < slices.Index(began, "1") {
		t.Errorf("step 2 began before step 1 was done: %q", began)
	}
}

func TestWidened(t *testing.T) {
	for question, want := range map[string]string{
		"How much is a ticket for a child?": "ticket child", "母婴室在哪里？": "母婴室在", "Who is it?": "",
	} {
		if got := widened(question); got != want {
			t.Errorf("widened(%q) = %q, want %q", question, got, want)
		}
	}
}
