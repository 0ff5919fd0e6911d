// Package hyde lets a chat model write what an answer might look like, so that a passage is looked for by the vector of an
// answer in place of that of a question (Gao and others, Precise Zero-Shot Dense Retrieval without Relevance Labels, 2022).
// What the model writes is only searched with; nobody reads it.
package hyde

import (
	"container/list"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"docent/internal/han"
	"docent/localindex/internal/breaker"
)

// Limits.
const (
	// MaxRunes is the longest question that is helped: a longer one says enough.
	MaxRunes       = 25
	DefaultTimeout = 8 * time.Second
	CacheSize      = 64 // questions whose answer is kept
	maxTokens      = 160
	maxAnswer      = 1200 // runes that are kept
)

// Completer writes a text, as a chat model does. The context bounds it.
type Completer interface {
	Complete(ctx context.Context, system, user string, maxTokens int) (string, error)
}

// Options of a Writer.
type Options struct {
	Model   Completer
	Timeout time.Duration    // DefaultTimeout where 0
	Now     func() time.Time // clock of the circuit breaker; nil means the system's
}

// Writer writes hypothetical answers. It is safe for concurrent use.
type Writer struct {
	model   Completer
	timeout time.Duration
	breaker *breaker.Breaker

	mu    sync.Mutex
	order *list.List // of kept, the last used first
	byKey map[string]*list.Element
}

type kept struct{ key, text string }

// New returns a writer.
func New(o Options) *Writer {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	return &Writer{
		model: o.Model, timeout: o.Timeout, breaker: breaker.New(0, 0, o.Now),
		order: list.New(), byKey: make(map[string]*list.Element),
	}
}

// Write returns a hypothetical answer in the language of the question. Where there is none, skipped says why; only the end
// of ctx is an error.
func (w *Writer) Write(ctx context.Context, question, language string) (text, skipped string, err error) {
	question = strings.Join(strings.Fields(question), " ")
	if utf8.RuneCountInString(question) > MaxRunes {
		return "", "question is long enough", nil
	}
	if Exact(question) {
		return "", "question is exact", nil
	}
	key := language + "\x00" + question
	if text, ok := w.get(key); ok {
		return text, "", nil
	}
	if !w.breaker.Allow() {
		return "", "model is left alone after failures", nil
	}
	asking, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	text, err = w.model.Complete(asking, system(language), question, maxTokens)
	if ctx.Err() != nil {
		w.breaker.Abandon()
		return "", "", ctx.Err()
	}
	text = strings.TrimSpace(clip(text, maxAnswer))
	w.breaker.Done(err == nil && text != "")
	switch {
	case err != nil:
		return "", fmt.Sprintf("model: %v", err), nil
	case text == "":
		return "", "model wrote nothing", nil
	}
	w.put(key, text)
	return text, "", nil
}

func system(language string) string {
	return "Write two sentences that a museum's wall text might say in answer to the question. Write in the language with the tag " +
		language + ". Do not say that you do not know; it need not be true."
}

func (w *Writer) get(key string) (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e, ok := w.byKey[key]
	if !ok {
		return "", false
	}
	w.order.MoveToFront(e)
	return e.Value.(kept).text, true
}

func (w *Writer) put(key, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e, ok := w.byKey[key]; ok {
		w.order.MoveToFront(e)
		return
	}
	w.byKey[key] = w.order.PushFront(kept{key, text})
	if w.order.Len() > CacheSize {
		last := w.order.Back()
		w.order.Remove(last)
		delete(w.byKey, last.Value.(kept).key)
	}
}

// Words of questions that have one right answer in the gallery's facts: hours, prices and numbers.
var (
	exactChinese = []string{
		"几点", "开门", "关门", "开馆", "闭馆", "开放", "时间", "多少钱", "票价", "门票", "价格", "收费", "免费", "电话", "地址",
		"编号", "几号", "哪一年", "哪年", "何时", "星期", "周一", "周二", "周三", "周四", "周五", "周六", "周日", "谁",
	}
	exactEnglish = []string{
		"open", "opens", "opening", "close", "closes", "closing", "hours", "time", "when", "price", "prices", "cost", "costs", "ticket",
		"tickets", "admission", "free", "phone", "address", "number", "who", "whose", "monday", "tuesday", "wednesday", "thursday",
		"friday", "saturday", "sunday", "today", "tomorrow",
	}
)

// Exact reports whether a question asks for hours, prices, numbers or names, which are looked up and not imagined.
func Exact(question string) bool {
	if strings.ContainsFunc(question, unicode.IsDigit) {
		return true
	}
	question = han.Simplify(question)
	for _, w := range exactChinese {
		if strings.Contains(question, w) {
			return true
		}
	}
	lower := strings.ToLower(question)
	if strings.Contains(lower, "how much") {
		return true
	}
	for word := range strings.FieldsFuncSeq(lower, func(r rune) bool { return !unicode.IsLetter(r) }) {
		for _, w := range exactEnglish {
			if word == w {
				return true
			}
		}
	}
	return false
}

// clip cuts a text after n runes.
func clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
