package agent

import (
	"regexp"
	"strings"
	"unicode"

	"docent/agent/internal/words"
)

// fits reports whether a sentence has what the kind of question wants to hear.
func fits(q question, text string, terms words.Terms) bool {
	switch q.kind {
	case kindWho:
		return hasName(text)
	case kindWhen:
		return dates.MatchString(text)
	case kindHowMany:
		return len(words.Numbers(text)) > 0 || endless.MatchString(text)
	case kindWhere:
		return places.MatchString(text)
	case kindWhy:
		return reasons.MatchString(text)
	}
	return true
}

var (
	dates = regexp.MustCompile(`(?i)\b1?\d{3}s?\b|\b20\d\d\b|\bcentur(y|ies)\b|\b\d{1,2}(:\d\d| ?[ap]\.?m\.?\b)|\b(january|february|march|april|june|july|august|september|october|november|december)\b|` +
		`\b(mon|tues|wednes|thurs|fri|satur|sun)day\b|\bB\.?C\.?(E\.?)?\b|世纪|年|月|周[一二三四五六日末]|星期|点|朝|代|时期`)
	endless = regexp.MustCompile(`(?i)\binfinite(ly)?\b|\bcountless\b|\bunlimited\b|\bfree\b|无穷|无限|无数|免费`)
	places  = regexp.MustCompile(`(?i)\b(in|at|on|near|beside|behind|opposite|from|next to)\b|[在于]|位于|旁|层|楼|厅|对面`)
	reasons = regexp.MustCompile(`(?i)\b(because|since|so that|therefore|due to|as a result|reason|to avoid|in order|means that|which is why|that is why|so)\b|因为|由于|因此|所以|为了|原因|以便|从而|于是`)
	hanName = regexp.MustCompile(`\p{Han}·\p{Han}|\p{Han}{2,}（[A-Z][a-z]+|(数学家|物理学家|化学家|天文学家|植物学家|生物学家|工程师|建筑师|画家|艺术家|工匠|学者|科学家|设计师|作家|诗人|程序员|爵士|教授|先生|女士|皇帝|团队)|由\p{Han}{2,4}(绘|设计|发明|提出|发现|创)`)
)

// hasName reports whether a sentence names a person or group: two capitalised words in a row, or one that does not
// open the sentence; in Chinese a name with a middle dot, a Latin name in brackets, or a profession.
func hasName(text string) bool {
	if hanName.MatchString(text) {
		return true
	}
	fields := strings.Fields(text)
	for i, f := range fields {
		f = strings.TrimLeft(f, "(\"'“‘")
		rs := []rune(f)
		if len(rs) < 2 || !unicode.IsUpper(rs[0]) || !unicode.IsLower(rs[1]) && rs[1] != '.' {
			continue
		}
		if i > 0 && !words.IsStop(strings.ToLower(strings.Trim(f, ".,;:!?)"))) {
			return true
		}
	}
	return false
}

var pointingStart = regexp.MustCompile(`(?i)^(it|its|they|their|them|he|she|his|her|this|these|those|that|such|both|however|but|and|so|then|therefore|instead|also|yet|for this reason|as a result)\b|` +
	`^(它|他|她|这|那|其|此|因此|所以|但|然而|不过|于是|而且|而|并且|同时|另外|此外|后来|两者|前者|后者|也)`)

// startsByPointing reports whether a sentence leans on the one before it.
func startsByPointing(text string) bool { return pointingStart.MatchString(text) }
