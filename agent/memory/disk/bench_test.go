package disk

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/agent/memory"
)

// BenchmarkTurn is what the memory adds to an answer in a visit that has so many turns already. p50-ms and p95-ms are what
// the guide waits for: taking in what is said and recalling everything. stored-ms is until something critical is on the disk,
// which the guide's own work goes on beside; sync-ms is what one sync of an empty write costs on this disk meanwhile.
func BenchmarkTurn(b *testing.B) {
	lines := map[string]func(i int) string{
		"asked back": func(i int) string { return fmt.Sprintf("What did I say before about geometry and %d minutes?", i) },
		"question":   func(i int) string { return fmt.Sprintf("Who painted number %d, and why is it red?", i) },
		"fact":       func(i int) string { return fmt.Sprintf("We have %d minutes left. I love geometry", 20+i%400) },
		"critical":   func(i int) string { return [2]string{"I'm allergic to nuts", "I'm not allergic to nuts"}[i%2] },
	}
	for _, kind := range []string{"question", "asked back", "fact", "critical"} {
		for _, turns := range []int{10, 200} {
			b.Run(fmt.Sprintf("%s/after=%d", kind, turns), func(b *testing.B) {
				m := memory.New(memory.Options{Store: open(b, b.TempDir(), Options{})})
				ctx := b.Context()
				go m.Run(ctx)
				v := memory.Visit{Name: "0123456789abcdef0123456789abcdef", Key: [32]byte{1}}
				at := time.Now()
				var talk memory.Talk
				turn := func(text string) (took, stored time.Duration) {
					began := time.Now()
					h, err := m.Listen(ctx, v, memory.Said{Text: text, At: at})
					if err != nil {
						b.Fatal(err)
					}
					if _, err := m.Recollect(v, talk, text); err != nil {
						b.Fatal(err)
					}
					took = time.Since(began)
					if err := h.Stored(ctx); err != nil {
						b.Fatal(err)
					}
					stored = time.Since(began)
					talk = talk.Add(memory.Exchange{Question: text, Answer: strings.Repeat("A sentence of an answer. ", 12), At: at}, memory.Policy{})
					if err := m.Keep(ctx, v, h); err != nil {
						b.Fatal(err)
					}
					for !settled(b, m, v) { // a visitor reads and thinks before the next turn
						time.Sleep(time.Millisecond)
					}
					return took, stored
				}
				for i := range turns {
					turn(lines[[3]string{"question", "fact", "critical"}[i%3]](i))
				}
				probe, err := os.Create(filepath.Join(b.TempDir(), "probe"))
				if err != nil {
					b.Fatal(err)
				}
				defer probe.Close()
				var took, stored, synced []time.Duration
				for i := 0; b.Loop(); i++ {
					t, s := turn(lines[kind](i))
					took, stored = append(took, t), append(stored, s)
					began := time.Now()
					if _, err := probe.WriteAt([]byte{byte(i)}, 0); err != nil {
						b.Fatal(err)
					}
					if err := probe.Sync(); err != nil {
						b.Fatal(err)
					}
					synced = append(synced, time.Since(began))
				}
				report := func(name string, d []time.Duration) {
					slices.Sort(d)
					b.ReportMetric(float64(d[len(d)/2].Microseconds())/1000, "p50-"+name)
					b.ReportMetric(float64(d[len(d)*95/100].Microseconds())/1000, "p95-"+name)
				}
				report("ms", took)
				if kind == "critical" {
					report("stored-ms", stored)
					report("sync-ms", synced)
				}
			})
		}
	}
}

func settled(b *testing.B, m *memory.Memory, v memory.Visit) bool {
	facts, err := m.Recall(v)
	if err != nil {
		b.Fatal(err)
	}
	return !slices.ContainsFunc(facts, func(f memory.Fact) bool { return f.Pending })
}
