package words

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestDetect(t *testing.T) {
	tests := []struct{ text, fallback, want string }{
		{"Who made it?", "zh", "en"},
		{"谁做的？", "en", "zh"},
		{"Penrose 是谁？", "en", "zh"},
		{"Roger Penrose 是谁", "en", "zh"},
		{"Kepler 猜想", "en", "zh"},
		{"What is a 鼎?", "zh", "en"},
		{"What does 是 mean?", "zh", "en"},
		{"Who wrote 园冶?", "zh", "en"},
		{"WiFi密码是多少？", "en", "zh"},
		{"ＷｈＯ ｍａｄｅ ｉｔ", "zh", "en"},
		{"Qui l'a fait ?", "fr", "fr"},
		{"Who made it?", "fr", "fr"}, // Latin letters: the visit's language decides between the two
		{"Who made it?", "zh-Hant", "en"},
		{"1974?", "zh", "zh"},
		{"1974?", "en", "en"},
		{"", "zh", "zh"},
		{"？！", "en", "en"},
		{"これは何ですか", "zh", "zh"},
		{"Кто это сделал?", "en", "en"},
		{"\xff\xfe", "en", "en"},
	}
	for _, tt := range tests {
		if got := Detect(tt.text, tt.fallback); got != tt.want {
			t.Errorf("Detect(%q, %q) = %q, want %q", tt.text, tt.fallback, got, tt.want)
		}
	}
}

