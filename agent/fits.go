package agent

import (
	"regexp"
	"strings"
	"unicode"

	"docent/agent/internal/words"
)

// fits reports whether a sentence has what the kind of question wants to hear.
func (s *shelf) fits(q question, c *candidate) bool {
	switch q.kind {
	case kindWho:
		if c.passage.facts() {
			return makerLine.MatchString(c.text) || !catalogueLine.MatchString(c.text) && hasName(c.text)
		}
		return hasName(c.text) || s.namesPerson(c.terms.Han)
	case kindWhen:
		if c.passage.facts() {
			return dateLine.MatchString(c.text) // an accession number or a maker's years are no date of the exhibit
		}
		if q.notion("hours") && asksClock.MatchString(words.Fold(q.text)) {
			return clockTime.MatchString(c.text)
		}
		if q.notion("founding") {
			return year.MatchString(c.text)
		}
		return dates.MatchString(c.text)
	case kindHowLong:
		return durations.MatchString(c.text) && (!q.only("make") || q.weightIn(c.terms) > 0) // a visit takes long too
	case kindHowMany:
		switch {
		case q.notion("price"):
			return tellsPrice(c.text)
		case q.notion("size"):
			return measured.MatchString(c.text)
		}
		return quantity.MatchString(withoutYears(c.text))
	case kindWhere:
		if len(q.focus) == 0 || q.notion("hall") {
			return halls.MatchString(c.text)
		}
		return places.MatchString(c.text)
	case kindDefine:
		return definitions.MatchString(c.text)
	case kindWhy:
		return reasons.MatchString(c.text)
	}
	return true
}

var (
	dates = regexp.MustCompile(`(?i)\b1\d{3}s?\b|\b20\d\d\b|\b\d{3}s?\b AD|\bcentur(y|ies)\b|\b\d{1,2}(:\d\d| ?[ap]\.?m\.?\b)|\b(january|february|april|june|july|august|september|october|november|december)\b|` +
		`\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b|\bB\.?C\.?(E\.?)?\b|\bafternoon|\bmorning|\b(years?|months?|days?) (later|earlier|before|after)\b|\b(half an|an|\d+) hours?\b|小时|[年月][以之]?[前后]|世纪|[0-9一二三四五六七八九十〇零]年|\d月|星期|周[一二三四五六日末]|\d[点:：]|[唐宋元明清汉]代|时期|年代`)
	quantity = regexp.MustCompile(`(?i)\d|\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|millions?|billions?|one|single|once|twice|half|infinite(ly)?|countless|endless(ly)?|unlimited|free|uncountably)\b|` +
		`[一二两三四五六七八九十百千万亿半][个种条次块张件幅层步位人分岁元套级年天秒百千万]|[一二两三四五六七八九十半]小时|[百千万亿]|十|无穷|无限|无数|免费`)
	money       = regexp.MustCompile(`(?i)[¥￥£€$]\s?\d|\d\s?[¥￥£€$元]|\b(CNY|RMB|USD|EUR|GBP|CHF|JPY|HKD)\b|\d\s?(yuan|euros?|pounds?|dollars?|pence|cents|英镑|欧元|美元|日元|块钱?|角)|\bfree\b|\bincluded\b|\bno (extra )?charge\b|免费|凭门票|另付|不收费`)
	measured    = regexp.MustCompile(`(?i)\d\s?(mm|cm|m|km|in|ft|metres?|meters?|centimetres?|centimeters?|millimetres?|inch(es)?|feet|kilometres?|%)\b|\d\s?[×x]\s?\d|[\d一二三四五六七八九十百千万]\s?(毫米|厘米|米|公里|英寸|英尺|层|倍)|\b(smaller|larger|bigger|taller|higher|longer|wider|as (big|large|tall|high|wide|long) as)\b|一样[大高宽长]`)
	durations   = regexp.MustCompile(`(?i)\b(seconds?|minutes?|hours?|days?|weeks?|months?|years?|centur(y|ies)|metres?|meters?|miles?|km|cm|mm)\b|[0-9一二两三四五六七八九十百千万半几个]\s*(秒|天|周|年|月|分钟|小时|世纪)`)
	halls       = regexp.MustCompile(`(?i)\b(hall|room|foyer|floor|entrance|exit|desk|upstairs|downstairs)s?\b|厅|室|楼|层|入口|出口|售票处`)
	places      = regexp.MustCompile(`(?i)\b(in|at|on|near|beside|behind|opposite|next to|off|from)\b|[在于]|旁|侧|角|层|楼|厅|对面|后面|前面|里|边|附近|门口|从|所有|(?i)\baddress\b|地址`)
	reasons     = regexp.MustCompile(`(?i)\b(because|since|so that|therefore|due to|as a result|reason|avoid|in order|means that|which is why|that is why|so|thus|hence|cannot|explain\w*)\b|因为|由于|因此|所以|为了|原因|以便|从而|于是|就能|才能|才会|解释`)
	definitions = regexp.MustCompile(`(?i)\b(is|are|was|were) (an?|the name)\b|\bcalled\b|\bknown as\b|\bmeans?\b|\bcoined\b|\bnamed?\b|叫作|叫做|称为|又称|是一|的名字|意思|意为|指的是`)
	year        = regexp.MustCompile(`\b(1\d{3}|20\d\d)s?\b(\s*年)?|(1\d{3}|20\d\d)\s*年`)
	hanName     = regexp.MustCompile(`\p{Han}·\p{Han}|(学家|画家|作家|园家|曲家|术家|发明家|思想家|工程师|建筑师|工匠|学者|设计师|诗人|教师|程序员|爵士|教授|先生|女士|皇帝|修士|神父)|由\p{Han}{2,4}(绘|设计|发明|提出|发现|创)`)
)

