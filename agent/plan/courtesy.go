package plan

import (
	"regexp"
	"strings"

	"docent/agent/internal/words"
)

// courtesies are tried in this order on the whole question. All but injection, insults, other visitors and out of scope
// have to be the whole of it: "Hello, who painted this?" is a question.
var courtesies = []struct {
	courtesy Courtesy
	pattern  *regexp.Regexp
}{
	{Injection, regexp.MustCompile(`\b(ignore|disregard|forget|override)\b.{0,40}\b(instructions?|rules?|prompts?|above|previous)\b|\b(system|hidden|initial) prompt\b|\b(you are|act as|pretend to be|roleplay)\b.{0,20}\b(dan|unrestricted|jailbroken|developer mode|a pirate|an? (evil|different))\b|\bjailbreak\b|` +
		`(忽略|无视|忘掉|忘记|绕过).{0,12}(指令|指示|命令|规则|提示|设定|要求)|系统提示|提示词|越狱|(扮演|假装你?是)`)},
	{Greeting, whole(`(hi|hello|hey|howdy|good (morning|afternoon|evening|day)|greetings)( there| docent| guide| everyone)?( how are you( (doing|today))*)?|how are you( (doing|today))*|` +
		`(你|您|大家)?好(呀|啊|哦)?|嗨|哈[喽啰]|早上好|上午好|下午好|晚上好|早安|你好吗|在吗`)},
	{Thanks, whole(`(ok |great |wonderful )?(thanks|thank you|thx|cheers|many thanks)( (a lot|so much|very much|for .{1,40}))*( (that|it|this|you) (was|is|were|are|s|re)( very| really| so| most)* (great|helpful|useful|interesting|lovely|kind|clear))?|that was( very| really| so)* (great|helpful|useful|interesting|lovely|clear)|you( are| re) (so |very |really )*(smart|clever|great|helpful|nice|funny|cool|kind|amazing|the best)|[你您](真|好|太|很)(聪明|厉害|棒|好|可爱|有趣|能干)(了|啊|呀)*|(太|真)?(谢谢|多谢|感谢)(你|您|了|啦|讲解|帮助)*|讲得(真|很|太)?好(了)?`)},
	{Nod, whole(`(ok|okay|k|yes|yeah|yep|yup|no|nope|nah|sure|right|alright|all right|fine|good|nice|cool|great|wow|really|i see|got it|hm+|mhm|ah+|oh|ha(ha)+|lol|hehe|test|testing|never ?mind|not this( one)?|that s not it|wrong( one)?)( (ok|yes|no|thanks|please|then|sorry))*|` +
		`(嗯|哦|噢|啊|唔|呃|额)+|好(的|吧|啦|嘞)+|行吧?|可以|对(的|啊|呀)?|是(的|啊|呀)|不是?(的|啊)?|不用(了)?|没(有|事)(了|啦)?|知道了|明白了?|原来如此|真的(吗)?|哈+|呵+|嘿+|嘻+|哇(塞|哦)?|厉害|不错|测试|(你)?(认|搞|弄)?错了|不是这[个幅件张](画|展品|作品)?|算了`)},
	{Farewell, whole(`(good ?)?bye( bye)?|see you( later| soon)?|good ?night|再见|拜拜|晚安|下次见`)},
	{AboutGuide, whole(`(who|what) are you|what s your name|what is your name|are you (a |an )?(real|human|alive|robot|machine|computer|ai|person|chatgpt|gpt|siri|alexa)( .{0,20})?|(what s|what is|which is|who s|who is) your (own )?favou?rite.{0,24}|(which|what)( (one|picture|painting|work|artist|pattern|hall))? do you (like|love|prefer)( (best|most|the most))?|[你您]最?喜欢(的是)?(哪|什么|谁).{0,10}|what can (you|i) (do|ask)( you| here)?|how do you work|how does this work|help|can you help me|` +
		`[你您]是(谁|什么|机器人|人|真人|人工智能)(吗|么)?|[你您]叫什么(名字)?|[你您](能|会|可以)(做|干)?(什么|些什么|回答什么)|我?(能|可以)问(你)?什么|怎么用|帮助`)},
	{Languages, whole(`(hi |hello |sorry )?(do|can|could) you( also| please)? (speak|talk|understand|answer in)( in)? (any )?(` + tongues + `)( (and|or) (` + tongues + `))?( too| please)*|(please )?(speak|talk|answer)( to me)?( in)? (english|chinese|mandarin)( please)?|请?(说|讲|用)(中文|英文|英语|汉语|普通话)(吧|说|讲|回答)*|(what|which|how many) languages? (do|can) you (speak|understand|know)|[你您](会不会|能不能|可不可以|也?会|能|可以)?(说|讲|听懂)[\p{Han}]{0,3}(语|话|文)吗?|[你您](会|能)?(说|讲|懂)?(哪些|什么|几种|哪几种)语言`)},
	{Insult, regexp.MustCompile(`\b(you('re| are)?|u r|this (guide|thing|machine) is) (so |such |a |an |really |totally |complete |fucking )*(stupid|idiot|dumb|useless|moron|garbage|trash|rubbish|liar|fool)\b|\b(fuck|screw) (you|off)\b|\bshut up\b|\b(this|you|the) (stupid|dumb|useless|damn|bloody|crappy|fucking) (thing|machine|guide|app|kiosk|robot|computer)\b|^(stupid|idiot|fuck)\W*$|` +
		`[你您](真|太|好|就|是|个|这)*(蠢|笨|傻|垃圾|白痴|废物|没用|骗子)|傻[逼瓜叉]|滚开?[!！。]?$|闭嘴|他妈的|操你`)},
	{Others, regexp.MustCompile(`\b(what|which|who|how|did|do|does|has|have|tell|show|repeat)\b.{0,30}\b(last|previous|other|another|earlier|next) (visitors?|persons?|people|guests?|users?)\b.{0,20}\b(ask|asked|say|said|want|wanted|told|talk|talked|type|typed|write|wrote|photograph|photographed|name)\b|\b(visitors?|person|people|guests?|users?|somebody|someone|whoever) (before|ahead of) me\b|` +
		`(上一?[个位]|前一?[个位]|前面的?|之前的?|其他|其它|别的)的?(人|观众|游客|访客|用户|参观者).{0,6}(问|说|聊|拍|叫什么|看了)`)},
	{World, whole(`(please )?(tell me )?(what|how)( is| s| will| about|s) (the |today s |tomorrow s )*(weather|forecast|temperature)( be)?( like)?( (today|now|right now|tomorrow|tonight|outside|here|this week|this weekend|in [a-z]+))*|((the|today s) )?weather( report| forecast)?( (today|now|tomorrow|outside|here|please|(in|for) [a-z]+))*|(is it|will it|does it)( going to)? (rain(ing|y)?|snow(ing|y)?|sunny|hot|cold|warm)( (today|now|tomorrow|outside|here|later))*|` +
		`(what is |what s |how much is |calculate )?\d+ ?(times|plus|minus|divided by|[x*+/×÷-]) ?\d+ ?=?|` +
		`.{0,4}(今天|明天|现在|外面|这几天|这周|周末).{0,4}(天气|气温)(预报)?(怎么样|如何|好不?好?|多少度?)?[吗呢呀啊]?|天气(预报|怎么样|如何|好吗)|.{0,4}(今天|明天|现在|外面)?(会不会|会|要|在)?下[雨雪][了吗么嘛]*|` +
		`[\d一二三四五六七八九十百]+ ?(乘以?|加上?|减去?|除以?|[x*+/×÷-]) ?[\d一二三四五六七八九十百]+ ?(=|是|等于|得)?(几|多少)?`)},
	{Outside, regexp.MustCompile(`\b(weather|forecast|rain|snow|temperature outside|stock price|share price|bitcoin|football|soccer|world cup|olympics|president|prime minister|election|taxi|uber|flight|horoscope|lottery|recipe|homework|(tell|know|another|make) (me |us )*(a |any |some )*(jokes?|riddles?))\b|^(please |can you |could you )?(write|compose|translate|sing|calculate|book|order|play|call) |\b\d+ ?(times|plus|minus|[x*+/]) ?\d+\b|` +
		`天气|下雨|下雪|股价|股票|比特币|足球|世界杯|奥运|总统|主席是谁|总理|选举|出租车|打车|机票|航班|星座|彩票|菜谱|作业|写一?[首篇个封段]|翻译|唱一?首|讲个笑话|[\d一二三四五六七八九十]+ ?(乘|加|减|除)`)},
}

