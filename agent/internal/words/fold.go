package words

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/go-porterstemmer"
	"golang.org/x/text/unicode/norm"

	"docent/internal/han"
)

// Fold makes spellings equal: full width to half width, lower case, Latin letters without accents, straight
// quotation marks and dashes, traditional Chinese characters to simplified ones.
func Fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range norm.NFKD.String(s) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == '’' || r == '‘' || r == 'ʼ':
			b.WriteByte('\'')
		case r == '‐' || r == '‑' || r == '–' || r == '—':
			b.WriteByte('-')
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	folded := han.Simplify(norm.NFC.String(b.String()))
	if !strings.Contains(folded, "周") && !strings.Contains(folded, "礼拜") {
		return folded
	}
	return weekdayWords.ReplaceAllString(folded, "星期$1")
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// weekdayWords are the other names of 星期一 … 星期日.
var weekdayWords = regexp.MustCompile(`(?:周|礼拜)([一二三四五六日])`)

// latinWords returns the words of folded text that are not Chinese: runs of letters and digits, without a
// possessive ending; numbers keep their decimal point and lose their thousands commas.
func latinWords(folded string) []string {
	var out []string
	rs := []rune(folded)
	for i := 0; i < len(rs); {
		if !isWordRune(rs[i]) {
			i++
			continue
		}
		j := i
		for j < len(rs) && (isWordRune(rs[j]) || joins(rs, j)) {
			j++
		}
		w := strings.TrimSuffix(string(rs[i:j]), "'s")
		if unicode.IsDigit(rs[i]) {
			w = strings.ReplaceAll(w, ",", "")
		}
		if w = strings.ReplaceAll(w, "'", ""); w != "" {
			out = append(out, w)
		}
		i = j
	}
	return out
}

func isWordRune(r rune) bool {
	return (unicode.IsLetter(r) && !isHan(r)) || unicode.IsDigit(r)
}

// joins reports whether rs[j] holds a word together: an apostrophe between letters, a point or comma between digits.
func joins(rs []rune, j int) bool {
	if j == 0 || j+1 >= len(rs) {
		return false
	}
	a, b := rs[j-1], rs[j+1]
	switch rs[j] {
	case '\'':
		return unicode.IsLetter(a) && unicode.IsLetter(b) && !isHan(a) && !isHan(b)
	case '.', ',':
		return unicode.IsDigit(a) && unicode.IsDigit(b)
	}
	return false
}

// isHan reports a Chinese character; none is below U+2E80.
func isHan(r rune) bool { return r >= 0x2E80 && unicode.Is(unicode.Han, r) }

// Stem returns the stem of a folded Latin word: irregular forms first, then Porter's algorithm, the one the text
// index uses.
func Stem(word string) string {
	if base, ok := irregular[word]; ok {
		word = base
	}
	if len(word) < 3 || word[0] >= '0' && word[0] <= '9' {
		return word
	}
	return string(porterstemmer.StemWithoutLowerCasing([]rune(word)))
}

// irregular maps irregular forms that questions about works and their makers use to their base.
var irregular = map[string]string{
	"made": "make", "got": "get", "gotten": "get", "went": "go", "gone": "go", "brought": "bring", "born": "birth", "drew": "draw", "drawn": "draw", "built": "build", "found": "find", "wrote": "write",
	"written": "write", "gave": "give", "given": "give", "began": "begin", "begun": "begin", "came": "come",
	"grew": "grow", "grown": "grow", "knew": "know", "known": "know", "saw": "see", "seen": "see", "took": "take",
	"taken": "take", "thought": "think", "bought": "buy", "sold": "sell", "held": "hold", "kept": "keep",
	"told": "tell", "shown": "show", "chose": "choose", "chosen": "choose", "broke": "break", "broken": "break",
	"wove": "weave", "woven": "weave", "died": "die", "dying": "die", "lay": "lie", "lain": "lie", "led": "lead",
	"left": "leave", "met": "meet", "said": "say", "sang": "sing", "spoke": "speak", "stood": "stand",
	"taught": "teach", "wore": "wear", "worn": "wear", "won": "win", "colour": "color", "colours": "color",
	"coloured": "color", "grey": "gray", "centre": "center", "centres": "center", "theatre": "theater",
	"metre": "meter", "metres": "meter", "jewellery": "jewelry", "men": "man", "women": "woman",
	"children": "child", "feet": "foot", "mice": "mouse", "people": "person", "lives": "life", "leaves": "leaf",
	"sank": "sink", "sunk": "sink", "fell": "fall", "fallen": "fall", "flew": "fly", "flown": "fly", "froze": "freeze", "frozen": "freeze",
	"hung": "hang", "rose": "rise", "risen": "rise", "swam": "swim", "threw": "throw", "thrown": "throw", "lost": "lose", "bent": "bend",
	"blew": "blow", "blown": "blow", "caught": "catch", "fought": "fight", "fled": "flee", "forgot": "forget", "forgotten": "forget",
	"hid": "hide", "hidden": "hide", "meant": "mean", "paid": "pay", "ran": "run", "sent": "send", "slept": "sleep", "spent": "spend",
	"spun": "spin", "stole": "steal", "stolen": "steal", "struck": "strike", "swept": "sweep", "tore": "tear", "torn": "tear", "shone": "shine",
	"fed": "feed", "felt": "feel", "drove": "drive", "driven": "drive", "ate": "eat", "eaten": "eat", "drank": "drink", "drunk": "drink",
	"rode": "ride", "ridden": "ride", "sought": "seek", "laid": "lay", "dug": "dig", "burnt": "burn", "learnt": "learn", "lent": "lend",
	"vertices": "vertex", "matrices": "matrix", "axes": "axis", "formulae": "formula",
}
