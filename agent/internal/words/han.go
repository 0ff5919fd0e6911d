package words

import (
	"strings"
	"unicode/utf8"
)

// hanRun is one unbroken run of Chinese characters, taken apart at its function words.
type hanRun struct {
	chunks   []string // what is left between function words, in order
	function []string // the function words found
}

// hanRuns returns the runs of Chinese characters in text. Function words are matched longest first; the single
// characters that also stand inside content words (对 in 对称, 几 in 几何) are left for the vocabulary to judge.
func hanRuns(text string) []hanRun {
	var runs []hanRun
	var run []rune
	flush := func() {
		if len(run) > 0 {
			runs = append(runs, splitFunction(run))
			run = nil
		}
	}
	for _, r := range text {
		if isHan(r) {
			run = append(run, r)
		} else {
			flush()
		}
	}
	flush()
	return runs
}

func splitFunction(run []rune) hanRun {
	var out hanRun
	start := 0
	for i := 0; i < len(run); {
		n := functionWordAt(run[i:])
		if n <= 0 {
			i += max(1, -n)
			continue
		}
		if i > start {
			out.chunks = append(out.chunks, string(run[start:i]))
		}
		out.function = append(out.function, string(run[i:i+n]))
		i += n
		start = i
	}
	if start < len(run) {
		out.chunks = append(out.chunks, string(run[start:]))
	}
	return out
}

// functionWordAt returns the length in characters of the longest function word at the start of run, 0 for none, and
// less than 0, by its length, for a content word that begins like one.
func functionWordAt(run []rune) int {
	if n := demonstrative(run); n > 0 {
		return n
	}
	for n := min(len(run), longestHanFunction); n > 0; n-- {
		if w := string(run[:n]); hanFunction[w] {
			return n
		} else if hanContent[w] {
			return -n
		}
	}
	return 0
}

// demonstrative returns the length of a question or pointing word with its measure word (哪一本, 几条, 这座) at the start
// of run, 0 for none.
func demonstrative(run []rune) int {
	if !strings.ContainsRune("哪几这那某每", run[0]) {
		return 0
	}
	n := 1
	if n < len(run) && run[n] == '一' {
		n++
	}
	if n < len(run) && strings.ContainsRune("个种条次块张件幅层步本座所棵只场项部首句位名家间类样段片支枝瓣根圈岁年天页", run[n]) {
		return n + 1
	}
	return 0
}

const longestHanFunction = 4

// hanContent protects words that begin with a function word.
var hanContent = set("这里", "那里", "是非", "他者", "了解", "的士", "几何", "多边", "多面", "多样", "多少钱", "怎么走")

// hanFunction are words that carry no content of a question: particles, pronouns, question words, polite forms.
var hanFunction = set(
	"的", "了", "吗", "呢", "吧", "啊", "呀", "么", "嘛", "是", "谁", "哪", "我", "你", "您", "他", "她", "它", "这", "那", "们", "请",
	"什么", "怎么", "怎样", "怎么样", "如何", "为什么", "为何", "为啥", "多少", "多大", "多久", "多长", "多高", "几个", "几种", "几点",
	"几号", "几条", "几次", "几块", "几张", "几件", "几年", "哪里", "哪儿", "哪个", "哪些", "哪年", "哪位", "哪种", "哪一年", "哪一", "什么时候", "什么朝代", "哪个朝代", "什么年代", "何时", "时候", "何处",
	"我们", "你们", "他们", "她们", "它们", "咱们", "请问", "可以", "能不能", "能否", "是否", "是不是", "有没有", "会不会", "可不可以",
	"想知道", "知道", "告诉", "告诉我", "介绍", "介绍一下", "一下", "讲讲", "说说", "讲一讲", "说一说", "谈谈", "讲一下", "说一下",
	"这个", "那个", "这些", "那些", "这件", "那件", "这幅", "那幅", "这张", "那张", "这座", "这种", "那种", "这是", "那是", "这里", "那里",
	"一个", "一种", "一些", "一件", "一幅", "关于", "叫做", "叫什么", "因为", "所以", "如果", "以及", "还是", "或者", "而且", "但是", "不过",
	"一共", "总共", "共有", "多长时间", "多少时间", "多少度", "进去", "进来", "有关", "里面", "上面", "其中", "来自", "属于", "应该", "能够", "需要",
)

// hanWeak are characters that are usually function words, but also parts of content words (对 in 对称).
var hanWeak = set(
	"在", "有", "和", "与", "及", "或", "也", "都", "就", "还", "又", "很", "把", "被", "给", "对", "从", "到", "向", "于", "个", "件", "幅",
	"位", "该", "每", "并", "而", "但", "则", "着", "过", "没", "会", "能", "要", "想", "不", "由", "叫",
)

// hanEnding are those of them that also end words: 都 in 首都, 会 in 社会.
var hanEnding = set("都", "会", "能", "位", "件", "想", "向", "对")

// hanAfterVerb are those of the weaker ones that end a chunk as a verb or its direction: 用 in 画用了.
var hanAfterVerb = set("用", "来", "去", "让", "使", "得", "做", "说", "讲", "看", "里", "上")

// hanComplement are characters that complete a verb: 出 in 折出.
var hanComplement = set("出", "成", "到", "完", "好")

// hanWeaker are characters that are function words only beside a word the gallery knows; elsewhere they may begin or
// end one that it does not know (上 in 上海).
var hanWeaker = set(
	"上", "下", "里", "中", "多", "用", "来", "去", "为", "以", "之", "其", "所", "最", "更", "才", "让", "使", "得", "做", "说", "讲", "看",
	"各", "如", "几", "何", "种", "内", "外", "前", "后",
)

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// bigrams returns the overlapping pairs of characters of a chunk, or the chunk itself where it has only one.
func bigrams(chunk string) []string {
	rs := []rune(chunk)
	if len(rs) <= 1 {
		return []string{chunk}
	}
	out := make([]string, 0, len(rs)-1)
	for i := 0; i+1 < len(rs); i++ {
		out = append(out, string(rs[i:i+2]))
	}
	return out
}

func runeCount(s string) int { return utf8.RuneCountInString(s) }
