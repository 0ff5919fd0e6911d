package label

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"docent/vision"
)

// read is a text of these lines, each word read with the same confidence, or with what follows it after a slash in
// hundredths.
func read(lines ...string) Text {
	var t Text
	for _, line := range lines {
		var l Line
		for word := range strings.FieldsSeq(line) {
			sure := .95
			if at := strings.LastIndex(word, "~"); at >= 0 {
				sure = map[string]float64{"~low": .3, "~fair": .65}[word[at:]]
				word = word[:at]
			}
			l.Words = append(l.Words, Word{Text: word, Confidence: sure})
		}
		t.Lines = append(t.Lines, l)
	}
	return t
}

func TestMatch(t *testing.T) {
	fan := Names{Number: "101", Accession: "1990.12", Titles: []string{"The Red Fan", "红扇"}}
	fern := Names{Number: "7", Titles: []string{"Fern"}}
	album := Names{Number: "A-7", Accession: "GP.2003-145", Titles: []string{"Album of Landscape Paintings"}}
	for name, c := range map[string]struct {
		text  Text
		names Names
		exact bool
		kinds int
	}{
		"everything":                    {read("101", "The Red Fan", "Ada Painter, 1888", "Inv. 1990.12"), fan, true, 3},
		"title and number on one line":  {read("101 The Red Fan"), fan, true, 2},
		"number after the title":        {read("THE RED FAN (101)"), fan, true, 2},
		"title over two lines":          {read("The Red", "Fan"), fan, true, 1},
		"title with accents and dots":   {read("Thé Réd-Fan."), fan, true, 1},
		"Chinese, as it is read":        {read("红 扇", "艾达"), fan, true, 1},
		"wide digits":                   {read("编号１０１"), fan, true, 1},
		"with a sign":                   {read("No. 101"), fan, true, 1},
		"with signs on both sides":      {read("展品编号101号"), fan, true, 1},
		"accession in pieces":           {read("Acc. 1990. 12"), fan, true, 1},
		"accession in other case":       {read("gp.2003-145"), album, true, 1},
		"number with a dash":            {read("A-7"), album, true, 1},
		"long title in a sentence":      {read("Here you see Album of Landscape Paintings and more"), album, true, 1},
		"short title in a sentence":     {read("A fern of the mountains"), fern, false, 0},
		"title as a part of a word":     {read("The Red Fangs"), fan, false, 0},
		"number as a measure":           {read("Oil on canvas, 101 x 85 cm"), fan, false, 0},
		"number as a part of a year":    {read("1101"), fan, false, 0},
		"number as a part of a phone":   {read("Tel. 101 555 2233"), fan, false, 0},
		"accession with another dot":    {read("1990,12"), fan, false, 0},
		"a number hardly read":          {read("101~fair"), fan, false, 0},
		"a number hardly read, a title": {read("101~fair", "The Red Fan"), fan, true, 2},
		"a title hardly read":           {read("Fern~fair"), fern, false, 0},
		"a long title hardly read":      {read("Album~fair of~fair Landscape~fair Paintings~fair"), album, true, 1},
		"another exhibit":               {read("102", "The Blue Bowl", "1991.3"), fan, false, 0},
		"nothing":                       {Text{}, fan, false, 0},
		"an exhibit without names":      {read("101", "The Red Fan"), Names{}, false, 0},
	} {
		got := c.text.Match(c.names)
		if got.Exact != c.exact || got.Kinds != c.kinds || got.Exact && got.Confidence < sureReading {
			t.Errorf("%s: %+v, want exact %v of %d kinds", name, got, c.exact, c.kinds)
		}
	}
}

func TestNearMatch(t *testing.T) {
	for name, c := range map[string]struct {
		text  Text
		title string
		want  float64 // 0 for none
	}{
		"one letter wrong":       {read("Thc Red Fan"), "The Red Fan", 8. / 9},
		"a letter lost":          {read("The Rd Fan"), "The Red Fan", 8. / 9},
		"letters lost in front":  {read("bum of Landscape Paintings"), "Album of Landscape Paintings", 23. / 25},
		"across lines and noise": {read("| ~ 7", "Album of Lanscape", "Paintlngs"), "Album of Landscape Paintings", 23. / 25},
		"too much wrong":         {read("Tne Rcd Pan"), "The Red Fan", 0},
		"too short to tell":      {read("Fem"), "Fern", 0},
		"in a sentence":          {read("A woolly fern grows"), "Woolly Fern", 1},
	} {
		got := c.text.Match(Names{Titles: []string{c.title}})
		if got.Exact && c.want < 1 || got.Confidence < c.want-.01 || got.Confidence > max(c.want, .98)+.01 || c.want == 0 && got.Confidence != 0 {
			t.Errorf("%s: %+v, want %.2f", name, got, c.want)
		}
	}
}

