// Package words takes text apart for the guide: language, sentences, terms and numbers, in Chinese and English.
package words

import (
	"strings"
	"unicode"
)

// Language tags the guide has words for.
const (
	English = "en"
	Chinese = "zh"
)

// Detect returns the language of a question by its script: "zh" for Chinese characters, "en" for Latin letters
// (or fallback where that is written in Latin letters too), fallback for anything else. In mixed text the language
// of the function words decides, because names keep their script: "Penrose 是谁" is Chinese, "What is a 鼎?" English.
func Detect(text, fallback string) string {
	han, latin, kana := 0, 0, 0
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			kana++
		case unicode.Is(unicode.Han, r):
			han++
		case unicode.Is(unicode.Latin, r):
			latin++
		}
	}
	switch {
	case kana > 0 || han+latin == 0:
		return fallback
	case han == 0:
		return latinLanguage(fallback)
	case latin == 0:
		return Chinese
	}
	if englishFunctionWords(text) > hanFunctionWords(text) {
		return latinLanguage(fallback)
	}
	return Chinese
}

// latinLanguage is fallback where that is written in Latin letters, else English.
func latinLanguage(fallback string) string {
	base, _, _ := strings.Cut(strings.ToLower(fallback), "-")
	switch base {
	case "", "zh", "ja", "ko", "ru", "uk", "bg", "el", "ar", "fa", "he", "hi", "th", "ka", "hy":
		return English
	}
	return fallback
}

func englishFunctionWords(text string) int {
	n := 0
	for _, w := range latinWords(Fold(text)) {
		if englishStop[w] {
			n++
		}
	}
	return n
}

func hanFunctionWords(text string) int {
	n := 0
	for _, run := range hanRuns(text) {
		n += len(run.function)
	}
	return n
}
