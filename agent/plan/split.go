package plan

import (
	"regexp"
	"strings"
)

// A compound question is cut where a new question begins: after a question mark, or at "and", 还有, a comma, where a
// question word follows at once.
var (
	nextQuestion = regexp.MustCompile(`(?i)[?？;；]\s*(?:and |also )?|,? and (?:also )?|, (?:and )?(?:also )?|[，,]?(?:还有|以及|另外|并且|而且|顺便问一下|同时)[，,]?|[，,]`)
	beginsAsking = regexp.MustCompile(`(?i)^(who|when|where|why|how|what|which|is there|are there|are you|are they|can i|can we|could (?:i|we|you)|do (?:you|i|we)|does (?:it|the)|did (?:he|she|they)|is (?:it|the|this)|was (?:it|the)|will (?:you|it)|tell me about|show me the)\b|^.{0,8}(谁|什么|哪|为什么|怎么|多少|几[点年个种条]|能不能|可不可以)|^.{0,12}吗[?？]?$|^(介绍一下|介绍|讲讲|说说).{2,}`)
	asking       = regexp.MustCompile(`(?i)\b(who|when|where|why|how|what|which|is there|are there|can i|do you)\b|谁|什么|哪|为什么|怎么|多少|几|吗`)
	bareWord     = regexp.MustCompile(`(?i)^(who|when|where|why|how|by whom)[?.! ]*$|^(谁|是?什么时候|是?在?哪里|为什么|怎么)[?？。]*$`)
)

// split cuts a question into the parts that can be answered one by one. What points back in a later part points at what
// the part before names.
func split(c *Catalogue, r resolved) []SubQuestion {
	parts := cutQuestions(r.text)
	out := make([]SubQuestion, 0, len(parts))
	subject := r.subject
	for i, p := range parts {
		if bareWord.MatchString(p) && i > 0 {
			p = trimEnd(p) + joint(p) + predicate(trimEnd(parts[i-1])) + questionMark(p)
		}
		named := c.exhibitsIn(p)
		s := SubQuestion{Text: p, Exhibit: subject}
		if len(named) > 0 {
			if r.subject == "" {
				s.Exhibit = ""
			}
			subject = named[len(named)-1]
		}
		out = append(out, s)
	}
	return out
}

func cutQuestions(text string) []string {
	var parts []string
	rest := text
	for at := 0; len(parts) < MaxSubQuestions-1; {
		m := nextQuestion.FindStringIndex(rest[at:])
		if m == nil {
			break
		}
		from, to := at+m[0], at+m[1]
		left, right := strings.TrimSpace(rest[:from]), strings.TrimSpace(rest[to:])
		if left == "" || right == "" || !(asking.MatchString(left) || strings.ContainsAny(rest[from:to], "?？")) || !beginsAsking.MatchString(right) || relative(right) {
			at = to
			continue
		}
		parts = append(parts, trimEnd(left)+questionMark(left))
		rest, at = right, 0
	}
	return append(parts, rest)
}

// relative reports whether the right part goes on in the left one's sentence: "…, which repeats".
func relative(right string) bool {
	folded := strings.ToLower(right)
	return strings.HasPrefix(folded, "which ") && !strings.Contains(folded, "?") && !strings.HasPrefix(folded, "which hall")
}
