package plan

import (
	"regexp"
	"slices"
	"strings"

	"docent/agent/internal/words"
)

// resolved is a question with what it leaves unsaid.
type resolved struct {
	full      string   // to be understood by itself
	text      string   // to be looked up, for subject
	subject   string   // exhibit that it points at, in hand or spoken of before; "" for none
	named     []string // exhibits it names
	hall      string   // hall it names or points at
	pointed   bool
	continued bool
}

var (
	latinPointer  = regexp.MustCompile(`(?i)\b(this|that|these|the same) (painting|picture|work|artwork|piece|exhibit|object|drawing|print|image|pattern)s?\b|\bit\b|\bits\b|\bthis( one)?\b`)
	hanPointer    = regexp.MustCompile(`[这那此该](一)?(幅画?|件(展品|作品|东西)?|张(画|图)?|个(作品|展品|图案|东西)?)|它的?|[这那]画`)
	person        = regexp.MustCompile(`(?i)\b(he|his|him|she|her|they|them|their)\b|[他她]`)
	sameHall      = regexp.MustCompile(`(?i)\b(in )?(this|the same|that) (hall|room)\b|\bin here\b|(在)?(同一个?|这个?|本|该|那个?)(展厅|厅)(里)?`)
	elsewhere     = regexp.MustCompile(`(?i)\b(what time is it|(does|will|would|did) it (take|cost)|it takes|is it (quiet|busy|crowded|full|free|open|closed)|is it (raining|snowing|cold|warm|hot|going to)|it (rain|snow)s?|how is it going|this (week|month|year|morning|afternoon|evening|weekend|gallery|museum|house|building|place))\b|这里|这儿|这样|这么|那么|这[座栋家]`)
	speaksOfHalls = regexp.MustCompile(`\b(halls?|rooms?)\b|厅`)

	latinAnd     = regexp.MustCompile(`(?i)^(and|what about|how about|and what about|or|but) (.+?)[?.!]*$`)
	hanAnd       = regexp.MustCompile(`^(那么?|还有)?(.+?)呢[?？。]?$`)
	bareQuestion = regexp.MustCompile(`(?i)^(and )?(who|when|where|why|how|how long|how many|which one|by whom|since when|in which year)( (was|is|did|does|are|were) (that|it|this|they))?[?.! ]*$|^那?(是|又是)?(谁|什么时候|哪一?年|在?哪里|为什么|为啥|怎么做的?|怎么会|多久|多少)(呢|啊)?[?？。]*$`)
	bareDuration = regexp.MustCompile(`(?i)^(about |only |just |大概|大约|只有|就)*(` + durationPattern + `)[.。!！]*$`)
)

// rewrite makes a question understandable without the turns before it.
func rewrite(c *Catalogue, in Input) resolved {
	q := strings.TrimSpace(pickOfTwo(c, in))
	r := resolved{full: q, text: q, named: c.exhibitsIn(q), hall: c.hallIn(q)}
	if n := len(in.History); n > 0 {
		before := in
		before.Question, before.History = in.History[n-1].Question, in.History[:n-1]
		if text, ok := complete(c, q, before, r); ok {
			r = resolved{full: text, text: text, named: c.exhibitsIn(text), hall: c.hallIn(text), continued: true}
		}
	}
	folded := words.Fold(r.text)
	if sameHall.MatchString(folded) && r.hall == "" {
		r.hall = hallOf(c, in)
		if h, ok := c.Hall(r.hall); ok {
			name := h.Name.In(in.Language)
			if in.Language == words.Chinese {
				r.full = sameHall.ReplaceAllString(r.full, name)
			} else {
				r.full = sameHall.ReplaceAllString(r.full, "in the "+name+" hall")
			}
		}
		return r
	}
	clean := elsewhere.ReplaceAllString(folded, "")
	work := latinPointer.MatchString(clean) || hanPointer.MatchString(clean)
	r.pointed = work || person.MatchString(clean)
	if len(r.named) > 0 {
		r.subject = in.Exhibit
		return r
	}
	switch {
	case in.Exhibit != "":
		r.subject = in.Exhibit
		r.continued = r.continued || r.pointed && len(in.History) > 0
	case r.pointed || r.continued || len(DomainsOf(folded)) == 0 && r.hall == "": // also "the paper", of what was spoken of
		r.subject = lastSubject(c, in.History)
		r.continued = r.continued || r.subject != ""
	}
	if e, ok := c.Exhibit(r.subject); ok && work {
		r.full = put(r.full, e.Name.In(in.Language), in.Language)
	}
	return r
}

