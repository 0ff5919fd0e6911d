package agent

import (
	"strings"
	"testing"
)

func TestPlights(t *testing.T) {
	tests := []struct {
		exhibit, question string
		contains          []string
		answered          bool
	}{
		{"", "I'm hungry", []string{"Café", "foyer"}, true},
		{"rule-30", "我饿了", []string{"咖啡厅"}, true},
		{"", "my feet hurt", []string{"folding stools"}, true},
		{"rule-30", "I need the toilet", []string{"Toilets: In the foyer"}, true},
		{"", "Help, my son has disappeared!", []string{"ticket desk in the foyer", english.staff["lost_child"]}, true},
		{"", "我孩子不见了", []string{"门厅售票处", chinese.staff["lost_child"]}, true},
		{"", "I feel dizzy", []string{english.staff["unwell"]}, false},
		{"", "I lost my umbrella", []string{english.staff["lost_thing"]}, false},
		{"rule-30", "I don't understand it", []string{"Every little box"}, true},
		{"rule-30", "太长了，简单点说", []string{"小格子"}, true},
		{"", "I don't understand it", nil, false},
		{"hilbert-curve", "儿童餐多少钱", []string{chinese.nothing, chinese.eatThere, "咖啡厅"}, false},
		{"", "Is there vegetarian food?", []string{english.nothing, english.eatThere, "Café"}, false},
		{"", "Is there parking?", []string{english.nothing}, false},
		{"", "Where can I fill my bottle?", []string{"foyer, beside the toilets", "Bottles may be filled"}, true},
		{"", "Where can I smoke?", []string{english.nothing}, false},
		{"", "Is the workshop suitable for a five year old?", []string{"from 6 to 12"}, true},
		{"", "I can't find the Penrose tiling", []string{"Penrose tiling (101)", "on foot"}, true},
		{"girih-star", "What else did he do?", []string{english.nothing}, false},
		{"hilbert-curve", "再讲讲", []string{"一条线"}, true},
		{"", "我想问一下龙形曲线是谁画的", []string{"海威"}, true},
		{"", "What's your favourite picture?", []string{"computer program"}, false},
		{"", "Do you understand tilings?", []string{"[1]"}, true},
		{"", "Do you speak French?", []string{"English and Chinese"}, false},
	}
	g, lib := New(Options{}), sampleLibrary(t)
	for _, tt := range tests {
		t.Run(tt.question, func(t *testing.T) {
			h := hear(t, g, lib, Turn{Question: tt.question, Exhibit: tt.exhibit, Language: "en"})
			checkHeard(t, h)
			for _, want := range tt.contains {
				if !strings.Contains(h.text, want) {
					t.Errorf("no %q in: %s", want, h.text)
				}
			}
			if h.done.Answered != tt.answered {
				t.Errorf("answered %v: %s", h.done.Answered, h.text)
			}
			if tt.question == "Is there parking?" && strings.Contains(h.text, english.eatThere) {
				t.Errorf("names the café: %s", h.text)
			}
		})
	}
}

func TestMoreIsNotTheSameAgain(t *testing.T) {
	g, lib := New(Options{}), sampleLibrary(t)
	first := hear(t, g, lib, Turn{Question: "What is this?", Exhibit: "penrose-tiling", Language: "en"})
	more := hear(t, g, lib, Turn{Question: "Tell me more", Exhibit: "penrose-tiling", Language: "en", History: []Exchange{{Question: "What is this?", Answer: first.text}}})
	checkHeard(t, more)
	if !more.done.Answered || len(more.text) < 50 {
		t.Fatalf("%v: %s", more.done.Answered, more.text)
	}
	for sentence := range strings.SplitSeq(more.text, "]. ") {
		said, _, _ := strings.Cut(sentence, " [")
		if strings.Contains(first.text, said) {
			t.Errorf("said again: %s", said)
		}
	}
}
