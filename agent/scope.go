package agent

import (
	"regexp"
	"strings"

	"docent/agent/internal/words"
)

// scope is where an answer may come from.
type scope string

const (
	scopeAbout scope = "about" // the exhibits the question is about, and texts that name them
	scopeHouse scope = "house" // texts that belong to no exhibit
	scopeAll   scope = "all"
)

// mentions reports whether the question has a word of the exhibit's title.
func (s *shelf) mentions(exhibit string, focus []unit) bool {
	for _, n := range s.names {
		if n.exhibit != exhibit {
			continue
		}
		for _, u := range focus {
			if u.notion == nil && u.in(n.terms) {
				return true
			}
		}
	}
	return false
}

// scopes decides where an answer may come from, in the order to try. A question that names or points at an exhibit is
// never answered from another one: a right sentence about the wrong thing is a wrong answer. What is asked of today
// (the weather, the news) is never answered from what is told of the exhibits.
func scopes(q question, inHand string, atWork, points, now bool) []scope {
	switch {
	case pointsAtGuide.MatchString(words.Fold(q.text)), isTask.MatchString(words.Fold(q.text)), now && len(q.focus) == 0:
		return nil
	case !q.named && !q.notion("price") && ranksWorks.MatchString(words.Fold(q.text)):
		return nil
	case !q.named && howDoI.MatchString(words.Fold(q.text)):
		return []scope{scopeHouse}
	case !q.named && pointsAtHouse.MatchString(words.Fold(q.text)):
		return []scope{scopeHouse}
	case !q.named && inHand == "" && asksWhereToDo(words.Fold(q.text)):
		return []scope{scopeHouse}
	case !q.named && q.notion("hall") && q.kind == kindHowMany:
		return []scope{scopeHouse, scopeAbout}
	case !q.named && inHand != "" && asksItsPrice.MatchString(words.Fold(q.text)): // not what the house charges, or sells
		return []scope{scopeAbout}
	case q.withWork() && inHand != "" && (atWork || points) && !q.named:
		return []scope{scopeHouse, scopeAbout}
	case q.named, atWork && inHand != "":
		return []scope{scopeAbout}
	case atWork, inHand == "" && points && !q.house && !q.names(): // this painting, it: which?
		return nil
	case q.kind == kindHowLong && q.only("make") && inHand != "" && points: // not how long a visit takes
		return []scope{scopeAbout}
	case q.house && inHand != "" && points:
		return []scope{scopeHouse, scopeAbout}
	case q.house && (now || !q.names()): // toilets and parking are not told of the exhibits
		return []scope{scopeHouse}
	case q.house && inHand != "":
		return []scope{scopeHouse, scopeAbout, scopeAll}
	case q.house:
		return []scope{scopeHouse, scopeAll}
	case inHand != "" && (points || !q.names()): // also "Who made it?" without the it
		return []scope{scopeAbout}
	case now && inHand != "":
		return []scope{scopeAbout, scopeHouse}
	case now:
		return []scope{scopeHouse}
	case inHand != "":
		return []scope{scopeAbout, scopeAll}
	}
	return []scope{scopeAll}
}

// pointing are words by which a question points at the exhibit in hand or the one last spoken of.
var pointing = wordSet("it its it's this that these those they them their he she his her him such")

var pointingHan = strings.Fields("它 这 那 他 她 此")

// pointsAtWork matches words that can mean the exhibit in hand only, where "it" may mean the house too.
var pointsAtWork = regexp.MustCompile(`\b(this|that|these) (\w+ )?(painting|picture|work|artwork|piece|exhibit|object|drawing|print|image|pattern)s?\b|` +
	`[这那此](一)?(幅|件|张|个(作品|展品|图案|东西))|[这那]画`)

// otherThings matches what is counted as pictures are in Chinese, and is none of them.
var otherThings = regexp.MustCompile(`[这那此](一)?[张件个](门?票|[成老]人票|[儿学][童生]票|家庭票|地图|导览图?|[桌椅]子?|长[凳椅]|凳子|沙发|卡片?|明信片|单子|收据|优惠券)`)

// pointsAtOne reports whether a folded question points at a picture, where "it" may mean the house too.
func pointsAtOne(folded string) bool {
	return pointsAtWork.MatchString(otherThings.ReplaceAllString(folded, " "))
}

