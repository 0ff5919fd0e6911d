package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Said is what a visitor said.
type Said struct {
	Text    string    `json:"text"`
	Exhibit string    `json:"exhibit,omitempty"` // in hand
	At      time.Time `json:"at"`                // in the gallery's zone
}

// longestSaid is how many characters are looked at.
const longestSaid = 1000

// Extract finds what a visitor says about themselves, in English and Chinese. It errs on the side of finding
// nothing: a rule needs the visitor to speak of themselves or their party, and a question about the gallery is no
// statement. Where one thing is said twice, the last counts.
func Extract(s Said) []Draft {
	var out []Draft
	text := strings.NewReplacer("’", "'", "‘", "'").Replace(s.Text)
	for _, sentence := range cut(clip(text, longestSaid), sentenceEnds) {
		before := len(out)
		for _, clause := range cut(sentence.text, clauseEnds) {
			clause.question = sentence.question && clause.last
			for _, r := range rules {
				out = append(out, r.apply(clause, s)...)
			}
		}
		if len(out) == before {
			out = append(out, note(sentence)...)
		}
	}
	return lastOfEach(out)
}

func lastOfEach(drafts []Draft) []Draft {
	var out []Draft
	for i, d := range drafts {
		again := slices.ContainsFunc(drafts[i+1:], func(e Draft) bool { return e.Key == d.Key || sameBooking(d, e) })
		if !again && short(d.Key, maxKey) {
			out = append(out, d)
		}
	}
	return out
}

// sameBooking says that two drafts tell of one booking in two words: "a ticket for the 4 o'clock tour".
func sameBooking(a, b Draft) bool {
	return a.Kind == KindBooking && b.Kind == KindBooking && a.Op == b.Op && a.Value != "" && a.Value == b.Value
}

// part is a sentence or a clause.
type part struct {
	text     string
	question bool
	last     bool // of its sentence
}

var (
	sentenceEnds = regexp.MustCompile(`[.!?]+(?:\s+|$)|[。！？；;\n]+`)
	clauseEnds   = regexp.MustCompile(`,\s|[，、]| (?:but|and then) |但是|而且`)
)

func cut(text string, ends *regexp.Regexp) []part {
	var out []part
	start := 0
	add := func(end int, mark string) {
		if t := strings.TrimSpace(text[start:end]); t != "" {
			out = append(out, part{text: t, question: strings.ContainsAny(mark, "?？")})
		}
	}
	for _, m := range ends.FindAllStringIndex(text, -1) {
		// "the 3 p.m. tour": a point after a single letter ends nothing.
		if text[m[0]] == '.' && afterLetter(text[:m[0]]) {
			continue
		}
		add(m[0], text[m[0]:m[1]])
		start = m[1]
	}
	add(len(text), "")
	if len(out) > 0 {
		out[len(out)-1].last = true
	}
	return out
}

func afterLetter(s string) bool {
	return len(s) >= 2 && unicode.IsLetter(rune(s[len(s)-1])) && (s[len(s)-2] == '.' || s[len(s)-2] == ' ')
}

// rule finds one kind of statement.
type rule struct {
	is *regexp.Regexp
	// needs is what the clause must also have, such as the visitor as its subject; nil for nothing.
	needs *regexp.Regexp
	// make drafts what was found from the groups of is. no says that the clause denies it.
	make func(m []string, no bool, s Said) []Draft
	// plain rules have no denial of their own sense: "I cannot see well" is what they look for.
	plain bool
	// statement rules find nothing in a question.
	statement bool
}

var (
	denial  = regexp.MustCompile(`(?i)\b(?:don't|do not|doesn't|does not|didn't|no longer|not|isn't|aren't|without|no|never|any ?more|left (?:the|our|my))\b|不|没|别`)
	ourselv = regexp.MustCompile(`(?i)\b(?:i|i'm|i've|we|we're|we've|my|our|us|me)\b|我|咱`)
	asking  = regexp.MustCompile(`(?i)^(?:do|does|did|is|are|was|were|can|could|will|would|should|have|has|what|who|why|how|where|when|which)\b|[吗么呢]$|什么|多少|几个|哪|怎么`)
)

func (r rule) apply(c part, s Said) []Draft {
	m := r.is.FindStringSubmatch(c.text)
	if m == nil || r.needs != nil && !r.needs.MatchString(c.text) {
		return nil
	}
	if r.statement && (c.question || asking.MatchString(c.text)) {
		return nil
	}
	return r.make(m, !r.plain && denial.MatchString(c.text), s)
}

// fact drafts a fact, or that it is one no more.
func fact(kind Kind, key, value, text string, no bool) Draft {
	if no {
		return Draft{Op: OpRetractFact, Kind: kind, Key: key}
	}
	return Draft{Op: OpUpsertFact, Kind: kind, Key: key, Value: clip(value, maxText), Text: clip(text, maxText)}
}

func preference(kind Kind, key, value, text string) Draft {
	return Draft{Op: OpUpsertPreference, Kind: kind, Key: key, Value: value, Text: clip(text, maxText)}
}

var (
	noteEN = regexp.MustCompile(`(?i)^(?:please )?(?:remember|note|keep in mind)(?: that)?[:,]? (.{3,})`)
	noteZH = regexp.MustCompile(`^(?:请|帮我)*(?:记住|记一下|记下)[，,：:]?(.{2,})`)
)

// note keeps what a visitor asks to be remembered and no rule understands.
func note(sentence part) []Draft {
	if sentence.question {
		return nil
	}
	for _, re := range []*regexp.Regexp{noteEN, noteZH} {
		if m := re.FindStringSubmatch(sentence.text); m != nil {
			return []Draft{{Op: OpAppendText, Kind: KindNote, Key: "note/" + digest(m[1]), Text: clip(m[1], maxText)}}
		}
	}
	return nil
}

// digest names a text in a key.
func digest(text string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(oneLine(text))))
	return hex.EncodeToString(sum[:6])
}
