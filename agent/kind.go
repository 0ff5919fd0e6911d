package agent

import (
	"regexp"
	"strings"

	"docent/agent/internal/words"
)

// kind is what a question wants to hear about.
type kind string

const (
	kindWhat    kind = "what"
	kindWho     kind = "who"
	kindWhen    kind = "when"
	kindWhere   kind = "where"
	kindHowMany kind = "how_many"
	kindHowLong kind = "how_long"
	kindWhy     kind = "why"
	kindHow     kind = "how"
	kindDefine  kind = "define" // what a thing is, what a word means
)

// strict reports whether only a sentence that fits the kind can answer.
func (k kind) strict() bool {
	switch k {
	case kindWho, kindWhen, kindHowMany, kindHowLong, kindWhere:
		return true
	}
	return false
}

// kindOf reads the kind of a question from its question words.
func kindOf(text string) kind {
	folded := whichOne.ReplaceAllString(words.Fold(text), "什么$1")
	folded = howMany.ReplaceAllString(folded, "多少$1")
	if roleCalled.MatchString(folded) {
		return kindWho
	}
	if whatCost.MatchString(folded) || whetherFree.MatchString(notFree.ReplaceAllString(folded, "")) {
		return kindHowMany
	}
	padded := " " + strings.Join(words.LatinWords(text), " ") + " "
	for _, k := range kindWords {
		for _, w := range k.english {
			if strings.Contains(padded, " "+w+" ") {
				return k.kind
			}
		}
		for _, w := range k.chinese {
			if strings.Contains(folded, w) {
				return k.kind
			}
		}
	}
	if titleYear.MatchString(folded) && !anyYear.MatchString(folded) {
		return kindWhen
	}
	return kindWhat
}

// titleYear matches a title and the word for its date, as people type them: "Mandelbrot set year". anyYear are years that
// are no date of anything.
var (
	titleYear = regexp.MustCompile(`^[\pL\d' -]+ (year|date)\W*$`)
	anyYear   = regexp.MustCompile(`^(is|are|was|were|do|does|did|can|could|may|will|would|should|has|have|tell|show)\b|\b(a|an|this|that|last|next|every|each|per|all|new|of|the|to) (year|date)\W*$`)
)

// whichOne matches 哪 with a measure word, which asks for a thing even after 在 (在哪本书里).
var whichOne = regexp.MustCompile(`哪一?([本部座所棵只场项首句条块张件幅层步家间类样段片支枝])`)

// roleCalled matches a question for the name of somebody: 馆长叫什么名字.
var roleCalled = regexp.MustCompile(`(人|长|家|员|师|妻子?|丈夫|[儿]子|女儿|母亲|父亲)(的名字)?叫(什么|啥)`)

// whatCost matches a question for a price that does not say how much.
var whatCost = regexp.MustCompile(`\bwhat (do|does|did|would|will|is|are)\b.*\b(cost|price|fee)s?\b`)

// whetherFree matches a yes-or-no question for a price: hours are no answer to "Are tickets free on Sundays?" notFree is
// what is free without a price.
var (
	whetherFree = regexp.MustCompile(`^(is|are|do|does|will) .*\b(free|cheap|cheaper|discounts?)\b|(免费|要钱|收费|便宜|优惠|打折)的?(吗|么|嘛)`)
	notFree     = regexp.MustCompile(`\bstep[- ]free\b|\bfree (of (the|any|all|rights)|from)\b`)
)

// howMany matches 几 with a measure word.
var howMany = regexp.MustCompile(`几([个种条次块张件幅层步本座所棵只场项首句瓣片根圈笔位名家间段])`)

// kindWords are looked for in this order: "how many" before "how", 为什么 before 什么.
var kindWords = []struct {
	kind    kind
	english []string
	chinese []string
}{
	{kindWhen, nil, []string{"多少年历史", "多少年了"}},
	{kindHowLong, []string{"how long"}, []string{"多久", "多长时间"}},
	{kindHowMany, []string{"how many", "how much", "how large", "how big", "how tall", "how far", "number of", "how high"},
		[]string{"多少", "几多", "多长", "多大", "多高", "多宽"}},
	{kindWhy, []string{"why", "how come", "reason"}, []string{"为什么", "为何", "为啥", "原因", "怎么会", "怎么没", "怎么少"}},
	{kindWhen, []string{"when", "what year", "which year", "what time", "how old", "what date", "what century", "which century"},
		[]string{"什么时候", "何时", "哪一年", "哪年", "几点", "几年", "什么年代", "什么朝代", "哪个朝代", "哪个世纪", "几世纪", "年代", "年份"}},
	{kindWho, []string{"who", "whom", "whose", "by whom"}, []string{"谁", "哪位", "什么人", "何人", "哪个人", "作者"}},
	{kindWhere, []string{"where", "which hall", "which room", "which floor", "which country"},
		[]string{"哪里", "哪儿", "怎么走", "怎么去", "何处", "在哪", "哪个厅", "哪个展厅", "几楼", "哪个国家", "什么地方"}},
	{kindDefine, []string{"what is a", "what is an", "what is the", "what are", "what s a", "what s the", "what does", "define", "definition"},
		[]string{"什么是", "是什么", "什么叫", "是啥", "什么意思", "指什么"}},
	{kindHow, []string{"how"}, []string{"怎么", "怎样", "如何"}},
}
