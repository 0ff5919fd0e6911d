package text

import (
	"fmt"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
	"github.com/blevesearch/bleve/v2/analysis/lang/de"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/analysis/lang/es"
	"github.com/blevesearch/bleve/v2/analysis/lang/fr"
	"github.com/blevesearch/bleve/v2/analysis/lang/it"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/token/porter"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/single"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/blevesearch/bleve/v2/mapping"
	index "github.com/blevesearch/bleve_index_api"
)

// The analyzers of an index.
const (
	prose      = "prose"      // Chinese, Japanese, Korean and English texts
	plain      = "plain"      // texts in languages without an analyzer of their own
	identifier = "identifier" // one token, folded in width and case
)

// ownAnalyzers are Bleve's analyzers for further languages, with their stop words and stems.
var ownAnalyzers = map[string]string{
	"de": de.AnalyzerName, "es": es.AnalyzerName, "fr": fr.AnalyzerName, "it": it.AnalyzerName,
}

// analyzerOf names the analyzer of a language. Chinese and English share one, which treats each run of characters by its
// script: texts in one quote the other, and a visitor may ask for either.
func analyzerOf(language string) string {
	switch language {
	case "en", "zh", "ja", "ko", "":
		return prose
	}
	if a, ok := ownAnalyzers[language]; ok {
		return a
	}
	return plain
}

// The fields of a language: its tag follows.
const (
	fieldAll     = "all_"     // text, heading, title, keywords and identifiers together
	fieldHeading = "heading_" // once more
	fieldTitle   = "title_"   // once more
)

// fieldIdentifiers holds label and accession numbers, of all languages.
const fieldIdentifiers = "identifiers"

// newMapping describes an index over these languages: static, nothing stored, in the form that is scored by BM25.
func newMapping(languages []string) (*mapping.IndexMappingImpl, error) {
	im := bleve.NewIndexMapping()
	im.ScoringModel = index.BM25Scoring
	im.DefaultAnalyzer = prose
	im.StoreDynamic, im.IndexDynamic, im.DocValuesDynamic = false, false, false

	// Two-character words carry Chinese, single characters find 鼎 in 大克鼎; English is stemmed.
	const bigramsAndUnigrams = "cjk_bigram_unigram"
	if err := im.AddCustomTokenFilter(bigramsAndUnigrams, map[string]any{
		"type": cjk.BigramName, "output_unigram": true,
	}); err != nil {
		return nil, fmt.Errorf("define token filter %s: %w", bigramsAndUnigrams, err)
	}
	analyzers := map[string]map[string]any{
		prose: {
			"type": custom.Name, "tokenizer": unicode.Name,
			"token_filters": []string{
				cjk.WidthName, en.PossessiveName, lowercase.Name, bigramsAndUnigrams, en.StopName, porter.Name,
			},
		},
		plain: {
			"type": custom.Name, "tokenizer": unicode.Name,
			"token_filters": []string{cjk.WidthName, lowercase.Name, bigramsAndUnigrams},
		},
		identifier: {
			"type": custom.Name, "tokenizer": single.Name,
			"token_filters": []string{cjk.WidthName, lowercase.Name},
		},
	}
	for name, config := range analyzers {
		if err := im.AddCustomAnalyzer(name, config); err != nil {
			return nil, fmt.Errorf("define analyzer %s: %w", name, err)
		}
	}

	doc := bleve.NewDocumentStaticMapping()
	add := func(field, analyzer string) {
		fm := bleve.NewTextFieldMapping()
		fm.Analyzer = analyzer
		fm.Store, fm.IncludeTermVectors, fm.DocValues, fm.IncludeInAll = false, false, false, false
		doc.AddFieldMappingsAt(field, fm)
	}
	add(fieldIdentifiers, identifier)
	for _, l := range languages {
		for _, field := range []string{fieldAll, fieldHeading, fieldTitle} {
			add(field+l, analyzerOf(l))
		}
	}
	im.DefaultMapping = doc
	return im, nil
}
