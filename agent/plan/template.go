package plan

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"docent/agent/collection"
	"docent/agent/internal/words"
	"docent/localindex/gallery"
)

const durationPattern = `(?:an?|\d{1,3}|one|two|three|ten|fifteen|twenty|thirty|forty|forty-five|fifty|sixty|ninety) ?(?:minutes?|mins?|hours?|hrs?|h)\b(?: and a half)?|half an hour|(?:\d{1,3}|[一二两三四五六七八九十]+|半)个?半?(?:分钟|小时|钟头)|三刻钟|一刻钟`

var (
	compareWords   = regexp.MustCompile(`\b(compare|comparison|differences?|differ|different from|similar|similarit(y|ies)|in common|versus|vs)\b|\bwhich( one| of (them|these|the two))? (is|was|came) (the )?(older|newer|younger|first|earlier|later)\b|比较|对比|区别|不同|不一样|异同|差别|有什么(相同|相似)|共同点|相似|\b(is|was|are|were) .{3,60} (older|newer|younger|earlier|later) than\b|比.{2,16}(更|还)?(早|晚|老|新|古老)|哪(个|幅|件|一?个)?(年代|时间)?(更|比较)?(早|老|新|晚)`)
	thanWords      = regexp.MustCompile(`\bthan\b|比.{2,16}(早|晚|老|新|古老)`)
	ranksAges      = regexp.MustCompile(`\b(older|newer|younger|earlier|later)\b|\bcame first\b|比.{2,16}(更|还)?(早|晚|老|新|古老)|哪(个|幅|件|一?个)?(年代|时间)?(更|比较)?(早|老|新|晚)`)
	mustSee        = regexp.MustCompile(`\bmust[- ]sees?\b|\bnot (to )?miss\b|\bdon't miss\b|\b(your|the) (best|highlights|favou?rites)\b|必看|不能错过|不可错过|(最|很)?值得一?看|精华|看(点|些)?什么(比较|最|才)?(好|合适)|\bwhat should (i|we) (see|look at|visit)( here| first)?\b`)
	party          = regexp.MustCompile(`我?们?(带|陪)(着|了)?(家里)?(的)?(老人|爸妈|父母|爷爷|奶奶|妈妈?|爸爸?|外婆|外公)(一起)?(来|参观|逛)?的?|(他|她)们?|走不[动了远]|走不了路|腿脚不(便|好|方便)|不能走太?远|行动不便|坐轮椅|\b(my|our) (mother|father|mum|mom|dad|parents?|grand\w+|wife|husband|friend)( and i)? (can not|cannot|can't) walk( very| too| so)?( far| well| much)?\b|\b(i|we) (can not|cannot|can't) walk( very| too| so)?( far| well| much)?\b`)
	whichOfThem    = regexp.MustCompile(`^(?:and |so )?which(?: one)? (?:is|was|came) (?:the )?(?:older|newer|younger|first|earlier|later)\W*$|^哪一?(?:个|幅|件)?(?:年代|时间)?(?:更|比较)?(?:早|老|新|晚)\W*$`)
	theTwo         = regexp.MustCompile(`\b(the|these|those|both|last) ?(last )?two\b|\bthem\b|\bboth\b|两(个|幅|件|者)|它们`)
	highlightWords = regexp.MustCompile(`\bhighlights?\b|\b(what|which)\b.{0,30}\b(see|there|hangs?|on (show|display)|exhibits?|pictures|works|shown|else|worth)\b|亮点|有什么|有哪些|还有什么|看什么|值得|必看|重点|展出什么`)
	routeWords     = regexp.MustCompile(`\b(plan|suggest|recommend|make|give|show|need|want)\b.{0,30}\b(route|tour|visit|walk|itinerary)\b|\b(route|itinerary)\b|\b(i|we)( only|'ve only)?('ve)? (have|got|have got|have only)\b.{0,20}\b(min|minutes?|mins|hours?)\b|\b(see|visit|do)\b.{0,20}\b(in|within|with)\b.{0,20}\b(minutes?|mins|hours?|hour)\b|路线|怎么逛|怎么参观|参观顺序|(我们?只?有|只剩|还剩|就剩|只有|剩下).{0,12}(分钟|小时|钟头)|(规划|安排|推荐|设计).{0,12}(参观|行程|路线|游览)|[，,。；;\s]有.{1,6}(分钟|小时|钟头)(时间|左右)?([，,。！!；;\s]|$)|(分钟|小时|钟头)(内|里|之内)?(能|可以|该|应该)?(看|逛|参观)`)
	kids           = regexp.MustCompile(`[一二两三四五六七八九十\d]岁的?(孩子|小孩|宝宝|娃)?|\b(kids?|child|children|son|daughter|family|toddlers?|grand(son|daughter|children))\b|(\d+|two|three|four|five|six|seven|eight|nine|ten|eleven)[- ]year[- ]olds?|孩子|小孩|儿子|女儿|小朋友|宝宝|亲子|一家|孙子|孙女`)
	kidsDo         = regexp.MustCompile(`\b(see|do|visit|plan|recommend|suggest|route|tour|show|look at|enjoy|interesting for|fun for|day with)\b|看什么|看哪|怎么(逛|玩|参观|安排)|玩什么|推荐|适合.{0,6}看|有(没有|什么|哪些)?.{0,4}适合|安排|路线|参观|看些什么`)
	stepFree       = regexp.MustCompile(`\bwheelchair|step[- ]free|without (stairs|steps)|pram|pushchair|stroller|accessible|轮椅|婴儿车|推车|无障碍|台阶|行动不便|走不[动了远]|走不了路|腿脚不(便|好|方便)|不能走太?远|\b(can not|cannot|can't) walk\b`)
	quiet          = regexp.MustCompile(`\bquiet|crowd|few people|安静|人少|清静|拥挤`)
	practicalWords = regexp.MustCompile(`\b(open|opens|opening|close|closes|closed|closing|hours|events?|tours?|workshops?|talks?|programme|happening|happens?|going on|what'?s on|get in|come in|be let in|last entry|entry|longer|shut|shuts|come|coming|visit|stay)\b|开门|关门|闭馆|开馆|开放|营业|开吗|开不开|入馆|进馆|进去|入场|休息|还能(参观|看|逛|待|进)|还可以(参观|看|逛|待|进)|(参观|逛|待)多久|下班|打烊|清场|休馆|开不开|可以来|能来|想来|要来|过来|活动|导览|讲座|工作坊`)
	restOfDay      = regexp.MustCompile(`\b(longer|still|left|yet)\b|还(能|可以|有|开)|多久`)
	eventWords     = regexp.MustCompile(`\b(events?|tours?|workshops?|talks?|programme|activit(y|ies)|happening|happens?|what'?s on|going on)\b|活动|导览|讲座|工作坊`)
)

