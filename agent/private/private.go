// Package private takes from a text what could tell who a visitor is, before the text leaves the visit: for the staff
// who read what was asked, or for a look-up outside the house.
package private

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"docent/agent/memory"
)

// Mark stands where something was taken out.
const Mark = "[…]"

// said are the kinds of statements about a visitor's own life. Interests, minutes left and children are not among them:
// without them a question cannot be understood, and nobody is known by them.
var said = []memory.Kind{memory.KindAccess, memory.KindAllergy, memory.KindBooking, memory.KindName, memory.KindNote}

// Text returns the text without statements about the visitor's own life (health, access, allergies, bookings, what they
// want to be remembered), without the names given, and without what reaches or identifies a person: e-mail and web
// addresses, telephone, card, identity and passport numbers, accounts. Years, dates, times, prices and accession numbers stay.
// It errs on the side of taking out too much.
func Text(text string, names ...string) string {
	text = statements(text)
	for _, re := range identifying {
		text = re.ReplaceAllString(text, Mark)
	}
	text = grouped.ReplaceAllStringFunc(text, telephone)
	text = introduced.ReplaceAllString(text, "${1}"+Mark)
	text = introducedHan.ReplaceAllString(text, "${1}"+Mark)
	for _, name := range names {
		text = without(text, name)
	}
	return strings.TrimSpace(repeated.ReplaceAllString(text, Mark+"$1"))
}

var clauseEnd = regexp.MustCompile(`[.!?]+(?:\s+|$)|[。！？；;\n]+|,\s+|[，、]|\s(?:but|so)\s|但是|而且|所以`)

// statements takes out the clauses that say something of the visitor's own life.
func statements(text string) string {
	var b strings.Builder
	take := func(clause, end string) {
		if !strings.ContainsAny(end, "?？") && slices.ContainsFunc(memory.Extract(memory.Said{Text: clause}), func(d memory.Draft) bool { return slices.Contains(said, d.Kind) }) {
			clause = Mark
		}
		b.WriteString(clause + end)
	}
	start := 0
	for _, at := range clauseEnd.FindAllStringIndex(text, -1) {
		take(text[start:at[0]], text[at[0]:at[1]])
		start = at[1]
	}
	take(text[start:], "")
	return b.String()
}

// identifying match what reaches or identifies a person.
var identifying = []*regexp.Regexp{
	regexp.MustCompile(`(?i)[\p{L}\p{N}._%+-]+\s?(?:@|＠|\(at\)|\[at\])\s?[\p{L}\p{N}-]+(?:(?:\.|\sdot\s|\[dot\])[\p{L}\p{N}-]+)*`),
	regexp.MustCompile(`(?i)\b(?:https?://|www\.)\S+`),
	regexp.MustCompile(`(?:^|\s)@[\w.]{2,}`),
	regexp.MustCompile(`(?i)(?:微信|wechat|weixin|qq|whatsapp|telegram|instagram)(?:号|id|\sis|\snumber|\saccount)*\s*[:：是]?\s*[\w.-]*\d[\w.-]*`),
	regexp.MustCompile(`\d{17}[\dXx]`),          // identity card of China
	regexp.MustCompile(`\b[A-Z]{1,2}\d{7,9}\b`), // passports
	regexp.MustCompile(`\d{7,}`),
	// Health, where it stands in the middle of a question.
	regexp.MustCompile(`(?i)\b(?:i'm|i’m|i am|we're|we are|(?:my|our) \w+ (?:is|are)|who is|who are|being) (?:\w+ )?(?:allergic to \w+(?:(?:, | and | or )\w+)*|diabetic|pregnant|deaf|blind|hard of hearing|in a wheelchair|disabled|autistic|epileptic)`),
	regexp.MustCompile(`(?:我们?|孩子|儿子|女儿|妈妈|爸爸|老人)?对[^，。？?]{1,8}过敏|(?:我|她|他|孩子|妈妈|爸爸)(?:有|得了|患有?)[^，。？?]{1,8}[病症]|(?:我|她|我老婆|我太太)?怀孕了?`),
}

// grouped matches numbers in groups, as telephones and cards have them; dates and years are among them.
var (
	grouped = regexp.MustCompile(`\+?\(?\d{2,4}\)?(?:[ .\-/]?\(?\d{2,4}\)?){2,6}`)
	dated   = regexp.MustCompile(`^(?:1\d|20)\d\d(?:[./-]\d{1,2}[./-]\d{1,2}|\s?[-–/]\s?(?:1\d|20)\d\d)$|^\d{1,2}[./-]\d{1,2}[./-](?:1\d|20)\d\d$`)
)

// telephone takes out a number in groups, unless it is short or a date.
func telephone(number string) string {
	digits := 0
	for _, r := range number {
		if r >= '0' && r <= '9' {
			digits++
		}
	}
	if digits < 7 || dated.MatchString(strings.TrimSpace(number)) {
		return number
	}
	return Mark
}

var (
	introduced    = regexp.MustCompile(`(\b(?i:(?:my|his|her|our) (?:[\w'’]+ )?(?:name is|name's|name’s) |(?:i'm|i am|he is|she is) called |(?:please )?call me |(?:mr|mrs|ms|dr|prof)\.? ))\p{L}[\p{L}'-]*(?: \p{Lu}[\p{L}'-]*)*`)
	introducedHan = regexp.MustCompile(`((?:我|他|她|孩子|儿子|女儿|老公|老婆|爸爸|妈妈)(?:叫|姓)|叫我|名字(?:是|叫))[\p{Han}A-Za-z·]{1,4}`)
	repeated      = regexp.MustCompile(regexp.QuoteMeta(Mark) + `(?:[\s,，、;；.。!！]*` + regexp.QuoteMeta(Mark) + `)+([.。!！]?)`)
)

// without takes out a name the visitor gave.
func without(text, name string) string {
	name = strings.TrimSpace(name)
	if len([]rune(name)) < 2 {
		return text
	}
	re, err := regexp.Compile(`(?i)(^|[^\p{L}\p{N}])` + regexp.QuoteMeta(name) + `($|[^\p{L}\p{N}])`)
	if err != nil || hasHan(name) {
		return strings.ReplaceAll(text, name, Mark)
	}
	return re.ReplaceAllString(text, "${1}"+Mark+"${2}")
}

func hasHan(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}
