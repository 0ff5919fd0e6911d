package ingest

import (
	"bytes"
	"net/url"
	"os"
	"slices"
	"strings"

	"docent/localindex/gallery"
)

// SynonymsFile holds words that mean the same to visitors, one group in a line, parted by commas.
const SynonymsFile = "synonyms.txt"

// Limits of the synonyms.
const (
	maxSynonymGroups = 2000
	maxSynonyms      = 20 // in one group
	maxSynonymBytes  = 100
)

// searchYAML is what may stand under search in gallery.yaml.
type searchYAML struct {
	Dense           string             `json:"dense"`
	KeywordWeight   float64            `json:"keyword_weight"`
	DenseWeight     float64            `json:"dense_weight"`
	FusionK         float64            `json:"fusion_k"`
	SimilarityFloor float64            `json:"similarity_floor"`
	KeywordFloor    float64            `json:"keyword_floor"`
	Embeddings      gallery.Embeddings `json:"embeddings"`
}

func (s searchYAML) search() gallery.Search {
	return gallery.Search{
		Dense: s.Dense, KeywordWeight: s.KeywordWeight, DenseWeight: s.DenseWeight, FusionK: s.FusionK,
		SimilarityFloor: s.SimilarityFloor, KeywordFloor: s.KeywordFloor, Embeddings: s.Embeddings,
	}
}

// denseKinds are where vectors may come from.
var denseKinds = []string{"auto", "texts", "server", "off"}

func (y *yamlFile) checkSearch(s gallery.Search) {
	at := func(key string) []any { return []any{"search", key} }
	if s.Dense != "" && !slices.Contains(denseKinds, s.Dense) {
		y.errorf(at("dense"), "search.dense: %q will not do%s", s.Dense, suggestion(s.Dense, denseKinds))
	}
	for _, n := range []struct {
		key         string
		value, most float64
	}{
		{"keyword_weight", s.KeywordWeight, 1}, {"dense_weight", s.DenseWeight, 1}, {"fusion_k", s.FusionK, 1000},
		{"similarity_floor", s.SimilarityFloor, 1}, {"keyword_floor", s.KeywordFloor, 1},
	} {
		if n.value < 0 || n.value > n.most {
			y.errorf(at(n.key), "search.%s: %v is not within 0 and %v", n.key, n.value, n.most)
		}
	}
	e := s.Embeddings
	if u, err := url.Parse(e.BaseURL); e.BaseURL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		y.errorf([]any{"search", "embeddings", "base_url"}, "search.embeddings.base_url: this is not an http or https address")
	} else if u != nil && u.User != nil {
		y.errorf([]any{"search", "embeddings", "base_url"}, "search.embeddings.base_url: no password belongs here; a release carries this text")
	}
	if (e.BaseURL == "") != (e.Model == "") {
		y.errorf(at("embeddings"), "search.embeddings: name both base_url and model")
	}
	if s.Dense == "server" && e.BaseURL == "" {
		y.errorf(at("dense"), "search.dense: name the server under search.embeddings")
	}
	if e.Dimension < 0 || e.Dimension > 4096 {
		y.errorf([]any{"search", "embeddings", "dimension"}, "search.embeddings.dimension: %d is not within 0 and 4096", e.Dimension)
	}
	if e.Batch < 0 || e.Batch > 2048 {
		y.errorf([]any{"search", "embeddings", "batch"}, "search.embeddings.batch: %d is not within 0 and 2048", e.Batch)
	}
}

// readSynonyms reads the gallery's file of synonyms, if it has one.
func readSynonyms(root *os.Root, rep *report) [][]string {
	if !exists(root, SynonymsFile) {
		return nil
	}
	data, ok := readText(root, SynonymsFile, rep)
	if !ok {
		return nil
	}
	return parseSynonyms(SynonymsFile, data, rep)
}

func parseSynonyms(file string, data []byte, rep *report) [][]string {
	var groups [][]string
	line := 0
	for text := range bytes.SplitSeq(data, []byte("\n")) {
		line++
		words := strings.TrimSpace(string(text))
		if words == "" || strings.HasPrefix(words, "#") {
			continue
		}
		var group []string
		for word := range strings.FieldsFuncSeq(words, func(r rune) bool { return strings.ContainsRune(",，、;；", r) }) {
			word = strings.TrimSpace(word)
			switch {
			case word == "" || slices.Contains(group, word):
			case len(word) > maxSynonymBytes:
				rep.errorf(file, line, "%.40q… is too long for a synonym", word)
			default:
				group = append(group, word)
			}
		}
		switch {
		case len(group) < 2:
			rep.warnf(file, line, "a group of synonyms needs two words, parted by a comma")
		case len(group) > maxSynonyms:
			rep.errorf(file, line, "this group has %d words, at most %d are allowed", len(group), maxSynonyms)
		case len(groups) == maxSynonymGroups:
			rep.errorf(file, line, "there are more than %d groups of synonyms", maxSynonymGroups)
			return groups
		default:
			groups = append(groups, group)
		}
	}
	return groups
}
