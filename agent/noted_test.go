package agent

import (
	"strings"
	"testing"
)

func TestStatements(t *testing.T) {
	tests := []struct {
		question   string
		remembered []Remembered
		want       string // "" means it is no statement
	}{
		{"My name is Ada", []Remembered{{Kind: "name", Key: "name", Value: "Ada", Text: "Your name is Ada."}}, "keep that in mind. Your name is Ada. Ask"},
		{"My name is Ada", nil, english.told},
		{"I am blind", []Remembered{{Kind: "children", Key: "children", Text: "You are here with children."}, {Kind: "access", Key: "access/sight", Value: "sight", Text: "You do not see well."}}, "in mind. You do not see well. Ask"},
		{"我是盲人", []Remembered{{Kind: "access", Key: "access/sight", Value: "sight", Text: "您看不清。"}}, "我记住了：您看不清。您可以"},
		{"我是盲人", []Remembered{{Kind: "access", Key: "access/sight", Value: "sight", Text: "You do not see well."}}, chinese.told},
		{"I am allergic to nuts.", nil, english.told},
		{"I like it", nil, english.told},
		{"这幅画真好看！", nil, chinese.told},
		{"I am blind, do you have a zeppelin?", nil, ""},
		{"My son wants to know who sank the Titanic", nil, ""},
		{"The Titanic sank", nil, ""},
	}
	g, lib := New(Options{}), testLibrary(t)
	for _, tt := range tests {
		t.Run(tt.question, func(t *testing.T) {
			h := hear(t, g, lib, Turn{Question: tt.question, Language: "en", Remembered: tt.remembered})
			checkHeard(t, h)
			if tt.want == "" {
				if h.done.Reply == ReplyCourtesy || h.done.Answered {
					t.Errorf("%s: %s", h.done.Reply, h.text)
				}
				return
			}
			if h.done.Reply != ReplyCourtesy || !strings.Contains(h.text, tt.want) || len(h.sources) > 0 {
				t.Errorf("%s: want %q in: %s", h.done.Reply, tt.want, h.text)
			}
		})
	}
}