// put replaces the first word that points by a name.
func put(text, name, language string) string {
	if language == words.Chinese {
		return replaceFirst(hanPointer, text, func(m string) string {
			if strings.HasSuffix(m, "的") {
				return name + "的"
			}
			return name
		})
	}
	return replaceFirst(latinPointer, text, func(m string) string {
		if strings.EqualFold(m, "its") {
			return "the " + name + "'s"
		}
		return "the " + name
	})
}

func replaceFirst(re *regexp.Regexp, text string, by func(string) string) string {
	at := re.FindStringIndex(text)
	if at == nil {
		return text
	}
	return text[:at[0]] + by(text[at[0]:at[1]]) + text[at[1]:]
}

// hallOf is the hall of the exhibit in hand or last spoken of, else the kiosk's.
func hallOf(c *Catalogue, in Input) string {
	for _, id := range []string{in.Exhibit, lastSubject(c, in.History)} {
		if e, ok := c.Exhibit(id); ok {
			return e.Hall
		}
	}
	return in.Hall
}

// lastSubject is the exhibit last named in a question of the visit, else the first one that the last answer names.
func lastSubject(c *Catalogue, history []Exchange) string {
	for _, x := range slices.Backward(history) {
		if named := c.exhibitsIn(x.Question); len(named) > 0 {
			return named[len(named)-1]
		}
	}
	if n := len(history); n > 0 {
		if named := c.exhibitsIn(history[n-1].Answer); len(named) == 1 {
			return named[0]
		}
	}
	return ""
}

// lastSubjects are the exhibits last named in the visit's questions, newest last, at most n.
func lastSubjects(c *Catalogue, history []Exchange, n int) []string {
	var out []string
	for _, x := range slices.Backward(history) {
		for _, id := range slices.Backward(c.exhibitsIn(x.Question)) {
			if !slices.Contains(out, id) && len(out) < n {
				out = append(out, id)
			}
		}
	}
	slices.Reverse(out)
	return out
}

// complete completes what only goes on from the question before: "And the dragon curve?", "Why?", 周六呢？
func complete(c *Catalogue, q string, before Input, now resolved) (string, bool) {
	previous := rewrite(c, before)
	folded := words.Fold(q)
	if bareDuration.MatchString(folded) && routeWords.MatchString(words.Fold(previous.full)) {
		return trimEnd(previous.full) + joint(q) + q, true
	}
	if bareQuestion.MatchString(folded) {
		word := strings.TrimSpace(leadingAnd.ReplaceAllString(trimEnd(q), ""))
		return word + joint(q) + predicate(trimEnd(previous.full)) + questionMark(q), true
	}
	rest := ""
	if m := latinAnd.FindStringSubmatch(q); m != nil {
		rest = m[2]
	} else if m := hanAnd.FindStringSubmatch(q); m != nil {
		rest = m[2]
	}
	if rest == "" {
		return "", false
	}
	return continueWith(c, previous, rest, now, questionMark(q))
}