func TestFuse(t *testing.T) {
	seen := func(d vision.Decision, ids ...string) vision.Recognition {
		r := vision.Recognition{Decision: d}
		for i, id := range ids {
			r.Candidates = append(r.Candidates, vision.Candidate{ExhibitID: id, Inliers: 11 - i, Confidence: .6 - float64(i)/10})
		}
		return r
	}
	exact := func(id, title string, kinds int) Named {
		return Named{id, Match{Exact: true, Kinds: kinds, Confidence: .95, Title: title}}
	}
	near := func(id, title string, like float64) Named {
		return Named{id, Match{Confidence: like, Title: title}}
	}
	for name, c := range map[string]struct {
		seen vision.Recognition
		read []Named
		want vision.Decision
		ids  []string
	}{
		"surely seen":                   {seen(vision.DecisionMatch, "fan"), []Named{exact("bowl", "bluebowl", 3)}, vision.DecisionMatch, []string{"fan"}},
		"nothing read":                  {seen(vision.DecisionChoose, "fan", "bowl"), nil, vision.DecisionChoose, []string{"fan", "bowl"}},
		"nothing at all":                {seen(vision.DecisionUnknown), []Named{{"fan", Match{}}}, vision.DecisionUnknown, nil},
		"a label alone":                 {seen(vision.DecisionUnknown), []Named{exact("fan", "redfan", 1)}, vision.DecisionMatch, []string{"fan"}},
		"a guess does not contradict":   {seen(vision.DecisionUnknown, "bowl"), []Named{exact("fan", "redfan", 1)}, vision.DecisionMatch, []string{"fan"}},
		"seen and read":                 {seen(vision.DecisionChoose, "fan"), []Named{exact("fan", "redfan", 1)}, vision.DecisionMatch, []string{"fan"}},
		"one of two is read":            {seen(vision.DecisionChoose, "bowl", "fan"), []Named{exact("fan", "redfan", 1)}, vision.DecisionChoose, []string{"fan", "bowl"}},
		"another is read":               {seen(vision.DecisionChoose, "bowl"), []Named{exact("fan", "redfan", 1)}, vision.DecisionChoose, []string{"bowl", "fan"}},
		"two labels":                    {seen(vision.DecisionUnknown), []Named{exact("fan", "redfan", 1), exact("bowl", "bluebowl", 2)}, vision.DecisionChoose, []string{"bowl", "fan"}},
		"a title and its number":        {seen(vision.DecisionUnknown), []Named{exact("a", "untitled", 1), exact("b", "untitled", 2)}, vision.DecisionMatch, []string{"b"}},
		"a title of three":              {seen(vision.DecisionUnknown), []Named{exact("a", "untitled", 1), exact("b", "untitled", 1), exact("c", "untitled", 1), exact("d", "untitled", 1)}, vision.DecisionChoose, []string{"a", "b", "c"}},
		"a title within a title":        {seen(vision.DecisionUnknown), []Named{exact("a", "autumn", 1), exact("b", "conversationinautumn", 1)}, vision.DecisionMatch, []string{"b"}},
		"a title within a misread one":  {seen(vision.DecisionUnknown), []Named{near("a", "minerva", 1), near("b", "vulcanominervaamore", .9)}, vision.DecisionChoose, []string{"b"}},
		"misread titles":                {seen(vision.DecisionUnknown), []Named{near("a", "redfan", .85), near("b", "bluebowl", .95)}, vision.DecisionChoose, []string{"b", "a"}},
		"hardly read":                   {seen(vision.DecisionUnknown), []Named{{"a", Match{Confidence: .3}}}, vision.DecisionUnknown, nil},
		"a misread title and two faces": {seen(vision.DecisionChoose, "x", "y"), []Named{near("y", "redfan", .9)}, vision.DecisionChoose, []string{"y", "x"}},
	} {
		got := Fuse(c.seen, c.read)
		var ids []string
		for _, cand := range got.Candidates {
			ids = append(ids, cand.ExhibitID)
			if cand.Confidence <= 0 || cand.Confidence > 1 {
				t.Errorf("%s: confidence %v", name, cand.Confidence)
			}
		}
		if got.Decision != c.want || !cmp.Equal(ids, c.ids) && c.want != vision.DecisionUnknown {
			t.Errorf("%s: %s %v, want %s %v", name, got.Decision, ids, c.want, c.ids)
		}
	}
	kept := Fuse(seen(vision.DecisionChoose, "fan"), []Named{exact("fan", "redfan", 1)}).Candidates[0]
	if kept.Inliers != 11 || kept.Confidence != .95 {
		t.Errorf("what was seen is lost: %+v", kept)
	}
}
