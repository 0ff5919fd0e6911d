package memory

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"docent/agent/internal/words"
)

// Tell answers a question for what is remembered, in Chinese or else English, from what is remembered and nothing else; ok is
// false for any other question. Where nothing of it is remembered, it says so.
func Tell(question string, r Recollection, talk Talk, language string, now time.Time) (answer string, ok bool) {
	if len(question) > 4*longestSaid || len(Extract(Said{Text: question, At: now})) > 0 && !strings.ContainsAny(question, "?？") {
		return "", false
	}
	language = words.Detect(question, language)
	zh := 0
	if language == "zh" || strings.HasPrefix(language, "zh-") {
		zh = 1
	}
	for _, a := range askings {
		if !a.en.MatchString(question) && !a.zh.MatchString(question) {
			continue
		}
		if a.talk {
			return tellTalk(question, talk, zh), true
		}
		var lines []string
		for _, f := range slices.Concat(r.Facts, r.Preferences) {
			if len(a.kinds) == 0 || slices.Contains(a.kinds, f.Kind) {
				lines = append(lines, Describe(f, language))
			}
		}
		if len(a.kinds) == 0 || slices.Contains(a.kinds, KindNote) {
			lines = append(lines, notesOf(r)...)
		}
		if len(lines) == 0 {
			return [2]string{a.none, a.noneZH}[zh], true
		}
		return strings.Join(lines, [2]string{" ", ""}[zh]), true
	}
	return "", false
}

// notesOf are the texts of a recollection that are no turns.
func notesOf(r Recollection) (out []string) {
	for _, t := range r.Texts {
		if !strings.Contains(t, " → ") {
			out = append(out, strings.TrimRight(t, ".。")+".")
		}
	}
	return out
}

// memoryAsking is one kind of question for what is remembered.
type memoryAsking struct {
	en, zh       *regexp.Regexp
	kinds        []Kind // empty means all
	talk         bool   // for what was asked before
	none, noneZH string
}

var askings = []memoryAsking{
	{
		en: re(`(?i)\bwhat(?:'s| is| was) my name\b|\b(?:do you (?:know|remember)|remember) (?:my name|who i am)\b|\bwhat am i called\b|\bwho am i\b`),
		zh: re(`我叫什么|我的名字(?:是什么|吗|呢)?[?？]|我是谁|记得我(?:的名字|叫什么|是谁)`), kinds: []Kind{KindName},
		none: "You have not told me your name.", noneZH: "您还没有告诉我您的名字。",
	},
	{
		en: re(`(?i)\bwhat(?: food)? (?:am i|are we|is my \w+) allergic to\b|\b(?:my|our) allerg(?:y|ies)\b.{0,40}\?|\b(?:what|which) allerg(?:y|ies)\b.{0,30}\b(?:i|my|we|our)\b|\bam i (?:still )?allergic\b`),
		zh: re(`我(?:们)?对(?:什么|哪些).{0,6}过敏|我(?:的|有什么|有哪些)过敏|记得我.{0,4}过敏`), kinds: []Kind{KindAllergy},
		none: "You have not told me of any allergy.", noneZH: "您没有告诉过我对什么过敏。",
	},
	{
		en: re(`(?i)\bhow (?:much time|long) (?:do|have) (?:i|we)\b.{0,20}(?:left|got|have|stay)|\bwhen (?:do|must|should) (?:i|we) (?:have to )?(?:leave|go)\b|\bhow much time (?:is|have we|have i) left\b`),
		zh: re(`我们?还(?:有|剩)(?:多少|多长)?时间|我们?还(?:有|剩)多久|我们?(?:几点|什么时候)(?:要|得|该)?(?:走|离开)`), kinds: []Kind{KindTime},
		none: "You have not told me how much time you have.", noneZH: "您没有告诉过我您有多少时间。",
	},
	{
		en: re(`(?i)\b(?:when|what time) (?:is|was|does|are|do)\b.{0,12}\b(?:my|our)\b.{0,20}\b(?:tour|table|workshop|slot|tickets?|booking|reservation|appointment|lesson)\b|\bwhat (?:did|have) (?:i|we) (?:book|booked|reserve)`),
		zh: re(`我们?的?(?:导览|讲解|预约|餐位|工作坊|活动|课).{0,4}(?:几点|什么时候)|我们?(?:预约|订|约)(?:了|的)?(?:什么|几点)`), kinds: []Kind{KindBooking},
		none: "You have not told me of any booking.", noneZH: "您没有告诉过我有什么预约。",
	},
	{
		en: re(`(?i)\bdo you (?:still )?(?:remember|know) (?:that |why )?(?:i|we) (?:need|use|can't|cannot|am|are)\b.{0,60}\?|\bwhat (?:kind of )?(?:access|route|way|help) (?:do|did) (?:i|we) (?:need|say|ask)|\bwhat did (?:i|we) (?:say|tell you) about (?:the |my |our )?(?:wheelchair|stairs|steps|walking|pram|stroller|access)`),
		zh: re(`(?:还)?记得我们?(?:需要|用|不便|不能|推).{0,20}|我(?:说过|提过)?.{0,4}(?:轮椅|楼梯|台阶|婴儿车).{0,6}(?:什么|吗)`), kinds: []Kind{KindAccess},
		none: "You have not told me of anything that makes getting about hard.", noneZH: "您没有告诉过我行动上有什么不便。",
	},
	{
		en: re(`(?i)\bwho (?:am i|are we) (?:here|visiting) with\b|\bhow old (?:is|are) (?:my|our)\b|\bdo you remember (?:my|our) (?:kids?|child|children|sons?|daughters?)\b`),
		zh: re(`我和谁(?:一起)?来|我(?:的|家)?孩子(?:几岁|多大)|记得我(?:的|带)?.{0,3}孩子`), kinds: []Kind{KindChildren},
		none: "You have not told me who you are here with.", noneZH: "您没有告诉过我您和谁一起来。",
	},
	{
		en: re(`(?i)\bwhat (?:did|do|was|were|else did) (?:i|we) (?:still |also )?(?:want|going|need|have|plan|wanted)\b.{0,16}\b(?:see|visit|do|buy|find|look)\b|\bwhat (?:is|was|are) (?:still )?on my list\b|\bwhat (?:did|should) (?:i|you) (?:ask you to )?remind me\b`),
		zh: re(`我(?:们)?(?:还|本来|刚才|之前)?(?:想|要)(?:去)?(?:看|买|做|参观)(?:什么|哪些|啥)|(?:让|叫|请)你提醒我(?:们)?(?:什么|啥|做什么)|我的待办`), kinds: []Kind{KindTodo},
		none: "You have not told me what you still want to do.", noneZH: "您没有告诉过我还想做什么。",
	},
	{
		en: re(`(?i)\bwhat (?:do|did) (?:i|we) (?:say (?:i|we) )?(?:like|love|enjoy|prefer)\b|\bwhat (?:am i|are we|was i) interested in\b|\bwhat are my interests\b`),
		zh: re(`我(?:们)?(?:说过)?(?:最)?喜欢(?:什么|哪些|啥)|我(?:们)?对什么(?:最)?(?:感兴趣|有兴趣)|我的兴趣`), kinds: []Kind{KindInterest, KindStyle},
		none: "You have not told me what you like.", noneZH: "您没有告诉过我您喜欢什么。",
	},
	{
		en: re(`(?i)\bwhat did (?:i|we) (?:just )?ask(?: you)?\b|\bwhat (?:was|were) (?:my|our) (?:last|first|previous|earlier) questions?\b|\bwhat have (?:i|we) asked\b|\bwhat did we (?:talk|speak) about\b`),
		zh: re(`我(?:们)?(?:刚才|之前|刚刚|先前)?(?:都)?问(?:过|了)?(?:你)?(?:什么|哪些|啥)|我(?:的)?上一个问题|我们(?:刚才|之前)?聊(?:过|了)?(?:什么|啥)`), talk: true,
		none: "You have not asked me anything yet.", noneZH: "您还没有问过我问题。",
	},
	{
		en:   re(`(?i)\bwhat (?:do|did) you (?:remember|know|note)(?: down)?(?: about (?:me|us))?\s*[?.]?$|\bwhat (?:did|have) (?:i|we) (?:say|said|tell|told)(?: you)?(?: (?:about (?:me|myself|us)|so far|earlier|before|at the other (?:kiosk|screen)))?\s*[?.]?$|\bwhat did i (?:ask|tell) you to remember\b`),
		zh:   re(`你(?:都)?(?:记得|记住|知道)(?:了)?我?(?:的)?(?:什么|哪些|啥)|我(?:刚才|之前|在另一台.{0,4})?(?:都)?(?:跟你)?(?:说过|告诉过你|告诉了你|让你记住)(?:了)?(?:什么|哪些|啥)`),
		none: "You have not told me anything about yourself.", noneZH: "您还没有告诉过我关于您自己的事。",
	},
}

