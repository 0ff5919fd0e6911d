package disk

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"docent/agent/memory"
)

// BenchmarkTurn is what the memory adds to an answer before its first word, in a visit that has so many turns already:
// taking in what is said, with a synced write where it is critical, and recalling everything.
func BenchmarkTurn(b *testing.B) {
	lines := map[string]func(i int) string{
		"question": func(i int) string { return fmt.Sprintf("Who painted number %d, and why is it red?", i) },
		"fact":     func(i int) string { return fmt.Sprintf("We have %d minutes left. I love geometry", 20+i%400) },
		"critical": func(i int) string { return [2]string{"I'm allergic to nuts", "I'm not allergic to nuts"}[i%2] },
	}
	for _, kind := range []string{"question", "fact", "critical"} {
		for _, turns := range []int{10, 200} {
			b.Run(fmt.Sprintf("%s/after=%d", kind, turns), func(b *testing.B) {
				m := memory.New(memory.Options{Store: open(b, b.TempDir(), Options{})})
				ctx := b.Context()
				go m.Run(ctx)
				v := memory.Visit{Name: "0123456789abcdef0123456789abcdef", Key: [32]byte{1}}
				at := time.Now()
				turn := func(text string) time.Duration {
					began := time.Now()
					h, err := m.Hear(ctx, v, memory.Said{Text: text, At: at})
					if err != nil {
						b.Fatal(err)
					}
					if _, err := m.Recall(v); err != nil {
						b.Fatal(err)
					}
					took := time.Since(began)
					if err := m.Keep(ctx, v, h); err != nil {
						b.Fatal(err)
					}
					return took
				}
				for i := range turns {
					turn(lines[[3]string{"question", "fact", "critical"}[i%3]](i))
				}
				var took []time.Duration
				for i := 0; b.Loop(); i++ {
					took = append(took, turn(lines[kind](i)))
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			})
		}
	}
}
