package text

import (
	"context"
	"math"
)

// BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009) with fields: a word in the title or a
// heading counts as further occurrences before they are saturated (BM25F).
//
// Bleve's own scores are not used: it takes the number of distinct terms divided by that of passages for the average
// length, and counts the idf of a term twice. On XQuAD this costs 1 to 2 points of recall@1 (DESIGN.md).
const (
	k1 = 1.2 // how slowly repetition saturates; the usual value
	// b is how much length counts. Passages are cut to a bounded size, so a long one is not a text about many things, and
	// less than the usual 0.75 is right.
	b = 0.5
	// Further occurrences that one in a title or heading of average length is worth, and how much its length counts: a
	// heading of one word says more of the text below it than a path of ten.
	titleOccurrences   = 0.5
	headingOccurrences = 1
	shortB             = 0.75
	// coverage is by how much the score of a passage grows that has every word of the question, against one that has a
	// single word often.
	coverage = 0.3
	// headed is by how much the score of a passage grows whose whole heading stands in the question: "what is in the curves
	// hall" is about the text headed "Curves", however often another text says both words.
	headed = 0.3
	// identifierBoost is how many rare words a label or accession number is worth.
	identifierBoost = 4
)

// scores collects the scores of one search by passage number. It is used again by the next search.
type scores struct {
	sum     []float64 // BM25 so far
	covered []float64 // weight of the terms found
	heading []float64 // terms of its heading found
	asked   []float64 // weight of all terms of the question in the passage's language
	touched []uint32  // passages whose sum is not 0
	// of one term
	frequency []float32
	holders   []uint32
	postings  []posting
	readers   []postingsReader // by segment
}

func newScores(n, segments int) *scores {
	return &scores{
		sum: make([]float64, n), covered: make([]float64, n), heading: make([]float64, n), asked: make([]float64, n),
		frequency: make([]float32, n), readers: make([]postingsReader, segments),
	}
}

func (s *scores) reset() {
	for _, n := range s.touched {
		s.sum[n], s.covered[n], s.heading[n], s.asked[n] = 0, 0, 0, 0
	}
	for _, n := range s.holders { // of a term whose reading ended in an error
		s.frequency[n] = 0
	}
	s.touched, s.holders = s.touched[:0], s.holders[:0]
}

// add adds to the score of a passage.
func (s *scores) add(n uint32, score float64) {
	if s.sum[n] == 0 {
		s.touched = append(s.touched, n)
	}
	s.sum[n] += score
}

// total is the score of a passage, with how much of the question it covers, and the question of its heading.
func (s *scores) total(n uint32, p *entry) float64 {
	score := s.sum[n]
	if s.asked[n] > 0 {
		score *= 1 + coverage*s.covered[n]/s.asked[n]
	}
	if p.Heading > 0 {
		score *= 1 + headed*min(1, s.heading[n]/float64(p.Heading))
	}
	return score
}

// score adds the scores of the passages of one language that have terms of a question.
func (x *Index) score(ctx context.Context, l language, asked []weighted, s *scores) error {
	from := len(s.touched)
	total := 0.0
	for _, t := range asked {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := x.count(t.term, fieldAll+l.tag, once, s); err != nil {
			return err
		}
		if len(s.holders) > 0 && l.titled { // what no text has, no title has: they are parts of it
			if err := x.count(t.term, fieldTitle+l.tag, func(n uint32) float32 {
				p := &x.table.Passages[n]
				return titleOccurrences / float32(1-shortB+shortB*float64(p.Title)/l.title)
			}, s); err != nil {
				return err
			}
		}
		if len(s.holders) > 0 && l.headed {
			if err := x.count(t.term, fieldHeading+l.tag, func(n uint32) float32 {
				p := &x.table.Passages[n]
				s.heading[n]++
				return headingOccurrences / float32(1-shortB+shortB*float64(p.Heading)/l.heading)
			}, s); err != nil {
				return err
			}
		}
		idf := idf(l.count, len(s.holders))
		if len(s.holders) > 0 || !t.alone {
			total += t.weight * idf
		}
		for _, n := range s.holders {
			f := float64(s.frequency[n])
			length := float64(x.table.Passages[n].Length) / l.average
			s.add(n, t.weight*idf*f*(k1+1)/(f+k1*(1-b+b*length)))
			s.covered[n] += t.weight * idf
			s.frequency[n] = 0
		}
		s.holders = s.holders[:0]
	}
	for _, n := range s.touched[from:] {
		s.asked[n] = total
	}
	return nil
}

// idf is how much a term says that so many of n passages have. It is never below 0.
func idf(n float64, have int) float64 {
	return math.Log(1 + (n-float64(have)+0.5)/(float64(have)+0.5))
}

// once is what an occurrence in the text is worth.
func once(uint32) float32 { return 1 }

// count adds the occurrences of a term in a field, each for what it is worth in that passage, to the frequencies of the
// term.
func (x *Index) count(term, field string, worth func(uint32) float32, s *scores) error {
	postings, err := x.postings(term, field, s)
	if err != nil {
		return err
	}
	for _, p := range postings {
		if s.frequency[p.passage] == 0 {
			s.holders = append(s.holders, p.passage)
		}
		s.frequency[p.passage] += worth(p.passage) * p.frequency
	}
	return nil
}

// scoreIdentifiers adds to the passages of exhibits whose label or accession number stands in the question.
func (x *Index) scoreIdentifiers(text, language string, s *scores) error {
	for _, word := range identifierWords(text) {
		for _, t := range x.mapping.AnalyzerNamed(identifier).Analyze([]byte(word)) {
			if err := x.count(string(t.Term), fieldIdentifiers, once, s); err != nil {
				return err
			}
		}
		boost := identifierBoost * idf(float64(len(x.table.Passages)), len(s.holders))
		for _, n := range s.holders {
			if language == "" || x.table.Passages[n].Language == language {
				s.add(n, boost)
			}
			s.frequency[n] = 0
		}
		s.holders = s.holders[:0]
	}
	return nil
}
