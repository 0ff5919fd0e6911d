package agent

import (
	"strings"

	"docent/agent/internal/words"
)

// generic are English stems that ask without saying for what: they are left out of the focus.
var generic = stemSet("tell know show explain describe say give information info detail fact thing something anything exhibit exhibition " +
	"artwork work piece object picture image gallery museum interesting special important kind type sort look like see want " +
	"understand let learn hear story happen get go need here now today take bring put keep come try start " +
	"possible able different hang somewhere additional extra join else near nearby surprise surprising suitable appropriate curious amaze amazing unusual fun call whole main leave occur appear exist really first people")

// asksDeed are those of them that, after who and when, are what is asked: who described it?
var asksDeed = stemSet("describe explain show work see")

// lightDeed are stems that say little after who and when: when did it become famous?
var lightDeed = stemSet("become")

// genericWords are generic only in this form: a painting is a thing to ask about, to paint is what to ask.
var genericWords = wordSet("nearest closest guided painting paintings use uses used using")

// genericHan are their Chinese counterparts.
var genericHan = strings.Fields("继续讲 接着讲 继续 接着 作品 展品 展览 图案馆 馆里 馆内 美术馆 博物馆 展馆 信息 内容 东西 事情 特点 特别 有趣 有意思 故事 解释 说明 详细 了解 看到 看看 " +
	"图片 画面 这件 今天 现在 帮忙 出现 存在 见到 看见 图画 最早 最先 最初 首先 第一个 怎么回事 情况 方面 意义 件事 怎么办 挂在 摆在 关于 下一场 下一次 最近的 最近 附近 好玩 趣事 的事 期间 面前 眼前 另外 参加 怎么走 怎么去 一共 总共")

// lightVerbs are single Chinese characters that, standing alone between other words, say little: 推 in 推婴儿车.
var lightVerbs = wordSet("再 事 挂 摆 推 带 拿 坐 走 买 找 借 放 存 进 出 到 取 玩 见 问 换 拍")

func stemSet(s string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(s) {
		m[words.Stem(w)] = true
	}
	return m
}

func wordSet(s string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(s) {
		m[w] = true
	}
	return m
}