// ranksWorks matches questions that rank the exhibits by what no catalogue tells; their texts speak of other things.
var ranksWorks = regexp.MustCompile(`\b(which|what)( is the)?.{0,30}\b(biggest|largest|smallest|tallest|heaviest|priciest|cheapest|most (expensive|valuable|popular|famous|beautiful|important))\b.{0,12}\b(picture|painting|work|exhibit|piece|object|one)?s?\b|\b(which|what) (hall|room) is the \w+(est|est one)\b|哪个展?厅最|` +
	`最(大|小|高|重|贵|便宜|值钱|有名|著名|美|漂亮|受欢迎)的?(是哪)?一?(幅|件|张|个作品|个展品)|哪一?(幅|件|张)(画|展品|作品)?最|哪位(画家|艺术家|作者)最`)

// worksAll matches words that mean all exhibits where none is in hand.
var worksAll = regexp.MustCompile(`\bthese (paintings|pictures|works|artworks|pieces|exhibits|objects|drawings|prints|images|patterns)\b|这些`)

// theWork matches words that mean the exhibit in hand where there is one.
var theWork = regexp.MustCompile(`\bthe (painting|picture|artwork|exhibit|drawing|print|image)\b|画[里中上面]`)

// asksItsPrice matches questions for the price of the exhibit in hand, which is none of the shop's and no ticket's.
var asksItsPrice = regexp.MustCompile(`\bwho (paid|pays) for (it|this|that)\b|\b(it|this|that|these|this one|(this|that|the) (\w+ )?(painting|picture|work|artwork|piece|exhibit|object|drawing|print|image|pattern|one)s?) (for|on) sale\b|\bhow much (is|does|would|did) (it|this|that|this one)( cost| worth| sell for)*\W*$|\bwhat('s| is) (its|the price of (it|this))\b.{0,8}(price|it|this)|` +
	`(它|[这那](一)?([幅件张个]|画)(画|展品|作品|东西)?)(要|得|能|可以|是|卖|值|的)*(多少钱|什么价|价格|价钱|售价|出售|卖)`)

// pointsAtHouse matches words that can mean the house only.
var pointsAtHouse = regexp.MustCompile(`\b(this|the|your) (current )?(building|house|place|museum|gallery|exhibition)\b|\b(work|works|working|employed|volunteer|live|lives) here\b|(馆里|这里|本馆|馆内)(一共|总共)?有?(多少|几个?)(人|员工|工作人员)|这[座栋个](大?楼|房子|建筑|馆|地方|博物馆|美术馆)|本馆|[你贵]们?馆`)

// pointsAtGuide matches questions about the guide itself.
var pointsAtGuide = regexp.MustCompile(`\b(who|what) are you\b|\byour name\b|\bare you (a|an|real|human|alive)\b|\bdo you (like|love|think|feel)\b|[你您](是谁|叫什么|是机器人|是人|喜欢|觉得)`)

// isTask matches what is no question but work for somebody else: a poem, a translation, a sum.
var isTask = regexp.MustCompile(`^(please |can you |could you |would you )?(write|compose|translate|sing|calculate|summari[sz]e|play|order|book|call) |写一?[首篇个封段]|翻译|唱一?首|讲个笑话`)

// howDoI matches questions for advice; the house can give some, the exhibits' texts none.
var howDoI = regexp.MustCompile(`\bhow (do|can|could|should) (i|we)\b|我(怎么|如何|怎样)`)

// whereToDo matches a question for where visitors can do something; toLookAt are the deeds that the exhibits are there for.
var (
	whereToDo = regexp.MustCompile(`\bwhere (?:can|could|may|should|do|must) (?:i|we|my [a-z]+) (?:also |please )?([a-z]+)`)
	toLookAt  = wordSet("see find look view admire discover learn read hear meet watch spot photograph go start begin")
)

func asksWhereToDo(folded string) bool {
	m := whereToDo.FindStringSubmatch(folded)
	return m != nil && !toLookAt[m[1]]
}

// asksNow matches words that bind a question to the present day.
var asksNow = regexp.MustCompile(`\bwhat time is it\b|几点了|\b(today|tonight|tomorrow|yesterday|now|right now|currently|this (week|weekend|morning|afternoon|evening|month|year)|(next|last) (week|month|year)|latest)\b|` +
	`今天|今日|今晚|明天|昨天|现在|目前|本周|这周|周末|这个月|下周|下个月|今年|明年|去年|上周|上个月|最新`)

// points reports whether the question points at something (it, this, 它, 这) rather than naming it.
func points(text string) bool {
	for _, w := range words.LatinWords(text) {
		if pointing[w] {
			return true
		}
	}
	for _, p := range pointingHan {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}
