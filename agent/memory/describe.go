package memory

import (
	"fmt"
	"strings"
	"time"
)

// Describe says a fact in one short sentence, in Chinese or else English. What the visitor wrote themselves is said
// as they wrote it.
func Describe(f Fact, language string) string {
	zh := 0
	if language == "zh" || strings.HasPrefix(language, "zh-") {
		zh = 1
	}
	say := func(en, cn string, args ...any) string { return fmt.Sprintf([2]string{en, cn}[zh], args...) }
	if f.Source == SourceEdited && f.Value == "" {
		return f.Text
	}
	switch f.Kind {
	case KindTime:
		return say("You have time until %s.", "您的时间到 %s 为止。", hourOf(f.Value))
	case KindBooking:
		_, what, _ := strings.Cut(f.Key, "/")
		return say("You have a booking at %s (%s).", "您在 %s 有预约（%s）。", hourOf(f.Value), what)
	case KindAccess:
		if s, ok := needs[f.Value]; ok {
			return s[zh]
		}
	case KindChildren:
		if f.Value != "" {
			return say("You are here with a child of %s.", "您带着一个%s岁的孩子。", f.Value)
		}
		return say("You are here with children.", "您带着孩子。")
	case KindAllergy:
		return say("Allergic to %s.", "对%s过敏。", f.Value)
	case KindName:
		return say("Your name is %s.", "您叫%s。", f.Value)
	case KindTodo:
		return say("Still to do: %s", "待办：%s", f.Value)
	case KindInterest:
		if f.Value == "dislikes" {
			return say("Not interested in %s.", "对%s不感兴趣。", f.Text)
		}
		return say("Interested in %s.", "对%s感兴趣。", f.Text)
	case KindStyle:
		switch f.Value {
		case "short":
			return say("You like short answers.", "您喜欢简短的回答。")
		case "long":
			return say("You like detailed answers.", "您喜欢详细的回答。")
		}
		return say("You like simple words.", "您喜欢通俗的回答。")
	}
	return f.Text
}

var needs = map[string][2]string{
	"wheelchair": {"A wheelchair is used.", "使用轮椅。"},
	"walking":    {"Long walks or stairs are hard.", "不便久走或爬楼。"},
	"step_free":  {"The way must be without steps.", "需要无台阶的路线。"},
	"stroller":   {"You have a pram.", "推着婴儿车。"},
	"sight":      {"Seeing is hard.", "视力不便。"},
	"hearing":    {"Hearing is hard.", "听力不便。"},
}

func hourOf(value string) string {
	t, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return value
	}
	return t.Format("15:04")
}