var (
	leadingAnd      = regexp.MustCompile(`(?i)^(and |那(么|是)?)`)
	questionHead    = regexp.MustCompile(`(?i)^(where (is|are|was|were|can i find)|who (is|was|were|made|discovered|invented|drew|painted|found)|when (is|are|was|were|does|do)|how (much|many|long|old|big) (is|are|was|were)|what (is|are|was|were|does)|is there|are there|can i (bring|take|use|have)|do you have|tell me about|why (is|are|was|were|does))\b`)
	hanTail         = regexp.MustCompile(`(在?哪里|在?哪儿|在?哪个展?厅|在几楼|多少钱|要多少钱|几点.*|是谁.*|是什么.*|是怎么.*|什么时候.*|是哪一?年.*|有多.*|有什么.*|可以.*吗|能.*吗|允许吗)[?？。]?$`)
	asksPlace       = regexp.MustCompile(`(?i)^(where|who|when)\b`)
	forWhom         = regexp.MustCompile(`(?i) for .+?[?.!]*$`)
	hanTicket       = regexp.MustCompile(`(学生|儿童|成人|老人|家庭|优惠|小孩|孩子)(票)?`)
	hasQuestionWord = regexp.MustCompile(`(?i)\b(who|when|where|why|how|what|which|can|is|are|do|does)\b|谁|什么|哪|为什么|怎么|多少|几|吗`)
)

func continueWith(c *Catalogue, previous resolved, rest string, now resolved, mark string) (string, bool) {
	base := trimEnd(previous.full)
	chinese := words.Detect(rest, words.English) == words.Chinese
	switch {
	case len(now.named) > 0 && len(previous.named) > 0:
		return swap(c.Exhibits, base, rest) + mark, true
	case now.hall != "" && previous.hall != "":
		return swap(c.Halls, base, strings.TrimPrefix(strings.TrimPrefix(rest, "in "), "the ")) + mark, true
	case dayPattern.MatchString(words.Fold(rest)) && dayPattern.MatchString(words.Fold(base)):
		by := dayPattern.FindString(words.Fold(rest))
		return dayPattern.ReplaceAllLiteralString(words.Fold(base), by) + mark, true
	case dayPattern.MatchString(words.Fold(rest)) && practicalWords.MatchString(words.Fold(base)):
		return base + joint(rest) + rest + mark, true
	case hasQuestionWord.MatchString(rest):
		return rest + mark, true
	case !chinese && strings.HasPrefix(strings.ToLower(rest), "for ") && forWhom.MatchString(base):
		return forWhom.ReplaceAllLiteralString(base, " "+rest) + mark, true
	case !chinese && forWhom.MatchString(base) && !asksPlace.MatchString(base):
		return forWhom.ReplaceAllLiteralString(base, " for "+rest) + mark, true
	case chinese && hanTicket.MatchString(base) && hanTicket.MatchString(rest):
		return hanTicket.ReplaceAllLiteralString(base, rest) + mark, true
	case chinese && hanTail.MatchString(base):
		return rest + hanTail.FindString(base) + mark, true
	case !chinese && questionHead.MatchString(base):
		return questionHead.FindString(base) + " " + rest + mark, true
	}
	return "", false
}

// swap replaces the first name in a text by another one.
func swap(all []Named, text, by string) string {
	folded := words.Fold(text)
	ms := mentions(all, folded)
	if len(ms) == 0 {
		return text
	}
	from := ms[0].from
	if strings.HasPrefix(strings.ToLower(by), "the ") && strings.HasSuffix(folded[:from], "the ") {
		from -= len("the ")
	}
	after := folded[ms[0].to:]
	if strings.HasPrefix(after, " hall") && strings.HasSuffix(by, " hall") {
		after = strings.TrimPrefix(after, " hall")
	}
	return folded[:from] + by + after
}

// predicate is a question without its question word.
func predicate(q string) string {
	return strings.TrimSpace(leadingQuestion.ReplaceAllString(q, ""))
}

var leadingQuestion = regexp.MustCompile(`(?i)^(who|when|where|why|how (many|much|long)|how|what|which)\b|什么时候|为什么|谁|在?哪里|怎么`)

func trimEnd(s string) string { return strings.TrimRight(strings.TrimSpace(s), "?？.。!！ ") }

func questionMark(q string) string {
	if strings.Contains(q, "？") || words.Detect(q, words.English) == words.Chinese {
		return "？"
	}
	return "?"
}

// joint is what stands between two parts of a text in its script.
func joint(s string) string {
	if words.Detect(s, words.English) == words.Chinese {
		return ""
	}
	return " "
}