// noCount matches numbers that count nothing: times of day, and words with 一 in them.
var noCount = regexp.MustCompile(`\d{1,2}[:：]\d{2}|[(（]\d{1,4}[)）]|\d{1,3}岁(以上|以下)?|\b(over|under) \d{1,2}\b|任何一|每一|同一|另一|之一|其中一|第一|一样|一些|一起|一直|进一步|统一|一旦|一定|一般`)

// withoutYears takes out what looks like a year or a time of day: it is no number of things.
func withoutYears(text string) string {
	return noCount.ReplaceAllString(year.ReplaceAllString(text, ""), "")
}

// freeOf matches what is free in another sense than of charge.
var freeOf = regexp.MustCompile(`(?i)\bfree (of (the|any|all|rights)|from)\b`)

// asksClock matches questions that only a time of the day answers: "closed on Monday" is no answer to "When do you close?"
// clockTime matches one.
var (
	asksClock = regexp.MustCompile(`\b(do|does|will) (you|they|it|we|the [a-z]+|this [a-z]+)( usually| normally)? (open|close|shut)\b|几点`)
	clockTime = regexp.MustCompile(`(?i)\b(hours?|minutes) (before|after) (closing|opening)\b|[闭开关]馆[前后](半个?|一个?)?(小时|\d+分钟)|\d[:：]\d{2}|(?i)\d ?[ap]\.?m\b|\d点`)
)

// tellsPrice reports whether a text has an amount of money, or says that something costs nothing.
func tellsPrice(text string) bool { return money.MatchString(freeOf.ReplaceAllString(text, "")) }

// clauseEnd is where what a number counts cannot stand any more.
var clauseEnd = regexp.MustCompile(`[;；。：]|: `)

// besideWindow is how many characters may lie between a number and what it counts: "Four simple rules", 四条简单的规则.
const besideWindow = 24

// beside is the share of what is asked, by weight, that a sentence has close behind a number. It is 0 for questions
// that do not ask how many.
func beside(q question, text string) float64 {
	total := q.weight()
	if q.kind != kindHowMany || total == 0 {
		return 0
	}
	text = withoutYears(text)
	best := 0.0
	for _, at := range quantity.FindAllStringIndex(text, -1) {
		rest := text[at[0]:]
		if end := clauseEnd.FindStringIndex(rest); end != nil {
			rest = rest[:end[0]]
		}
		rs := []rune(rest)
		near := words.Extract(string(rs[:min(len(rs), besideWindow)]))
		best = max(best, q.weightIn(near)/total)
	}
	return best
}

// hasName reports whether a sentence names a person or group: a capitalised word that does not open the sentence or
// follow a colon; in Chinese a name with a middle dot, or a profession.
func hasName(text string) bool {
	if hanName.MatchString(text) {
		return true
	}
	fields := strings.Fields(quotedName.ReplaceAllString(text, "“”"))
	for i, f := range fields {
		f = strings.TrimLeft(f, "(\"'“‘")
		rs := []rune(f)
		if i == 0 || strings.HasSuffix(fields[i-1], ":") || len(rs) < 2 || !unicode.IsUpper(rs[0]) || !unicode.IsLower(rs[1]) {
			continue
		}
		word := strings.ToLower(strings.Trim(f, ".,;:!?)"))
		if !words.IsStop(word) && len(words.Calendar(word)) == 0 {
			return true
		}
	}
	return false
}

// quotedName matches titles and names of halls, which name nobody.
var quotedName = regexp.MustCompile(`“[^”]*”|"[^"]*"`)

// namesPerson reports whether a Chinese text has the name of a person the gallery's texts write with a middle dot.
func (s *shelf) namesPerson(han string) bool {
	for _, p := range s.people {
		if strings.Contains(han, p) {
			return true
		}
	}
	return false
}

var pointingStart = regexp.MustCompile(`(?i)^(it|its|they|their|them|he|she|his|her|this|these|those|that|such|both|however|but|and|so|then|therefore|instead|also|yet|soon|later|for this reason|as a result|a year later|another)\b|` +
	`^(它|他|她|这|那|其|此|因此|所以|但|然而|不过|于是|而且|而|并且|同时|另外|此外|后来|两者|前者|后者|也|随后|不久|一年后)`)

// startsByPointing reports whether a sentence leans on the one before it.
func startsByPointing(text string) bool { return pointingStart.MatchString(text) }
