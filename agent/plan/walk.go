package plan

import (
	"regexp"

	"docent/agent/collection"
	"docent/agent/internal/words"
)

var (
	walkWords   = regexp.MustCompile(`\b(?:can't|cannot|can not|couldn't|could not) find (?:the |hall |room )|找不[到着]|\bhow (?:do|can|would|could|should) (?:i|we|you) (?:get|go|walk|come|find my way)\b|\b(?:the )?way (?:to|from|there)\b|\bhow (?:to|do i|do we) (?:walk|get|go)\b|\bhow far\b|\bdirections? to\b|\b(?:take|bring|lead|guide) (?:me|us) (?:from .{1,30} )?to\b|\bfind my way to\b|怎么(?:走|去|过去|到)|如何(?:走|去|到)|走到|有多远|多远|带我(?:们)?去|怎样(?:走|去|到)`)
	bareWalk    = regexp.MustCompile(`^(?:那)?(?:要|该)?怎么(?:走|去)(?:呢)?[?。]?$|^and (?:how do i|the) (?:get there|way)[?.]?$`)
	walkThere   = regexp.MustCompile(`\bthere\b|那里|那儿|那边|过去`)
	walkFrom    = regexp.MustCompile(`\bfrom (?:the )?|从`)
	walkBetween = regexp.MustCompile(`,? ?(?:and |as well as )?(?:also )?(?:tell me )?(?:how (?:to|do i|do we|can i|can we|i|we)(?: can)? (?:walk|get|go)|the (?:way|walk|route)) (?:between (?:them|the two|these|those)|from (?:one|the first)(?: (?:one|of them))? to the (?:other|next|second)(?: one)?)|[，,、]?(?:以及|还有|并且?|和)?(?:怎么|如何|怎样)?从一(?:幅|件|个|处)(?:怎么|如何)?(?:走到|到)另一(?:幅|件|个|处)(?:怎么走)?|[，,、]?(?:以及|还有|和)?(?:它们|两者|两幅|两件)?之间(?:怎么|如何)走`)
	nextWords   = regexp.MustCompile(`\b(?:what|which|where)\b.{0,30}\bnext\b(?:[?.! ]|$)|\bwhat'?s next\b|\bwhat (?:else )?(?:should|can|could|do) (?:i|we) (?:see|look at|visit) (?:now|after (?:this|that|it|the .{1,40}))\b|接下来(?:该|要|可以)?(?:看|去|参观|逛)|下一(?:个|幅|件|站)(?:看|去|参观|是)|(?:然后|之后|看完(?:这个|这幅|它)?)(?:该|要|再|还)?(?:看|去)(?:什么|哪)|下一站`)
)

// walkOf reads a question for the way to an exhibit or hall.
func walkOf(c *Catalogue, in Input, r resolved, folded string) (Arguments, bool) {
	if !walkWords.MatchString(folded) {
		return Arguments{}, false
	}
	to := mentions(c.Exhibits, folded)
	var a Arguments
	switch {
	case len(to) >= 2 && walkFrom.MatchString(folded[:to[0].from]) && to[0].id != to[1].id:
		a.From, a.Exhibits = to[0].id, []string{to[1].id}
	case len(to) >= 1:
		if from := walkFrom.FindAllStringIndex(folded[:to[0].from], -1); len(from) > 0 && from[len(from)-1][1] == to[0].from {
			a.From = to[0].id // from it to where?
			if r.hall == "" {
				return Arguments{}, false
			}
			a.Hall = r.hall
			return a, true
		}
		a.Exhibits = []string{to[len(to)-1].id}
	case r.hall != "" && len(mentions(c.Halls, folded)) > 0:
		a.Hall = r.hall
	case r.subject != "" && in.Exhibit == "" && (walkThere.MatchString(folded) || r.pointed || bareWalk.MatchString(words.Fold(in.Question))):
		a.Exhibits = []string{r.subject}
	default:
		m := latinEnd.FindStringSubmatch(folded)
		if m == nil {
			if m = hanEnd.FindStringSubmatch(folded); m == nil || m[3] == "" {
				return Arguments{}, false
			}
			m[2] = m[1]
		}
		if walkBetween.MatchString(folded) {
			return Arguments{}, false
		}
		a.Query = collection.Query{Order: orderOf(m[2]), N: 1}
	}
	if a.From == "" && in.Exhibit != "" && (len(a.Exhibits) == 0 || a.Exhibits[0] != in.Exhibit) {
		a.From = in.Exhibit
	}
	return a, true
}
