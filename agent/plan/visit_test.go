package plan

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"docent/agent/internal/words"
)

// TestVisit holds plans against what is remembered of the visitor.
func TestVisit(t *testing.T) {
	v := Visit{Minutes: 25, StepFree: true, Children: true, Likes: []string{"fractal"}, Dislikes: []string{"toy"}}
	for _, tt := range []struct {
		question string
		visit    Visit
		template Template
		want     Arguments
	}{
		{"Plan a route for me", v, Route, Arguments{Minutes: 25, StepFree: true, Children: true, Interests: v.Likes, Dislikes: v.Dislikes}},
		{"推荐一条参观路线", v, Route, Arguments{Minutes: 25, StepFree: true, Children: true, Interests: v.Likes, Dislikes: v.Dislikes}},
		{"I have 40 minutes for sunflower pictures, what should I see?", v, Route, Arguments{Minutes: 40, StepFree: true, Children: true, Interests: []string{"sunflower"}, Dislikes: v.Dislikes}},
		{"What should I see next?", v, Next, Arguments{Minutes: 25, StepFree: true, Children: true, Interests: v.Likes, Dislikes: v.Dislikes}},
		{"How do I get to Rule 30?", v, Walk, Arguments{Exhibits: []string{"rule-30"}, StepFree: true}},
		{"What can we see with children?", Visit{Minutes: 20}, Family, Arguments{Minutes: 20}},
		{"I have 30 minutes", Visit{}, Route, Arguments{Minutes: 30}},
	} {
		p := Make(testCatalogue(), Input{Question: tt.question, Language: words.Detect(tt.question, "en"), Visit: tt.visit})
		if d := gocmp.Diff(tt.want, p.Arguments); d != "" || p.Template != tt.template || p.Mode != Agent {
			t.Errorf("%q: %s %s (-want +got):\n%s", tt.question, p.Mode, p.Template, d)
		}
	}
	if p := Make(testCatalogue(), Input{Question: "Plan a route for me", Language: "en"}); p.Mode != Clarify {
		t.Errorf("a route without a time is planned: %+v", p)
	}
}