// templateOf finds the task that takes several steps, and what it is about.
func templateOf(c *Catalogue, in Input, r resolved) (Template, Arguments, bool) {
	folded := words.Fold(r.full)
	args := Arguments{StepFree: stepFree.MatchString(folded), Quiet: quiet.MatchString(folded), Minutes: minutesIn(folded), Hall: r.hall}
	if w, ok := walkOf(c, in, r, folded); ok {
		w.StepFree = args.StepFree || in.Visit.StepFree
		return Walk, w, true
	}
	if q, between, ok := queryOf(c, r, folded); ok {
		return Collection, Arguments{Query: q, Between: between, StepFree: args.StepFree || in.Visit.StepFree}, true
	}
	if compareWords.MatchString(folded) {
		if args.Exhibits = compared(c, in, r, folded); len(args.Exhibits) > 0 {
			if m := latinEnd.FindStringSubmatch(folded); m != nil && len(args.Exhibits) == 1 {
				args.Query = collection.Query{Order: orderOf(m[2])}
			} else if m := hanEnd.FindStringSubmatch(folded); m != nil && len(args.Exhibits) == 1 {
				args.Query = collection.Query{Order: orderOf(m[1])}
			}
			if !thanWords.MatchString(folded) || len(args.Exhibits) > 1 {
				args.Ranks = ranksAges.MatchString(folded)
				return Compare, args, true
			}
			args.Exhibits = nil // older than something else: no comparison of two exhibits
		}
	}
	args.Interests = interests(c, folded)
	if nextWords.MatchString(folded) && len(r.named) == 0 && !practicalWords.MatchString(folded) {
		args.remember(in.Visit)
		return Next, args, true
	}
	wantsRoute := routeWords.MatchString(folded)
	switch {
	case kids.MatchString(folded) && (wantsRoute || kidsDo.MatchString(folded)) && len(r.named) == 0 && !r.pointed && !practicalResidue(folded):
		args.remember(in.Visit)
		return Family, args, true
	case wantsRoute && len(r.named) == 0:
		args.remember(in.Visit)
		return Route, args, true
	case r.hall != "" && highlightWords.MatchString(folded) && len(r.named) == 0:
		return Highlights, args, true
	case mustSee.MatchString(folded) && len(r.named) == 0 && !r.pointed && nothingLeft(party.ReplaceAllString(mustSee.ReplaceAllString(folded, " "), " ")):
		args.remember(in.Visit)
		if args.Minutes == 0 {
			args.Minutes = mustSeeMinutes
		}
		return Route, args, true
	}
	if day, ok := dayIn(folded); ok && practicalWords.MatchString(folded) && practicalResidue(folded) {
		args.Day, args.Topic = day, "hours"
		if day.Name == "today" && restOfDay.MatchString(folded) {
			args.Day = Day{Name: "now", Rest: true}
		}
		if eventWords.MatchString(folded) {
			args.Topic = "events"
		}
		return Practical, args, true
	}
	return "", Arguments{}, false
}

