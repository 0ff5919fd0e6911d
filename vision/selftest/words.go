package selftest

import (
	"fmt"
	"strings"
)

// words are those of the page in one language.
type words struct {
	Heading, Alike, Weak, Nothing, View, More, Number, Between string
	AlikeAbout, WeakAbout                                      string
	Advice                                                     string
	Advices                                                    []string

	intro func(Report) []string
	pair  func(Pair) []string
	weak  func(Weak) []string
}

// Languages are those that the page is written in.
func Languages() []string { return []string{"en", "zh"} }

func wordsIn(language string) words {
	if base, _, _ := strings.Cut(strings.ToLower(language), "-"); base == "zh" {
		return chinese
	}
	return english
}

func percent(part, whole int) string {
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(max(1, whole)))
}

var english = words{
	Heading: "How well your exhibits are recognised",
	Alike:   "Exhibits that look alike",
	AlikeAbout: "Where works are truly alike, such as copies, editions or the two halves of one, nothing is wrong: visitors are shown the " +
		"cards and choose. Where they are not, see that no picture is given to two exhibits, and that pictures show the work without its " +
		"frame, wall or showcase.",
	Weak: "Exhibits that are hard to recognise",
	WeakAbout: "Visitors who photograph these may be told that the exhibit is not known, and find it by its number or its name. " +
		"Better or more pictures mostly help.",
	Nothing: "None. There is nothing to do here.",
	View:    "A photo as a visitor might take it, on which it was not recognised",
	More:    "and %d more",
	Number:  "No. %s",
	Between: ", ",
	Advice:  "What helps",
	Advices: []string{
		"A picture of the work alone, from the front, evenly lit, sharp, 1,000 pixels or more.",
		"Several pictures of a thing that looks different from other sides.",
		"For works with little detail, such as a plain vase or a dark panel: a number on the wall, and the label's text in the gallery, so that a photo of the label names it.",
		"Then build the release again and look at this page once more.",
	},
	intro: func(r Report) []string {
		lines := []string{fmt.Sprintf("Docent made %d photos as visitors might take them, of %d pictures: from the side, in poor light, a little blurred. Of these photos %s were named right at once, "+
			"%s led to a choice with the right exhibit among the cards, and %s were not recognised.",
			r.Views, r.Tried, percent(r.Recognised, r.Views), percent(r.Offered, r.Views), percent(r.Missed, r.Views))}
		if r.Wrong > 0 {
			lines = append(lines, fmt.Sprintf("%s got the name of another exhibit; see below.", percent(r.Wrong, r.Views)))
		}
		if r.Tried < r.Pictures {
			lines = append(lines, fmt.Sprintf("The gallery has %d pictures; %d of them, evenly spread, were tried this way.", r.Pictures, r.Tried))
		}
		return append(lines, "Made photos are easier than those of real visitors. Weaknesses that show here will show in the gallery, too; others may show only there.")
	},
	pair: func(p Pair) []string {
		var lines []string
		if p.PictureA == p.PictureB {
			lines = append(lines, "Both have the same picture file. Only one of them can be right.")
		}
		if n := len(p.Wrong); n > 0 {
			lines = append(lines, "A photo of one was given the name of the other.")
		}
		if p.Unsure > 0 {
			lines = append(lines, "Visitors are asked which of the two it is.")
		}
		if p.Inliers > 0 {
			lines = append(lines, fmt.Sprintf("%d details of the pictures fit each other.", p.Inliers))
		}
		return lines
	},
	weak: func(w Weak) []string {
		var lines []string
		if w.Few {
			lines = append(lines, fmt.Sprintf("The picture has few details to hold on to (%d).", w.Features))
		}
		if len(w.Missed) > 0 {
			lines = append(lines, fmt.Sprintf("Not recognised on %d of %d photos.", len(w.Missed), w.Views))
		} else if w.Views > 0 {
			lines = append(lines, fmt.Sprintf("Found on all %d photos that were made of it, but others may fail.", w.Views))
		}
		return lines
	},
}

var chinese = words{
	Heading: "展品识别情况",
	Alike:   "外观相近的展品",
	AlikeAbout: "如果作品本来就很像，例如摹本、同一版画的不同印本或一件作品的左右两半，那就没有问题：观众会看到几张卡片，自己选择。" +
		"如果并不像，请检查是否有一张图片用在了两件展品上，图片里是否只有作品本身，而没有画框、墙面或展柜。",
	Weak:      "不易识别的展品",
	WeakAbout: "观众拍摄这些展品时，可能得到“未能识别”的回答，只能按编号或名称查找。换用更好的图片或增加图片，通常会有改善。",
	Nothing:   "没有。这里无需处理。",
	View:      "模拟观众拍摄的照片，未能识别",
	More:      "另有 %d 项",
	Number:    "编号 %s",
	Between:   "，",
	Advice:    "怎样改善",
	Advices: []string{
		"图片只拍作品本身，正面拍摄，光线均匀，清晰，边长不少于 1000 像素。",
		"从不同侧面看外观不同的展品，请提供多张图片。",
		"细节很少的作品，例如素面瓷瓶或深色木板：在墙上标出编号，并把说明牌的文字写进展馆内容，这样拍摄说明牌也能认出展品。",
		"然后重新生成发布包，再看一次本页。",
	},
	intro: func(r Report) []string {
		lines := []string{fmt.Sprintf("Docent 用 %d 张图片模拟观众拍摄了 %d 张照片：从侧面拍、光线不佳、略有模糊。其中 %s 立即认出，%s 给出了包含正确展品的选项，%s 未能识别。",
			r.Tried, r.Views, percent(r.Recognised, r.Views), percent(r.Offered, r.Views), percent(r.Missed, r.Views))}
		if r.Wrong > 0 {
			lines = append(lines, fmt.Sprintf("%s 被认成了别的展品，见下文。", percent(r.Wrong, r.Views)))
		}
		if r.Tried < r.Pictures {
			lines = append(lines, fmt.Sprintf("展馆共有 %d 张图片，这里均匀抽取了 %d 张进行测试。", r.Pictures, r.Tried))
		}
		return append(lines, "模拟照片比真实观众的照片容易识别。这里出现的问题在展厅里也会出现；有些问题只有在展厅里才会出现。")
	},
	pair: func(p Pair) []string {
		var lines []string
		if p.PictureA == p.PictureB {
			lines = append(lines, "两件展品用的是同一个图片文件，只可能有一件是对的。")
		}
		if len(p.Wrong) > 0 {
			lines = append(lines, "拍摄其中一件的照片，被认成了另一件。")
		}
		if p.Unsure > 0 {
			lines = append(lines, "系统会请观众选择是哪一件。")
		}
		if p.Inliers > 0 {
			lines = append(lines, fmt.Sprintf("两张图片有 %d 处细节相互吻合。", p.Inliers))
		}
		return lines
	},
	weak: func(w Weak) []string {
		var lines []string
		if w.Few {
			lines = append(lines, fmt.Sprintf("图片可供识别的细节太少（%d 处）。", w.Features))
		}
		if len(w.Missed) > 0 {
			lines = append(lines, fmt.Sprintf("%d 张照片中有 %d 张未能识别。", w.Views, len(w.Missed)))
		} else if w.Views > 0 {
			lines = append(lines, fmt.Sprintf("模拟的 %d 张照片都认出了，但其他照片可能失败。", w.Views))
		}
		return lines
	},
}
