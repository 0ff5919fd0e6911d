package plan

import (
	"regexp"
	"strings"

	"docent/agent/internal/words"
)

// needs matches what may call for another way to visit.
var needs = regexp.MustCompile(`\b(?:blind|visually impaired|partially sighted|colou?r[- ]?blind|deaf|hard of hearing|wheelchair|disabled|disability|autistic|autism|crutches|walking (?:stick|frame)|pregnant|epilep\w*|dementia|dyslexi\w*)\b|\b(?:can't|cannot|can not) (?:see|hear|walk|stand)\b|` +
	`盲人?|看不[见清]|视[障力]|聋人?|听不[见清]|听[障力]|轮椅|残[疾障]|自闭症?|怀孕|孕妇|拐杖|走不[动了]|站不[住久]|腿脚不便|色盲|癫痫|失智`)

// ofSelf matches a clause that only says who or how somebody is.
var ofSelf = regexp.MustCompile(`^(?:and |but |so |hi |hello |hey |sorry |because |as )*(?:i|we|he|she|my [a-z]+|our [a-z]+)(?: also)?(?:'m|'re|'s| am| are| is| have| has| use| uses| can't| cannot| can not) [\pL' -]{2,50}$|^as an? [\pL' -]{2,40}$|` +
	`^(?:因为)?(?:我|我们|他|她|我的?[\p{Han}]{1,3})(?:们|也|都|是|有|坐|用|的)*[\p{Han}]{1,12}$`)

// WithoutSelf takes clauses in which visitors say who or how they are, or what they like, out of a message that also asks something, "I am blind,
// can I touch it?", and says what in them may call for another way to visit: "blind", empty where nothing does. ok is false where
// there is no such clause.
func WithoutSelf(question string) (rest, need string, ok bool) {
	rest = strings.Trim(without(question, func(clause string) bool {
		clause = words.Fold(strings.TrimSpace(clause))
		if !ofSelf.MatchString(clause) && (!taste.MatchString(clause) || wishes.MatchString(clause)) || wants.MatchString(clause) {
			return false
		}
		ok = true
		if need == "" {
			need = needs.FindString(clause)
		}
		return true
	}), " ,，;；:：")
	if !ok || States(rest) && !asksSomething.MatchString(words.Fold(rest)) {
		return "", "", false
	}
	return rest, need, true
}
