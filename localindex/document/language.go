package document

import (
	"slices"
	"strings"
	"unicode"

	"docent/localindex/internal/prose"
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

// enough is how many letters tell a part of a document from names and numbers in another script.
const enough = 20

// PartLanguage is the language of a part of a document: the document's, unless the part is plainly in another of the
// languages that are known. Labels and numbers are in no language of their own.
func PartLanguage(text, document string, known []string) string {
	blocks := []Block{{Text: text}}
	if prose.Letters(text) < enough {
		return document
	}
	guess := language(blocks, "")
	if guess == "" && eastern(document) && !hasEastern(text) {
		for _, l := range known { // a list of names has no words to tell English by, but it is not Chinese
			if !eastern(l) {
				return l
			}
		}
	}
	if slices.Contains(known, guess) && eastern(guess) != eastern(document) {
		return guess
	}
	return document
}

// eastern reports whether a language is written in characters.
func eastern(language string) bool { return language == "zh" || language == "ja" || language == "ko" }

func hasEastern(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
	})
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
