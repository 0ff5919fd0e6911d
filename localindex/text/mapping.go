package text

import (
	"fmt"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/token/porter"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/single"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/blevesearch/bleve/v2/mapping"
	index "github.com/blevesearch/bleve_index_api"
)

// The analyzers of an index.
const (
	prose      = "prose"      // Chinese and English texts
	identifier = "identifier" // one token, folded in width and case
	verbatim   = "keyword"    // one token as it is (Bleve's own)
)

// The fields of an index.
const (
	fieldAll         = "all" // text, heading, title, keywords and identifiers together
	fieldHeading     = "heading"
	fieldTitle       = "title"
	fieldIdentifiers = "identifiers"
	fieldLanguage    = "language"
	fieldDomain      = "domain"
	fieldExhibit     = "exhibit"
)

// newMapping describes an index: static, scored by BM25, nothing stored.
func newMapping() (*mapping.IndexMappingImpl, error) {
	im := bleve.NewIndexMapping()
	im.ScoringModel = index.BM25Scoring
	im.DefaultAnalyzer = prose
	im.DefaultField = fieldAll
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
	for field, analyzer := range map[string]string{
		fieldAll: prose, fieldHeading: prose, fieldTitle: prose,
		fieldIdentifiers: identifier,
		fieldLanguage:    verbatim, fieldDomain: verbatim, fieldExhibit: verbatim,
	} {
		fm := bleve.NewTextFieldMapping()
		fm.Analyzer = analyzer
		fm.Store, fm.IncludeTermVectors, fm.DocValues, fm.IncludeInAll = false, false, false, false
		doc.AddFieldMappingsAt(field, fm)
	}
	im.DefaultMapping = doc
	return im, nil
}
