package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"docent/agent/internal/words"
	"docent/localindex/gallery"
)

// memoryLibrary is a small library held in memory. Its search ranks passages by how many of the question's terms
// they have.
type memoryLibrary struct {
	release  string
	exhibits map[string]gallery.Exhibit
	sections []Section
	err      error // Search's answer, where set
}

var _ Library = (*memoryLibrary)(nil)

func (m *memoryLibrary) Release() string { return m.release }

func (m *memoryLibrary) Exhibit(id string) (gallery.Exhibit, bool) {
	e, ok := m.exhibits[id]
	return e, ok
}

func (m *memoryLibrary) Sections(exhibit, language string) []Section {
	var out []Section
	for _, s := range m.sections {
		if (exhibit == "" || s.Exhibit == exhibit) && (language == "" || s.Language == language) {
			out = append(out, s)
		}
	}
	return out
}

func (m *memoryLibrary) Search(ctx context.Context, q Query) ([]Hit, error) {
	if m.err != nil {
		return nil, m.err
	}
	asked := words.Extract(q.Text).Distinct()
	var hits []Hit
	for _, s := range m.sections {
		if q.Language != "" && s.Language != q.Language || len(q.Domains) > 0 && !slices.Contains(q.Domains, s.Domain) {
			continue
		}
		for _, p := range s.Passages {
			score := 0.0
			for term := range words.Extract(s.Heading + "\n" + p.Text).Distinct() {
				if asked[term] {
					score++
				}
			}
			if score > 0 && q.Exhibit == s.Exhibit {
				score += 0.5
			}
			if score > 0 {
				hits = append(hits, Hit{Passage: p, Section: s.Section, Score: score})
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(len(hits), q.Limit)], ctx.Err()
}

// add adds the sections of one exhibit ("" for the house) in one language: headings and texts in turn.
func (m *memoryLibrary) add(exhibit, language string, domain gallery.Domain, level gallery.Level, texts ...string) {
	for i := 0; i+1 < len(texts); i += 2 {
		base := cmp.Or(exhibit, string(domain))
		s := Section{Section: gallery.Section{
			ID: fmt.Sprintf("%s/%s/%d", base, language, len(m.Sections(exhibit, language))+1), Exhibit: exhibit, Domain: domain,
			Language: language, Level: level, Heading: texts[i], Text: texts[i+1], Document: base + "." + language + ".md",
		}}
		for n, paragraph := range strings.Split(texts[i+1], "\n\n") {
			id := fmt.Sprintf("%s#%d", s.ID, n+1)
			s.Passages = append(s.Passages, gallery.Passage{ID: id, Section: s.ID, Text: paragraph})
		}
		m.sections = append(m.sections, s)
	}
}

// testLibrary is a gallery of three patterns in both languages; the fern has English texts only.
func testLibrary(t testing.TB) *memoryLibrary {
	t.Helper()
	m := &memoryLibrary{release: "test", exhibits: map[string]gallery.Exhibit{
		"penrose-tiling": {ID: "penrose-tiling", Label: "101", Hall: "tilings", Title: gallery.Localized{"en": "Penrose Tiling", "zh": "彭罗斯铺砌"},
			Sources: []gallery.Source{{Key: "gardner", Title: "Martin Gardner, Scientific American, January 1977", URL: "https://example.org/gardner"}}, Related: []string{"ice-crack"}},
		"ice-crack":     {ID: "ice-crack", Label: "102", Hall: "tilings", Title: gallery.Localized{"en": "Ice-Crack Lattice", "zh": "冰裂纹窗格"}},
		"barnsley-fern": {ID: "barnsley-fern", Label: "301", Hall: "growth", Title: gallery.Localized{"en": "Barnsley Fern", "zh": "巴恩斯利蕨"}},
	}}
	m.add("penrose-tiling", "en", gallery.DomainExhibit, "",
		"What you see", "Two shapes of tile, a fat and a thin rhombus, cover the whole picture without a gap. The pattern never repeats: no part of it can be shifted to lie on the rest. Yet every small patch returns again and again.",
		"Who found it", "Roger Penrose, a British mathematician, described the tiling in 1974. His first set had six tiles; he soon reduced it to two. Martin Gardner made it known to the public in 1977.",
		"Why it matters", "In 1982 Dan Shechtman saw a crystal with fivefold symmetry. Crystals were thought to repeat, so nobody believed him at first. Such quasicrystals are ordered like a Penrose tiling, and Shechtman received the Nobel Prize in Chemistry in 2011 because of them.")
	m.add("penrose-tiling", "zh", gallery.DomainExhibit, "",
		"你看到了什么", "画面由两种菱形拼成，一种胖，一种瘦，中间没有空隙。图案永不重复：把它平移到任何地方，都不会与自己重合。但是每一小块图案都会一再出现。",
		"谁发现了它", "英国数学家罗杰·彭罗斯在1974年描述了这种铺砌。他最初的一套有六种瓷砖，后来减少到两种。1977年，马丁·加德纳把它介绍给公众。",
		"为什么重要", "1982年，丹·谢赫特曼看到一种具有五重对称的晶体。人们一直认为晶体必须重复，所以起初没有人相信他。这种准晶体的排列就像彭罗斯铺砌，谢赫特曼因此在2011年获得诺贝尔化学奖。")
	m.add("penrose-tiling", "en", gallery.DomainExhibit, gallery.LevelChild,
		"For children", "Can you find a star? The tiles look like kites and darts, and the pattern goes on for ever.")
	m.add("ice-crack", "en", gallery.DomainExhibit, "",
		"A window of ice", "Craftsmen in China made windows whose bars look like cracking ice. The bars meet in threes, and hardly ever four at one point. Daniel Dye collected such lattices in Sichuan between 1916 and 1936.",
		"What it stood for", "Cracking ice announces spring. The lattice was popular in gardens and in the studies of scholars.")
	m.add("ice-crack", "zh", gallery.DomainExhibit, "",
		"冰的窗子", "中国的工匠把窗格做成冰面开裂的样子。窗棂总是三条相交，几乎从不四条交于一点。1916年至1936年间，戴谦和在四川收集了许多这样的窗格。",
		"它象征什么", "冰裂预示春天来临。这种窗格常见于园林和文人的书房。")
	m.add("barnsley-fern", "en", gallery.DomainExhibit, "",
		"Four rules", "The fern is drawn by four rules chosen at random, point by point. Michael Barnsley published it in his book Fractals Everywhere in 1988. After some thousand points the leaf appears.")
	m.add("", "en", gallery.DomainVenue, "",
		"Opening hours", "The gallery is open Tuesday to Sunday from 10:00 to 18:00. Last entry is at 17:30. It is closed on Mondays.",
		"Tickets", "Adults pay 40 yuan. Children under 12 enter free of charge.",
		"Rules", "Photography without flash is welcome. Please do not touch the exhibits.")
	m.add("", "zh", gallery.DomainVenue, "",
		"开放时间", "本馆周二至周日10:00至18:00开放。最晚入馆时间为17:30。周一闭馆。",
		"门票", "成人票40元。12岁以下儿童免费。",
		"参观须知", "欢迎拍照，请勿使用闪光灯。请勿触摸展品。")
	m.add("", "en", gallery.DomainService, "", "Toilets", "The toilets are on the ground floor beside the cloakroom, and are step-free.")
	m.add("", "zh", gallery.DomainService, "", "洗手间", "洗手间在一层寄存处旁边，轮椅可以进入。")
	return m
}
