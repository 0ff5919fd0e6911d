package agent

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"docent/agent/tool"
)

// FuzzPlan reads what a model may write as a plan: what is taken has known tools, and steps that wait for earlier ones only.
func FuzzPlan(f *testing.F) {
	for _, seed := range []string{goodPlan, missingPlan, "```json\n" + goodPlan + "\n```", `{"steps":[{"id":1,"tool":"exhibit","args":null,"depends_on":[1]}]}`, `{"steps":[]}`, `[]`, `{"action":"retry","tool":"exhibit","args":{}}`} {
		f.Add(seed)
	}
	has := func(name string) bool { return slices.Contains([]string{toolExhibit, toolRecall, toolCompare}, name) }
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range writtenCall(text) {
			if c.Name == "" || !json.Valid(c.Args) {
				t.Errorf("a call %+v", c)
			}
		}
		steps, err := parsePlan(text, has)
		if err != nil {
			return
		}
		if len(steps) == 0 || len(steps) > maxPlanSteps {
			t.Errorf("%d steps", len(steps))
		}
		var before []int
		for _, s := range steps {
			if !has(s.Tool) || slices.Contains(before, s.ID) || slices.ContainsFunc(s.DependsOn, func(d int) bool { return !slices.Contains(before, d) }) {
				t.Errorf("step %+v after %v", s, before)
			}
			before = append(before, s.ID)
		}
	})
}

// FuzzCheck holds whatever a model writes against evidence: a sentence that passes has no number that is not there.
func FuzzCheck(f *testing.F) {
	c := newChecker([]item{{N: 1, Title: "Penrose tiling", Text: "Roger Penrose described the tiling in 1974."}, {N: 2, Title: "Tiles", Text: "He used six tiles."}}, "Who found it?")
	f.Add("Roger Penrose described it in 1974 [1].")
	f.Add("**He** used 六 tiles 【2】")
	f.Add("It was 1975 [1][99]. Kepler’s “words” cost $5")
	f.Fuzz(func(t *testing.T, text string) {
		sentence := tidy(text)
		if c.check(sentence) != nil {
			return
		}
		for _, n := range marks(sentence) {
			if n < 1 || n > 2 {
				t.Errorf("%q passes with the mark %d", text, n)
			}
		}
		for _, year := range []string{"1975", "4711"} {
			if strings.Contains(" "+bracketed.ReplaceAllString(sentence, "")+" ", " "+year+" ") {
				t.Errorf("%q passes with %s", text, year)
			}
		}
	})
}

func TestObservationIsBounded(t *testing.T) {
	r := tool.Result{Success: true, Data: tool.Data{Facts: []tool.Fact{{Text: strings.Repeat("瓷砖", 5000)}}}}
	if n := len([]rune(observation(r))); n > maxObservation {
		t.Errorf("%d characters", n)
	}
}
