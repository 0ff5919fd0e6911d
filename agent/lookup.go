package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"
	"time"

	"docent/agent/internal/words"
	"docent/agent/plan"
	"docent/agent/private"
	"docent/agent/tool"
	"docent/agent/trace"
	"docent/agent/web"
	"docent/localindex/gallery"
)

// Web looks into pages of the web that the house allows. [web.Client] is one.
type Web interface {
	// Look yields what pages have on a query. One that cannot be had yields an error.
	Look(ctx context.Context, query, language string) iter.Seq2[web.Page, error]
}

var _ Web = (*web.Client)(nil)

// toolWeb is the name of the tool that looks into the web. Only the guide calls it, where the gallery has nothing on a
// question; a model may not.
const toolWeb = "web_lookup"

// webTimeout bounds a look-up beside the client's own time.
const webTimeout = 35 * time.Second

// webPrefix begins the ids of passages of the web.
const webPrefix = "web/"

type webArgs struct {
	Query    string `json:"query"`
	Question string `json:"question"`
}

// webTool makes the tool.
func (b *toolbox) webTool(w Web) tool.Tool {
	return tool.Tool{
		Name: toolWeb, Description: "Sentences of web pages that the house allows, where the gallery has nothing.", Timeout: webTimeout,
		Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"question":{"type":"string"}},"required":["query","question"]}`),
		New: func() (tool.Func, error) {
			return with(func(ctx context.Context, a webArgs) (tool.Data, error) { return b.web(ctx, w, a) }), nil
		},
	}
}

// lookInWeb answers a question from the web, where the house allows it and the gallery has nothing. ok is false where it
// found nothing either; then f says what failed, if something did.
func (g *Guide) lookInWeb(ctx context.Context, c *guideCaller, s *shelf, t Turn, p plan.ExecutionPlan, f *found) (ok bool) {
	if g.web == nil || p.Courtesy != "" || t.Explain || len(p.SubQuestions) != 1 {
		return false
	}
	q := s.analyse(p.SubQuestions[0].Text, p.Language, p.SubQuestions[0].Exhibit)
	query := s.webQuery(q, c.box.lib)
	if query == "" {
		return false
	}
	args, err := json.Marshal(webArgs{Query: query, Question: q.text})
	if err != nil {
		return false // cannot happen
	}
	result := c.Call(ctx, toolWeb, args)
	if !result.Success {
		if result.Hint != missHint && !result.Refused {
			f.warning = phrasesOfWeb(p.Language).failed
		}
		return false
	}
	f.answer = answer{language: p.Language, answered: true}
	var hosts []string
	for _, fact := range result.Data.Facts {
		passage := c.box.passages[fact.Passage]
		n := f.answer.cite(c.box.lib, passage, p.Language)
		f.answer.said = append(f.answer.said, fact.Text)
		f.answer.sentences = append(f.answer.sentences, marked(plain(fact.Text), n))
		if u, err := url.Parse(passage.section.Document); err == nil && !slices.Contains(hosts, u.Hostname()) {
			hosts = append(hosts, u.Hostname())
		}
	}
	lead := fmt.Sprintf(phrasesOfWeb(p.Language).lead, strings.Join(hosts, ", "))
	f.answer.sentences = slices.Insert(f.answer.sentences, 0, lead)
	f.passages = f.answer.passages
	return true
}

// webQuery is what is asked of the web: the question's own words, and the exhibit it is about. It is empty where the question
// is for the house, the day or the guide, or has no word of its own. Nothing personal is in it.
func (s *shelf) webQuery(q question, lib Library) string {
	if q.house || !q.names() || !slices.Contains(q.scopes, scopeAbout) && !slices.Contains(q.scopes, scopeAll) {
		return ""
	}
	var out []string
	for _, id := range q.about {
		if e, ok := lib.Exhibit(id); ok {
			out = append(out, e.Title.In(q.language))
		}
	}
	own := strings.ReplaceAll(private.Text(q.text), private.Mark, " ")
	if q.language != words.Chinese { // whose words are not parted
		own = strings.Join(slices.DeleteFunc(words.LatinWords(own), words.IsStop), " ")
	}
	if own == "" {
		return ""
	}
	return strings.Join(append(out, own), " ")
}

// missHint marks a look-up that worked and found nothing.
const missHint = "the answer is not in the pages that may be asked"

// web looks into pages until one answers, by the same test that the gallery's texts have to pass.
func (b *toolbox) web(ctx context.Context, w Web, a webArgs) (tool.Data, error) {
	asked := b.shelf.analyse(clip(a.Question, longestQuestion), b.plan.Language, b.turn.Exhibit)
	about := asked.about
	asked.scopes, asked.about, asked.named = []scope{scopeAll}, nil, false
	var failed error
	for page, err := range w.Look(ctx, a.Query, b.plan.Language) {
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		passages := b.pageText(page, about)
		noted := trace.Search{Text: a.Query, Language: b.plan.Language}
		for _, p := range passages {
			noted.Hits = append(noted.Hits, trace.Hit{Passage: p.ID})
		}
		b.trace.Search(noted)
		if best, ranked := b.shelf.rank(asked, passages, "", b.turn.Level); best != nil {
			return tool.Data{Facts: b.facts(choose(asked, best, ranked)), Values: page.URL}, nil
		}
	}
	if failed != nil {
		return tool.Data{}, fmt.Errorf("look into the web: %w", failed)
	}
	return tool.Data{}, &tool.Miss{What: "the pages have nothing on it", Hint: missHint}
}

// pageText takes a page apart, like a text of the gallery. Where the question is about exhibits, the page has to name one.
func (b *toolbox) pageText(page web.Page, about []string) []*passage {
	language := page.Language
	if language == "" {
		language = b.plan.Language
	}
	var all strings.Builder
	d := newDesk(b.lib, "", b.trace)
	var out []*passage
	for i, s := range page.Sections {
		section := gallery.Section{
			ID: fmt.Sprintf("%s%s#%d", webPrefix, page.URL, i+1), Language: language, Heading: s.Heading, Path: []string{page.Title}, Document: page.URL,
		}
		for j, text := range s.Paragraphs {
			all.WriteString(text + "\n")
			out = append(out, d.open(gallery.Passage{ID: fmt.Sprintf("%s.%d", section.ID, j+1), Text: text}, section))
		}
	}
	if len(about) == 0 {
		return out
	}
	have := squeeze(page.Title + "\n" + all.String())
	for _, id := range about {
		if e, ok := b.lib.Exhibit(id); ok && strings.Contains(have, squeeze(e.Title.In(language, b.plan.Language))) {
			return out
		}
	}
	return nil
}

// webPhrases are the guide's own words around what the web says.
type webPhrases struct{ lead, failed string }

func phrasesOfWeb(language string) webPhrases {
	if language == words.Chinese {
		return webPhrases{"关于这个问题，馆里没有资料。网上（%s）写道：", "我想到网上查一查，但没能查到。"}
	}
	return webPhrases{"The gallery has nothing on this. On the web (%s) it says:", "I tried to look it up on the web and could not."}
}