// tongues are names of languages.
const tongues = `english|chinese|mandarin|cantonese|french|german|spanish|italian|japanese|korean|russian|portuguese|arabic|dutch|polish|turkish|hindi|thai|vietnamese|other languages?`

func whole(pattern string) *regexp.Regexp { return regexp.MustCompile(`^(` + pattern + `)$`) }

var clauseEnd = regexp.MustCompile(`[,.!?;:，。！？；：…\n]+`)

// without is a message less the clauses that drop names, each with what ends it. drop is given a clause as it stands, with
// what is around it but not what ends it.
func without(message string, drop func(clause string) bool) string {
	var kept strings.Builder
	start := 0
	keep := func(to, end int) {
		if !drop(message[start:to]) {
			kept.WriteString(message[start:end])
		}
		start = end
	}
	for _, at := range clauseEnd.FindAllStringIndex(message, -1) {
		keep(at[0], at[1])
	}
	keep(len(message), len(message))
	return kept.String()
}

// civil takes rude clauses out of a message that also asks something: "You stupid machine, when do you close?" A message
// that has nothing else stays as it is.
func civil(question string) string {
	if courtesyOf(question) != Insult {
		return question
	}
	rest := strings.TrimSpace(without(question, func(clause string) bool { return courtesyOf(clause) == Insult }))
	if !asksSomething.MatchString(words.Fold(rest)) {
		return question
	}
	return rest
}

