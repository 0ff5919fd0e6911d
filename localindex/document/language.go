package document

import (
	"strings"
	"unicode"
)

// sampled is how many letters of a document its language is guessed from.
const sampled = 20_000

// language guesses the language of blocks: that of the script where it has only one, else what the file declares.
func language(blocks []Block, declared string) string {
	declared, _, _ = strings.Cut(strings.ToLower(strings.ReplaceAll(declared, "_", "-")), "-")
	var han, kana, hangul, latin, all int
	for _, b := range blocks {
		for _, r := range b.Text {
			switch {
			case unicode.Is(unicode.Han, r):
				han++
			case unicode.In(r, unicode.Hiragana, unicode.Katakana):
				kana++
			case unicode.Is(unicode.Hangul, r):
				hangul++
			case unicode.Is(unicode.Latin, r):
				latin++
			case !unicode.IsLetter(r):
				continue
			}
			all++
		}
		if all > sampled {
			break
		}
	}
	switch {
	case all == 0:
		return ""
	case hangul*4 > all:
		return "ko"
	case kana*10 > all:
		return "ja"
	case han*5 > all: // a character says as much as a word of five letters
		return "zh"
	case latin*2 < all, declared != "" && declared != "zh" && declared != "ja" && declared != "ko":
		return declared
	case english(blocks):
		return "en"
	}
	return ""
}

// english reports whether a text in Latin script has the short words that English has in every tenth place.
func english(blocks []Block) bool {
	words, common := 0, 0
	for _, b := range blocks {
		for w := range strings.FieldsSeq(b.Text) {
			words++
			switch strings.ToLower(strings.Trim(w, ",.;:()")) {
			case "the", "of", "and", "a", "to", "in", "is", "was", "with", "for", "by", "on", "that", "it", "as", "from", "are":
				common++
			}
		}
		if words > sampled/5 {
			break
		}
	}
	return common > 0 && common*10 >= words
}