var (
	asksFirst = regexp.MustCompile(`(?i)\bfirst\b|第一`)
	asksLast  = regexp.MustCompile(`(?i)\blast\b|\bjust\b|\bprevious\b|刚才|刚刚|上一个`)
	aboutEN   = regexp.MustCompile(`(?i)\babout (.{2,60}?)[?.!]*$`)
	aboutZH   = regexp.MustCompile(`关于(.{1,20}?)(?:的|，|,|我|问)`)
)

// tellTalk says what was asked before: the first or last question, those about something, or the newest few.
func tellTalk(question string, talk Talk, zh int) string {
	var asked []string
	for _, line := range strings.Split(talk.Summary, "\n") {
		if q, _, ok := strings.Cut(line, " → "); ok {
			if strings.HasPrefix(q, "[") {
				_, q, _ = strings.Cut(q, "] ")
			}
			asked = append(asked, q)
		}
	}
	for _, t := range talk.Turns {
		asked = append(asked, t.Question)
	}
	if len(asked) == 0 {
		return [2]string{"You have not asked me anything yet.", "您还没有问过我问题。"}[zh]
	}
	const few = 3
	var about string
	for _, re := range []*regexp.Regexp{aboutEN, aboutZH} {
		if m := re.FindStringSubmatch(question); m != nil && len(words.Extract(m[1]).Distinct()) > 0 {
			about = m[1]
		}
	}
	switch {
	case about != "":
		var found []string
		for _, h := range bm25(about, asked) {
			found = append(found, asked[h.document])
		}
		if len(found) == 0 {
			return [2]string{"You have not asked me about that.", "您没有问过我这方面的问题。"}[zh]
		}
		asked = found[:min(few, len(found))]
	case asksFirst.MatchString(question):
		asked = asked[:1]
	case asksLast.MatchString(question):
		asked = asked[len(asked)-1:]
	default:
		asked = newest(asked, few)
	}
	for i, q := range asked {
		asked[i] = "“" + q + "”"
	}
	return [2]string{"You asked: ", "您问过："}[zh] + strings.Join(asked, [2]string{", ", "、"}[zh]) + [2]string{".", "。"}[zh]
}
