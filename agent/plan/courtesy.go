package plan

import (
	"regexp"
	"strings"

	"docent/agent/internal/words"
)

// courtesies are tried in this order on the whole question. All but injection and out of scope have to be the whole of
// it: "Hello, who painted this?" is a question.
var courtesies = []struct {
	courtesy Courtesy
	pattern  *regexp.Regexp
}{
	{Injection, regexp.MustCompile(`\b(ignore|disregard|forget|override)\b.{0,40}\b(instructions?|rules?|prompts?|above|previous)\b|\b(system|hidden|initial) prompt\b|\b(you are|act as|pretend to be|roleplay)\b.{0,20}\b(dan|unrestricted|jailbroken|developer mode|a pirate|an? (evil|different))\b|\bjailbreak\b|` +
		`(忽略|无视|忘掉|忘记|绕过).{0,12}(指令|规则|提示|设定|要求)|系统提示|提示词|越狱|(扮演|假装你?是)`)},
	{Greeting, whole(`(hi|hello|hey|howdy|good (morning|afternoon|evening|day)|greetings)( there| docent| guide| everyone)?( how are you( (doing|today))*)?|how are you( (doing|today))*|` +
		`(你|您|大家)?好(呀|啊|哦)?|嗨|哈[喽啰]|早上好|上午好|下午好|晚上好|早安|你好吗|在吗`)},
	{Thanks, whole(`(ok |great |wonderful )?(thanks|thank you|thx|cheers|many thanks)( (a lot|so much|very much|for .{1,40}))*|that was (great|helpful|interesting|lovely)|(太|真)?(谢谢|多谢|感谢)(你|您|了|啦|讲解|帮助)*|讲得(真|很|太)?好(了)?`)},
	{Farewell, whole(`(good ?)?bye( bye)?|see you( later| soon)?|good ?night|再见|拜拜|晚安|下次见`)},
	{AboutGuide, whole(`(who|what) are you|what s your name|what is your name|are you (a |an )?(real|human|alive|robot|machine|computer|ai|person)( .{0,20})?|what can (you|i) (do|ask)( you| here)?|how do you work|how does this work|help|can you help me|` +
		`[你您]是(谁|什么|机器人|人|真人|人工智能)(吗|么)?|[你您]叫什么(名字)?|[你您](能|会|可以)(做|干)?(什么|些什么|回答什么)|我?(能|可以)问(你)?什么|怎么用|帮助`)},
	{Insult, regexp.MustCompile(`\b(you('re| are)?|u r|this (guide|thing|machine) is) (so |such |a |an |really |totally |complete |fucking )*(stupid|idiot|dumb|useless|moron|garbage|trash|rubbish|liar|fool)\b|\b(fuck|screw) (you|off)\b|\bshut up\b|^(stupid|idiot|fuck)\W*$|` +
		`[你您](真|太|好|就|是|个|这)*(蠢|笨|傻|垃圾|白痴|废物|没用|骗子)|傻[逼瓜叉]|滚开?[!！。]?$|闭嘴|他妈的|操你`)},
	{Outside, regexp.MustCompile(`\b(weather|forecast|rain|snow|temperature outside|stock price|share price|bitcoin|football|soccer|world cup|olympics|president|prime minister|election|taxi|uber|flight|horoscope|lottery|recipe|homework)\b|^(please |can you |could you )?(write|compose|translate|sing|calculate|book|order|play|call) |\b\d+ ?(times|plus|minus|[x*+/]) ?\d+\b|` +
		`天气|下雨|下雪|股价|股票|比特币|足球|世界杯|奥运|总统|主席是谁|总理|选举|出租车|打车|机票|航班|星座|彩票|菜谱|作业|写一?[首篇个封段]|翻译|唱一?首|讲个笑话|[\d一二三四五六七八九十]+ ?(乘|加|减|除)`)},
}

func whole(pattern string) *regexp.Regexp { return regexp.MustCompile(`^(` + pattern + `)$`) }

// courtesyOf says what is said rather than asked.
func courtesyOf(question string) Courtesy {
	folded := words.Fold(question)
	bare := strings.Join(strings.FieldsFunc(folded, func(r rune) bool { return strings.ContainsRune(" \t\n.,!?;:~'’‘…。，！？；：～、", r) }), " ")
	for _, c := range courtesies {
		if c.pattern.MatchString(bare) || (c.courtesy == Injection || c.courtesy == Insult || c.courtesy == Outside) && c.pattern.MatchString(folded) {
			return c.courtesy
		}
	}
	return ""
}
