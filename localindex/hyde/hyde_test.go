package hyde

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// chat is a chat model that answers with the number of the call.
type chat struct {
	calls int
	err   error
	slow  bool
}

func (c *chat) Complete(ctx context.Context, system, user string, _ int) (string, error) {
	c.calls++
	if c.slow {
		<-ctx.Done()
		return "", ctx.Err()
	}
	return fmt.Sprintf("answer %d to %s", c.calls, user), c.err
}

func TestWrite(t *testing.T) {
	for _, tt := range []struct{ question, skipped string }{
		{"why is it blue", ""},
		{"为什么这么蓝", ""},
		{"为什么这件瓷器的颜色会这么蓝而不是绿色或者红色的呢", ""}, // 25 characters
		{"为什么这件瓷器的颜色会这么蓝而不是绿色或者红色的的呢", "long enough"},
		{"why is the glaze of this vase so blue", "long enough"},
		{"几点关门", "exact"},
		{"幾點關門", "exact"},
		{"門票免費嗎", "exact"},
		{"门票多少钱", "exact"},
		{"谁画的", "exact"},
		{"what about 205", "exact"},
		{"are you open", "exact"},
		{"How much is it?", "exact"},
		{"an openwork vase", ""},
	} {
		w := New(Options{Model: &chat{}})
		text, skipped, err := w.Write(t.Context(), tt.question, "en")
		if err != nil || (text == "") != (tt.skipped != "") || !strings.Contains(skipped, tt.skipped) {
			t.Errorf("Write(%s) = %q, skipped %q, %v; want skipped %q", tt.question, text, skipped, err, tt.skipped)
		}
	}
}

func TestAnswersAreKept(t *testing.T) {
	c := &chat{}
	w := New(Options{Model: c})
	ask := func(question, language string) string {
		t.Helper()
		text, skipped, err := w.Write(t.Context(), question, language)
		if err != nil || skipped != "" {
			t.Fatalf("skipped %q, %v", skipped, err)
		}
		return text
	}
	first := ask("why blue", "en")
	if again := ask("  why   blue ", "en"); again != first || c.calls != 1 {
		t.Errorf("asked again: %q", again)
	}
	if ask("why blue", "zh") == first {
		t.Error("the answer of another language")
	}
	for i := range CacheSize - 1 { // with "why blue" in two languages one too many: the English one is used oldest
		ask("why "+strings.Repeat("x", i%20)+string(rune('a'+i/20)), "en")
	}
	calls := c.calls
	ask("why blue", "zh")
	if c.calls != calls {
		t.Error("what is younger was forgotten")
	}
	ask("why blue", "en")
	if c.calls != calls+1 || w.order.Len() != CacheSize || len(w.byKey) != CacheSize {
		t.Errorf("%d kept, %d by key", w.order.Len(), len(w.byKey))
	}
}

func TestFailuresAreNoErrors(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := &chat{err: errors.New("no memory")}
	w := New(Options{Model: c, Now: func() time.Time { return now }})
	for range 3 {
		if text, skipped, err := w.Write(t.Context(), "why", "en"); text != "" || err != nil || !strings.Contains(skipped, "no memory") {
			t.Errorf("%q, skipped %q, %v", text, skipped, err)
		}
	}
	if _, skipped, _ := w.Write(t.Context(), "why", "en"); !strings.Contains(skipped, "left alone") || c.calls != 3 {
		t.Errorf("skipped %q after %d calls", skipped, c.calls)
	}
	now = now.Add(time.Minute)
	c.err = nil
	if text, _, _ := w.Write(t.Context(), "why", "en"); text == "" {
		t.Error("nothing after the pause")
	}

	slow := New(Options{Model: &chat{slow: true}, Timeout: 10 * time.Millisecond})
	if _, skipped, err := slow.Write(t.Context(), "why", "en"); err != nil || !strings.Contains(skipped, "deadline") {
		t.Errorf("skipped %q, %v", skipped, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := slow.Write(ctx, "why", "en"); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want it cancelled", err)
	}
}
