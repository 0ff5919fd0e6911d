package agent

import (
	"regexp"
	"slices"
	"strings"
)

var dotted = regexp.MustCompile(`\p{Han}+(?:·\p{Han}+)+`)

// longestName is the most characters of one part of a name written in Chinese.
const longestName = 6

// peopleIn finds the family names of people that Chinese texts write with a middle dot (罗杰·彭罗斯). Where such a name
// ends is not marked; it is taken to end where the longest part ends that stands in the texts more than once.
func peopleIn(texts []string) []string {
	all := strings.Join(texts, "\n")
	var out []string
	for _, m := range dotted.FindAllString(all, -1) {
		last := []rune(m[strings.LastIndex(m, "·")+len("·"):])
		for n := min(len(last), longestName); n >= 2; n-- {
			part := string(last[:n])
			if strings.Count(all, part) > 1 {
				if !slices.Contains(out, part) {
					out = append(out, part)
				}
				break
			}
		}
	}
	return out
}
