package evaluate

import (
	"errors"
	"os"
	"testing"
)

// FuzzParse reads whatever file of cases: either it is refused as one, or each case can be asked and judged.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"cases:\n- {question: Who?, contains: [Penrose], cite: [penrose-tiling]}\n",
		"now: 2026-11-29T15:00:00+08:00\nplace: kiosk-1\ncases: [{question: 天气怎么样, unanswerable: true, kind: multi_turn, history: [hi]}]\n",
		"cases: &a [*a]", "cases: [{questoin: x}]", "cases: []", "---\n---\n", "\xff",
	} {
		f.Add([]byte(s))
	}
	for _, file := range []string{"testdata/memory.yaml"} {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[:min(len(data), 4<<10)])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(data)
		if err != nil {
			if !errors.Is(err, ErrCases) {
				t.Errorf("error %v", err)
			}
			return
		}
		if len(c.Cases) == 0 || len(c.Cases) > maxCases {
			t.Fatalf("%d cases", len(c.Cases))
		}
		for i, x := range c.Cases {
			if x.Question == "" || x.Unanswerable == (len(x.Contains)+len(x.Cite) > 0) {
				t.Errorf("case %d is %+v", i, x)
			}
		}
	})
}
