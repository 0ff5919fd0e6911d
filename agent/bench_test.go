package agent

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkAnswers asks the questions and tasks of the tests in turn, without a model, and reports how long the first
// word and the whole turn take, follow-ups included.
func BenchmarkAnswers(b *testing.B) {
	g, lib := New(Options{Clock: sunday}), sampleLibrary(b)
	g.Prepare(lib)
	var turns []Turn
	for _, q := range sampleQuestions {
		turns = append(turns, Turn{Exhibit: q.exhibit, Question: q.question, Language: "en", Place: "kiosk-1"})
	}
	for _, q := range []string{
		"I have 60 minutes", "Tell me about the two oldest pictures and how to walk between them", "What can I see in the Growth hall?", "What can we see with children?",
		"Compare the Penrose tiling and the pinwheel tiling", "What are the highlights of Waves and Fields, and when do you close today?", "推荐一条一小时的参观路线", "比较希尔伯特曲线和龙形曲线",
	} {
		turns = append(turns, Turn{Question: q, Language: "en", Place: "kiosk-1"})
	}
	var first, whole []time.Duration
	for i := 0; b.Loop(); i++ {
		began, heard := time.Now(), false
		for e := range g.Answer(b.Context(), lib, turns[i%len(turns)]) {
			if e.Type == EventToken && !heard {
				first, heard = append(first, time.Since(began)), true
			}
		}
		whole = append(whole, time.Since(began))
	}
	for name, of := range map[string][]time.Duration{"first-word": first, "whole": whole} {
		slices.Sort(of)
		for p, share := range map[string]float64{"p50": 0.5, "p95": 0.95} {
			b.ReportMetric(float64(of[min(len(of)-1, int(share*float64(len(of))))].Microseconds())/1000, name+"-"+p+"-ms")
		}
	}
}