func TestSentences(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"English", "One. Two! Three? Four", []string{"One.", "Two!", "Three?", "Four"}},
		{"Chinese", "一。二！三？四", []string{"一。", "二！", "三？", "四"}},
		{"both", "两种瓷砖。Two tiles. 还有更多。", []string{"两种瓷砖。", "Two tiles.", "还有更多。"}},
		{"abbreviation", "Dr. Penrose met Mr. Gardner. They talked.", []string{"Dr. Penrose met Mr. Gardner.", "They talked."}},
		{"circa", "It was made c. 1500 in Herat. It is blue.", []string{"It was made c. 1500 in Herat.", "It is blue."}},
		{"initials", "It is by N. G. de Bruijn and R. Penrose. It is new.", []string{"It is by N. G. de Bruijn and R. Penrose.", "It is new."}},
		{"letter ends a sentence", "This is figure C. The next is D.", []string{"This is figure C.", "The next is D."}},
		{"etc. inside", "Tiles, bricks, etc. are shown. Look.", []string{"Tiles, bricks, etc. are shown.", "Look."}},
		{"etc. at the end", "Tiles, bricks, etc. They are old.", []string{"Tiles, bricks, etc.", "They are old."}},
		{"number sign", "See No. 5 on p. 12. It is there.", []string{"See No. 5 on p. 12.", "It is there."}},
		{"No. as an answer", "Is it old? No. It is new.", []string{"Is it old?", "No.", "It is new."}},
		{"decimal", "It is 3.14 m wide. 1,000.5 is more.", []string{"It is 3.14 m wide.", "1,000.5 is more."}},
		{"Chinese decimal", "比例约为1.618。这是黄金比。", []string{"比例约为1.618。", "这是黄金比。"}},
		{"quotation", "He said “It repeats.” Then he left.", []string{"He said “It repeats.”", "Then he left."}},
		{"Chinese quotation", "他说：“它会重复。”然后走了。", []string{"他说：“它会重复。”", "然后走了。"}},
		{"question mark inside a title", "他的书叫《什么是数学？》。很有名。", []string{"他的书叫《什么是数学？》。", "很有名。"}},
		{"ellipsis inside", "以“玫瑰就是玫瑰……”为题。完。", []string{"以“玫瑰就是玫瑰……”为题。", "完。"}},
		{"brackets", "It is old (about 1500.) and blue. Yes.", []string{"It is old (about 1500.) and blue.", "Yes."}},
		{"marks", "Two tiles.[1] It never repeats [2].", []string{"Two tiles.[1]", "It never repeats [2]."}},
		{"time", "Open from 10 a.m. to 6 p.m. on Fridays. Closed on Mondays.", []string{"Open from 10 a.m. to 6 p.m. on Fridays.", "Closed on Mondays."}},
		{"paragraphs", "No end\n\nNext one", []string{"No end", "Next one"}},
		{"soft line ends", "One line\nends here. 一行\n接一行。", []string{"One line ends here.", "一行接一行。"}},
		{"list", "Bring:\n- a pen\n- paper\n1. Fold", []string{"Bring:", "- a pen", "- paper", "1. Fold"}},
		{"white space", " \n\t ", nil},
		{"empty", "", nil},
		{"not UTF-8", "a\xffb. C.", []string{"a\uFFFDb.", "C."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, Sentences(tt.text)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestSentencesCutsWhatHasNoEnd(t *testing.T) {
	for _, text := range []string{strings.Repeat("word ", 500), strings.Repeat("字", 3000), strings.Repeat("x", 3000)} {
		for _, s := range Sentences(text) {
			if n := utf8.RuneCountInString(s); n > maxSentence {
				t.Errorf("a sentence of %d characters", n)
			}
		}
	}
}

// FuzzSentences: nothing is lost, added or moved but white space, and no sentence is empty.
func FuzzSentences(f *testing.F) {
	for _, s := range []string{"One. Two!", "一。二！", "Dr. A. B. said “no.” 3.14\n\n- x\n1. y", "……”“", ".", "。。。", "[1][22]", "a\xff. B", strings.Repeat("a", 700)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Sentences(text)
		for _, s := range got {
			if s == "" || strings.TrimSpace(s) != s {
				t.Errorf("sentence %q", s)
			}
		}
		if want, got := withoutSpace(strings.ToValidUTF8(text, "\uFFFD")), withoutSpace(strings.Join(got, "")); want != got {
			t.Errorf("%q became %q", want, got)
		}
	})
}

func withoutSpace(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"Moiré":     "moire",
		"ＡＢＣ１２３":    "abc123",
		"Zhou’s":    "zhou's",
		"Ulam–Voss": "ulam-voss",
		"周五礼拜天周日":   "星期五礼拜天星期日",
		"瑞鶴圖由誰捐贈":   "瑞鹤图由谁捐赠",
	} {
		if got := Fold(in); got != want {
			t.Errorf("Fold(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestExtract(t *testing.T) {
	got := Extract("The Zhou's 1,024 tilings were drawn — 两种瓷砖（Penrose）铺砌")
	want := Terms{
		Stems: map[string]int{"zhou": 1, "1024": 1, "tile": 1, "draw": 1, "penros": 1},
		Latin: []string{"zhou", "1024", "tile", "draw", "penros"},
		Han:   "两种瓷砖 铺砌",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestHanChunks(t *testing.T) {
	tests := map[string][]string{
		"彭罗斯铺砌是谁发现的？":  {"彭罗斯铺砌", "发现"},
		"哪一本小说里有它":     {"小说里有"},
		"门票多少钱":        {"门票多少钱"},
		"几何图形有什么特点":    {"几何图形有", "特点"},
		"怎么走":          {"怎么走"},
		"这座建筑是什么时候建的？": {"建筑", "建"},
		"为什么？":         nil,
	}
	for text, want := range tests {
		if d := cmp.Diff(want, HanChunks(text)); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
}

func TestNumbers(t *testing.T) {
	tests := map[string][]string{
		"In 1974 two tiles, 20,426 before, 1.618 and 3.50": {"1974", "2", "20426", "1.618", "3.5"},
		"一九七四年，三百二十块，两万零五块":                                {"1974", "320", "20005"},
		"三种，一个，十二个":                                        {"12"},
		"１２３ and 007":                                      {"123", "7"},
		"anyone, often, tent":                              nil,
		"一亿二千万":                                            {"120000000"},
		"十":                                                nil,
		"":                                                 nil,
	}
	for text, want := range tests {
		if d := cmp.Diff(want, Numbers(text)); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
	in := NumbersIn("三种颜色, one of ten")
	for _, n := range []string{"3", "1", "10"} {
		if !in[n] {
			t.Errorf("%s is not in the text: %v", n, in)
		}
	}
}

func TestCalendar(t *testing.T) {
	tests := map[string][]string{
		"Closed on Mondays, in January too": {"monday", "january"},
		"周五和3月":                             {"friday", "march"},
		"十二月星期天":                            {"december", "sunday"},
		"you may march":                     nil,
		"In 1974 and 2000 tiles":            nil,
	}
	for text, names := range tests {
		want := make(map[string]bool)
		for _, n := range names {
			want[n] = true
		}
		if d := cmp.Diff(want, Calendar(text)); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
}

// patterns is a vocabulary of a few texts about patterns.
func patterns() *Vocabulary {
	v := NewVocabulary()
	for _, s := range []string{
		"彭罗斯镶嵌具有五重对称。", "对称的图案在平面上重复。", "几何图形很多，例如多边形。", "罗杰·彭罗斯在1974年发现了镶嵌。",
		"这种对称在晶体中也有。", "平面几何研究多边形。", "图案在平面上铺开。", "诺贝尔奖。", "诺贝尔化学奖。", "几何学与几何体。", "为何如何任何。", "在画里，在纸上，在墙上，在书中。", "上午上山上楼。", "平静，平原，平衡。", "图画与图书，图形与圆形。", "面包与桌面，地面。",
	} {
		v.Add(Chinese, s)
	}
	for _, s := range []string{"The discovery of tilings", "He discovered a tile", "A mathematician of mathematics"} {
		v.Add(English, s)
	}
	return v
}

func TestSegment(t *testing.T) {
	v := patterns()
	tests := map[string][]string{
		"对称图案":  {"对称", "图案"},
		"几何图形":  {"几何", "图形"},
		"在平面上":  {"平面"},
		"上海天气":  {"上海", "海天", "天气"}, // all unknown: all is kept
		"首都":    {"首都"},
		"诺贝尔文奖": {"诺贝", "贝尔", "文奖"},
		"鼎":     {"鼎"},
		"在":     nil,
	}
	for chunk, want := range tests {
		if d := cmp.Diff(want, v.Segment(chunk)); d != "" {
			t.Errorf("%s (-want +got):\n%s", chunk, d)
		}
	}
}

func TestVariants(t *testing.T) {
	v := patterns()
	tests := map[string][]string{
		"discovered":  {"discov", "discoveri"},
		"mathematics": {"mathemat", "mathematician"},
		"tiling":      {"tile"},
		"weather":     nil,
	}
	for word, want := range tests {
		if d := cmp.Diff(want, v.Variants(Stem(word))); d != "" {
			t.Errorf("%s (-want +got):\n%s", word, d)
		}
	}
}

func TestIDF(t *testing.T) {
	v := patterns()
	rare, common, unknown := v.IDF(Chinese, v.Han("晶体")), v.IDF(Chinese, v.Han("对称")), v.IDF(Chinese, v.Han("天气"))
	if !(unknown > rare && rare > common && common > 0) {
		t.Errorf("unknown %.2f, rare %.2f, common %.2f: want falling weights above 0", unknown, rare, common)
	}
}
