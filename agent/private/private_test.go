package private

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	tests := []struct {
		text, want string
		names      []string
	}{
		// What a gallery learns from stays as it is.
		{text: "Who made this in 1974, and what is GP-101?", want: "Who made this in 1974, and what is GP-101?"},
		{text: "Are you open on 2026-12-25 from 10:00 to 18:00?", want: "Are you open on 2026-12-25 from 10:00 to 18:00?"},
		{text: "Did he live 1874-1954 or 1874–1954?", want: "Did he live 1874-1954 or 1874–1954?"},
		{text: "How much are 2 tickets at 60 yuan for 25.12.2026?", want: "How much are 2 tickets at 60 yuan for 25.12.2026?"},
		{text: "What can we see with our children in 45 minutes?", want: "What can we see with our children in 45 minutes?"},
		{text: "Is there a wheelchair entrance?", want: "Is there a wheelchair entrance?"},
		{text: "Is this tiling called after Roger Penrose?", want: "Is this tiling called after Roger Penrose?"},
		{text: "12月25日开门吗？1966年的龙形曲线是谁发现的？", want: "12月25日开门吗？1966年的龙形曲线是谁发现的？"},
		{text: "这幅画叫什么名字？", want: "这幅画叫什么名字？"},
		{text: "有无障碍电梯吗？", want: "有无障碍电梯吗？"},

		{text: "Please send it to anna.maier@example.org", want: "Please send it to […]"},
		{text: "I'm at anna (at) example.org, can you write?", want: "I'm at […], can you write?"},
		{text: "Call +86 138 1234 5678 when it opens", want: "Call […] when it opens"},
		{text: "我的电话是13812345678，什么时候开门？", want: "我的电话是[…]，什么时候开门？"},
		{text: "(021) 6279-8888 is that yours?", want: "[…] is that yours?"},
		{text: "My card 4111 1111 1111 1111 did not work", want: "My card […] did not work"},
		{text: "身份证310101199001011234能买票吗？", want: "身份证[…]能买票吗？"},
		{text: "Passport E12345678, is that enough?", want: "Passport […], is that enough?"},
		{text: "加我微信：anna_88 好吗", want: "加我[…] 好吗"},
		{text: "See https://example.org/me?id=3 for it", want: "See […] for it"},

		{text: "My name is Anna Maier, who painted this?", want: "[…], who painted this?"},
		{text: "Anna here. Who painted this for Anna?", names: []string{"Anna"}, want: "[…] here. Who painted this for […]?"},
		{text: "Annals of the house?", names: []string{"Anna"}, want: "Annals of the house?"},
		{text: "小红想知道这是谁画的", names: []string{"小红"}, want: "[…]想知道这是谁画的"},
		{text: "我叫王小红，这是谁画的？", want: "[…]，这是谁画的？"},
		{text: "My son's name is Tom and he asks why", want: "My son's name is […] and he asks why"},

		{text: "I am allergic to nuts, where is the café?", want: "[…], where is the café?"},
		{text: "I am allergic to nuts and milk. Where is the café?", want: "[…]. Where is the café?"},
		{text: "Where can I eat when I am allergic to nuts and milk?", want: "Where can I eat when […]?"},
		{text: "我对花生过敏，餐厅在哪里？", want: "[…]，餐厅在哪里？"},
		{text: "我怀孕了，哪里可以坐？", want: "[…]，哪里可以坐？"},
		{text: "I use a wheelchair, where is the lift?", want: "[…], where is the lift?"},
		{text: "Remember that my locker is 12. Where is it?", want: "[…]. Where is it?"},
		{text: "", want: ""},
	}
	for _, tt := range tests {
		if got := Text(tt.text, tt.names...); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("My name is Anna, call +86 138 1234 5678", "Anna")
	f.Add("我叫王小红，微信：a1", "\\E(?i)")
	f.Fuzz(func(t *testing.T, text, name string) {
		got := Text(text, name)
		if utf8.ValidString(text) && utf8.ValidString(name) && !utf8.ValidString(got) {
			t.Errorf("%q became %q", text, got)
		}
		if len(name) > 3 && strings.TrimSpace(name) == name && strings.EqualFold(text, name) && got == name && strings.ContainsFunc(name, func(r rune) bool { return r > ' ' }) {
			t.Errorf("the name %q stays", name)
		}
	})
}