// mustSeeMinutes is how long a walk is for those who ask what not to miss, and not how long they have.
const mustSeeMinutes = 40

// remember fills in what a question for a walk leaves open by what the visitor said before.
func (a *Arguments) remember(v Visit) {
	if a.Minutes == 0 {
		a.Minutes = v.Minutes
	}
	a.StepFree = a.StepFree || v.StepFree
	a.Children = a.Children || v.Children
	a.Dislikes = v.Dislikes
	if len(a.Interests) == 0 {
		a.Interests = v.Likes
	}
}

// compared are the exhibits to compare: those named, with the one pointed at, or the last two spoken of.
func compared(c *Catalogue, in Input, r resolved, folded string) []string {
	out := slices.Clone(r.named)
	for _, id := range looselyNamed(c, folded) {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	if len(out) < 2 && theTwo.MatchString(folded) || len(out) == 0 && whichOfThem.MatchString(folded) {
		if last := lastSubjects(c, in.History, 2); len(last) == 2 {
			return last
		}
	}
	subject := r.subject
	if subject == "" && len(out) == 1 {
		subject = in.Exhibit
		if subject == "" {
			subject = lastSubject(c, in.History)
		}
	}
	if len(out) < 2 && subject != "" && !slices.Contains(out, subject) && (len(out) == 1 || r.pointed) {
		out = append([]string{subject}, out...)
	}
	return out[:min(len(out), 3)]
}

// looselyNamed are the exhibits whose title's first word stands in the text, where no other title begins with it.
func looselyNamed(c *Catalogue, folded string) []string {
	count, owner := map[string]int{}, map[string]string{}
	for _, e := range c.Exhibits {
		for _, name := range e.Name {
			first := firstWord(words.Fold(name))
			if owner[first] != e.ID {
				count[first]++
			}
			owner[first] = e.ID
		}
	}
	var found []mention
	for first, id := range owner {
		if count[first] == 1 && len(first) > 4 {
			found = append(found, occurrences(id, folded, first)...)
		}
	}
	slices.SortFunc(found, func(a, b mention) int { return a.from - b.from })
	return ids(found)
}

// firstWord is the word before the first space; of a Chinese title all but its last two characters.
func firstWord(name string) string {
	if isLatin(name) {
		first, _, _ := strings.Cut(name, " ")
		return first
	}
	rs := []rune(name)
	return string(rs[:max(0, len(rs)-2)])
}

// interests are the words of the text that exhibits are found by.
func interests(c *Catalogue, folded string) []string {
	var out []string
	for _, e := range c.Exhibits {
		for _, k := range e.Keywords {
			k = words.Fold(k)
			if len([]rune(k)) >= 2 && !slices.Contains(out, k) && len(occurrences(e.ID, folded, k)) > 0 {
				out = append(out, k)
			}
		}
	}
	return out
}

var numberWords = map[string]int{"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "ten": 10, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "forty-five": 45, "fifty": 50, "sixty": 60, "ninety": 90,
	"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10, "十五": 15, "二十": 20, "三十": 30, "四十": 40, "四十五": 45, "五十": 50, "六十": 60, "九十": 90}

var duration = regexp.MustCompile(durationPattern)
var durationNumber = regexp.MustCompile(`^(\d+|[a-z-]+|[一二两三四五六七八九十]+|半)`)

// maxMinutes bounds a visit.
const maxMinutes = 480

// minutesIn reads how long a visitor has; 0 means they did not say.
func minutesIn(folded string) int {
	m := duration.FindString(folded)
	switch {
	case m == "":
		return 0
	case m == "half an hour" || strings.HasPrefix(m, "半"):
		return 30
	case m == "三刻钟":
		return 45
	case m == "一刻钟":
		return 15
	}
	number := durationNumber.FindString(m)
	n, err := strconv.Atoi(number)
	if err != nil {
		n = numberWords[number]
	}
	if strings.Contains(m, "小时") || strings.Contains(m, "钟头") || strings.Contains(m, "hour") || strings.Contains(m, "hr") || strings.HasSuffix(m, "h") {
		n *= 60
	}
	if strings.Contains(m, "and a half") || strings.Contains(m, "半小时") || strings.Contains(m, "半钟头") {
		n += 30
	}
	return min(n, maxMinutes)
}

// practicalLeft is what a question for hours or events of a day may have beside the day; anything more makes it a
// question for something else ("Is the Louvre open today?").
var practicalLeft = wordSet("open opens opening close closes closed closing hours hour time times entry last latest enter admission event events tour tours guided workshop workshops talk talks programme program activity activities happening going on what's gallery museum house place still already yet late early long until till when what which is are any there you your it here do does the a at in for of to can i we visit come get be will let morning afternoon evening noon tonight latest later earliest longer more inside special anything normally usually exactly left could would tell know please shut shuts worth coming visiting stay leave good best day today's how much happen happens held start starts has have")

var practicalHan = regexp.MustCompile(`进|想?问一?下|想问|您好|你好|想来|打算|准备|下班|打烊|清场|离开|休馆|休息|值得|过来|麻烦|上午|下午|早上|早晨|晚上|中午|傍晚|最迟|进去|进来|还能|这个|期间|几点钟?|开门|关门|闭馆|开馆|开放|营业|时间|关闭|最晚|入馆|入场|进馆|活动|导览|讲座|工作坊|参观|博物馆|美术馆|图案馆|展馆|你们|我们|这里|这儿|什么时候|什么|哪些|有没有|可以|多久|到|还|吗|呢|啊|吧|的|是|有|在|会|能|几|点|开|关|馆|里|了|么|都|去|来|要|举办|举行|安排|请问|节目|本|逛|待|不`)

func practicalResidue(folded string) bool {
	if !practicalWords.MatchString(folded) {
		return false
	}
	left := dayPattern.ReplaceAllString(folded, " ")
	for _, w := range words.LatinWords(left) {
		if !practicalLeft[w] && !words.IsStop(w) {
			return false
		}
	}
	left = practicalHan.ReplaceAllString(left, "")
	return !strings.ContainsFunc(left, func(r rune) bool { return r >= 0x2E80 && r != '。' && r != '、' })
}

func wordSet(s string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(s) {
		m[w] = true
	}
	return m
}

var (
	forChild  = regexp.MustCompile(`\b(like|as if|to|for) (i|i'm|i am|a|my|the)\b.{0,12}\b(five|six|seven|eight|child|kid|kids|children|son|daughter|\d year)|\b(simple|simply|easy) (words|terms|way)\b|for kids\b|for children\b|给.{0,4}(孩子|小朋友|小孩|儿子|女儿)(讲|说|解释)|(讲|说|解释)给.{0,4}(孩子|小朋友|小孩|儿子|女儿)|用简单的|通俗`)
	forExpert = regexp.MustCompile(`\b(in (technical|mathematical) (terms|detail)|for an? (expert|mathematician|scientist|specialist)|technical details?|i am an? (mathematician|physicist|expert|scientist))\b|专业(地|一点|角度)?(讲|解释|说)|数学上|学术|我是(数学家|专家|研究)`)
)

// audience matches for whom something is to be told, which is nothing to look up.
var audience = regexp.MustCompile(`\b(to|for|like i'm|as if i were) (a|an|my|our|the)? ?(\w+[- ])?(five|six|seven|eight|nine|ten|\d+)?[- ]?(years?[- ]olds?|child|children|kids?|son|daughter|grandson|granddaughter|expert|mathematician)\b|给.{0,4}(孩子|小朋友|小孩|儿子|女儿)|用简单的(话|语言)`)

// WithoutAudience leaves out of a folded question for whom the answer is to be, where it asks for an explanation.
func WithoutAudience(folded string) string {
	if !forChild.MatchString(folded) && !forExpert.MatchString(folded) {
		return folded
	}
	return audience.ReplaceAllString(folded, " ")
}

// levelOf is the level a question asks for, else the visit's.
func levelOf(question string, visit gallery.Level) gallery.Level {
	folded := words.Fold(question)
	switch {
	case forChild.MatchString(folded):
		return gallery.LevelChild
	case forExpert.MatchString(folded):
		return gallery.LevelExpert
	}
	return visit
}

var domainWords = []struct {
	domain  gallery.Domain
	pattern *regexp.Regexp
}{
	{gallery.DomainEvent, eventWords},
	{gallery.DomainService, regexp.MustCompile(`\b(toilets?|restrooms?|loo|cafe|coffee|cloakroom|lockers?|wi-?fi|wheelchairs?|lift|elevator|shop|baby|drinking water)\b|洗手间|厕所|卫生间|咖啡|寄存|储物柜|无线|轮椅|电梯|商店|母婴|饮水`)},
	{gallery.DomainVenue, regexp.MustCompile(`\b(open|opening|close|closed|closing|hours|tickets?|price|admission|address|phone number|allowed|photography|dogs?)\b|开门|关门|闭馆|开放时间|门票|票价|多少钱|地址|电话|拍照|允许`)},
}

// DomainsOf are the domains a question speaks of.
func DomainsOf(question string) []gallery.Domain {
	folded := words.Fold(question)
	var out []gallery.Domain
	for _, d := range domainWords {
		if d.pattern.MatchString(folded) {
			out = append(out, d.domain)
		}
	}
	return out
}