// aboutSelf matches a clause in which visitors say who they are or how they came, which is nothing to look up. What can
// change an answer (children, a ticket's concession, an exhibit) is none of it.
var aboutSelf = regexp.MustCompile(`^(and |by the way |btw |hi |hello |hey )*(my name is|my name s|my name's|i am called|i'm called|call me|you can call me) [\pL' -]{1,40}$|^(and |hi |hello )*(i am|i'm|we are|we're|i come|we come) from [\pL ]{1,30}$|^(it is|it's|this is) (my|our) first (time|visit)( here)?$|` +
	`^(你好)?(我叫|我的名字是|我名字叫|叫我)[\pL· ]{1,10}$|^我们?(是)?(来自|从)[\p{Han}]{1,8}(来的?)?$|^我们?(是)?第一次来(这里|这儿)?$|^(it is |it's |this is )?(very )?urgent$|^(很|太|好|有点|比较)?急(用|死了?)?$`)

// withoutAside takes clauses about the visitor out of a message that also asks something: "Who made it, my name is Ada?"
// It does not touch others.
func withoutAside(question string) string {
	found := false
	rest := strings.Trim(without(question, func(clause string) bool {
		self := aboutSelf.MatchString(words.Fold(strings.TrimSpace(clause)))
		found = found || self
		return self
	}), " ,，;；:：")
	if !found || !asksSomething.MatchString(words.Fold(rest)) {
		return question
	}
	return rest
}

// States reports whether a message only tells something, and neither asks nor wants anything.
func States(question string) bool {
	if strings.ContainsAny(question, "?？") {
		return false
	}
	start := 0
	folded := words.Fold(question)
	for _, at := range append(clauseEnd.FindAllStringIndex(folded, -1), []int{len(folded), len(folded)}) {
		if wants.MatchString(strings.TrimSpace(folded[start:at[0]])) {
			return false
		}
		start = at[1]
	}
	return true
}

// wants matches a clause that asks or wants something.
var wants = regexp.MustCompile(`\b(who|whose|what|when|where|which|why|how|tell (me|us)|show (me|us)|explain|recommend|suggest|any(thing)?|let me know)\b|^(and |but |so |please )*(is|are|was|were|do|does|did|can|could|may|should|will|would|has|have|find|give|take|plan)\b|谁|什么|哪|几|多少|怎么|为什么|[吗呢吧]|讲讲|说说|介绍|推荐|有没有|能不能|可不可以|可以|是不是|请问|帮我`)

// asksSomething matches what only a question has.
var asksSomething = regexp.MustCompile(`\b(who|whose|what|when|where|which|why|how|is|are|was|were|do|does|did|can|could|tell me|show me)\b|谁|什么|哪|几|多少|怎么|为什么|吗|呢|在不在|[有是能可]没?不?[有是能可]`)

// courtesyOf says what is said rather than asked.
func courtesyOf(question string) Courtesy {
	folded := words.Fold(question)
	bare := strings.Join(strings.FieldsFunc(folded, func(r rune) bool { return strings.ContainsRune(" \t\n.,!?;:~'’‘…。，！？；：～、", r) }), " ")
	for _, c := range courtesies {
		if c.pattern.MatchString(bare) || (c.courtesy == Injection || c.courtesy == Insult || c.courtesy == Others || c.courtesy == Outside) && c.pattern.MatchString(folded) {
			return c.courtesy
		}
	}
	return ""
}
