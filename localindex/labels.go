package localindex

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// label is a label number in a question.
type label struct {
	text string
	pos  int
}

// Words beside a number that say whether it is the number on a wall.
var (
	labelCuesBefore = []string{
		"no", "nr", "number", "num", "exhibit", "label", "item", "object", "work", "piece", "stop",
		"展品", "展品号", "编号", "号码", "标签", "作品", "第", "看看", "介绍", "讲讲",
	}
	quantityAfter = []string{
		"yuan", "rmb", "cny", "euro", "euros", "dollar", "dollars", "pound", "pounds", "minute", "minutes", "min",
		"mins", "hour", "hours", "year", "years", "people", "visitors", "step", "steps", "metre", "metres", "meter",
		"meters", "m", "cm", "mm", "km", "kg", "percent", "points", "pieces", "times", "degrees", "bus", "am", "pm", "bc", "ad", "ce",
		"元", "块", "分", "小时", "年", "人", "名", "位", "米", "厘米", "公里", "个", "次", "步", "度", "岁", "路", "号线", "点", "张", "幅", "件", "天",
	}
)

// labelsIn finds label numbers in a folded question. Numbers are many things (prices, hours, years), so a bare one
// counts only where nothing speaks against it: a word beside it says "number", it holds a letter, it is all there is,
// or it has three digits or more, is no year and no quantity follows.
func (n *names) labelsIn(folded string) []label {
	whole := strings.TrimFunc(folded, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if _, ok := n.labels[whole]; ok && !strings.ContainsAny(folded, "$€¥£%") {
		return []label{{whole, 0}}
	}
	var found []label
	for pos := 0; pos < len(folded); {
		end := pos + wordLen(folded[pos:])
		if end == pos {
			_, size := utf8.DecodeRuneInString(folded[pos:])
			pos += size
			continue
		}
		word := folded[pos:end]
		if _, ok := n.labels[word]; ok && meansLabel(word, folded[:pos], folded[end:]) {
			found = append(found, label{word, pos})
		}
		pos = end
	}
	return found
}

// Words that ask for nothing in particular.
var (
	fillerWords = []string{
		"what", "whats", "s", "is", "are", "was", "this", "that", "it", "tell", "me", "us", "about", "the", "a", "an", "of", "please",
		"show", "explain", "describe", "exhibit", "label", "number", "no", "nr", "item", "can", "could", "you", "i", "want", "to", "know",
		"see", "more", "and", "hi", "hello",
	}
	fillerCharacters = []string{
		"是什么", "什么是", "是啥", "介绍", "一下", "讲解", "讲讲", "说说", "看看", "请问", "请", "给我", "告诉我", "我想", "想", "了解", "知道",
		"关于", "展品", "作品", "这个", "这件", "第", "号", "吗", "呢", "的", "和",
	}
)

// onlyFillers reports whether words ask for nothing in particular.
func onlyFillers(words []string) bool {
	for _, w := range words {
		if slices.Contains(fillerWords, w) {
			continue
		}
		for _, f := range fillerCharacters {
			w = strings.ReplaceAll(w, f, "")
		}
		if w != "" {
			return false
		}
	}
	return true
}

// wordLen is the length of the run of Latin letters and digits at the start of s.
func wordLen(s string) int {
	n := strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
	if n < 0 {
		return len(s)
	}
	return n
}

func meansLabel(word, before, after string) bool {
	if partOfNumber(before, after) {
		return false
	}
	if endsWithCue(before) || strings.HasPrefix(after, "号") && !strings.HasPrefix(after, "号线") {
		return true
	}
	if startsWithQuantity(after) {
		return false
	}
	if strings.ContainsFunc(word, unicode.IsLetter) {
		return true
	}
	year, err := strconv.Atoi(word)
	return err == nil && len(word) >= 3 && (len(word) != 4 || year < 1000 || year > 2100)
}

// partOfNumber reports whether a word is a part of a price, a date, a time, a share.
func partOfNumber(before, after string) bool {
	if last, size := utf8.DecodeLastRuneInString(before); size > 0 && strings.ContainsRune("-:./,$€¥£", last) && !endsWithCue(before) {
		return true
	}
	if strings.HasPrefix(after, "%") || strings.HasPrefix(after, "°") {
		return true
	}
	return len(after) > 1 && strings.ContainsRune(":.,/-", rune(after[0])) && after[1] >= '0' && after[1] <= '9'
}

func endsWithCue(before string) bool {
	before = strings.TrimRight(before, " ")
	if strings.HasSuffix(before, "#") || strings.HasSuffix(before, "no.") || strings.HasSuffix(before, "nr.") {
		return true
	}
	for _, cue := range labelCuesBefore {
		if rest, ok := strings.CutSuffix(before, cue); ok && !joined(rest+cue, len(rest)) {
			return true
		}
	}
	return false
}

func startsWithQuantity(after string) bool {
	after = strings.TrimLeft(after, " ")
	if word := after[:wordLen(after)]; word != "" {
		return slices.Contains(quantityAfter, word)
	}
	return slices.ContainsFunc(quantityAfter, func(q string) bool { return strings.HasPrefix(after, q) })
}
