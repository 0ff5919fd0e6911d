package agent

import (
	"strings"
	"testing"
)

// heard is one turn as a visitor hears it.
type heard struct {
	text      string
	sources   []Source
	followUps []string
	done      *Done
	message   string
	types     []EventType
}

// hear runs a turn to its end.
func hear(t testing.TB, g *Guide, lib Library, turn Turn) heard {
	t.Helper()
	var h heard
	for e := range g.Answer(t.Context(), lib, turn) {
		h.types = append(h.types, e.Type)
		switch e.Type {
		case EventToken:
			h.text += e.Text
		case EventReset:
			h.text, h.sources = "", nil
		case EventSources:
			h.sources = e.Sources
		case EventFollowUps:
			h.followUps = e.FollowUps
		case EventDone:
			h.done = e.Done
		case EventError:
			h.message = e.Message
		}
	}
	return h
}

func TestTry(t *testing.T) {
	g, lib := New(Options{}), testLibrary(t)
	for _, q := range strings.Split(`Who discovered the Penrose tiling?
Who discovered it?
彭罗斯铺砌是谁发现的？
它是哪一年提出的？
When do you open?
几点关门？
Why does the pattern never repeat?
What is the weather in Shanghai?
上海今天天气怎么样？
How much does this painting cost?
How much is a ticket?
What did Penrose eat for breakfast?
Where are the loos?
厕所在哪？
Who painted the Mona Lisa?
What is this?
这是什么？
Tell me about the ice-crack lattice
冰裂纹窗格象征什么？
谁获得了诺贝尔奖？
巴恩斯利蕨是谁画的？
Who is the president of France?
How many shapes are there?
有几种形状？`, "\n") {
		h := hear(t, g, lib, Turn{Exhibit: "penrose-tiling", Question: q, Language: "en"})
		t.Logf("%s\n   → %v %s\n   %v %d sources", q, h.done.Answered, h.text, strings.Join(h.followUps, " | "), len(h.sources))
	}
	for _, l := range []string{"en", "zh"} {
		h := hear(t, g, lib, Turn{Exhibit: "penrose-tiling", Explain: true, Language: l})
		t.Logf("%s\n%v", h.text, h.followUps)
	}
}
