package plan

import (
	"testing"

	"docent/localindex/gallery"
)

func TestPlightOf(t *testing.T) {
	type want struct {
		plight Plight
		whole  bool
	}
	for question, w := range map[string]want{
		"I'm hungry":                             {Hungry, true},
		"My kids are so hungry! What can we do?": {Hungry, true},
		"我饿了":                                    {Hungry, true},
		"孩子肚子饿了，怎么办？":                            {Hungry, true},
		"We are thirsty":                         {Thirsty, true},
		"好渴":                                     {Thirsty, true},
		"I am tired.":                            {Tired, true},
		"my feet hurt":                           {Tired, true},
		"走累了":                                    {Tired, true},
		"I need the toilet":                      {NeedsLoo, true},
		"我要上厕所":                                  {NeedsLoo, true},
		"I feel dizzy":                           {Unwell, true},
		"Is there somewhere I can lie down, I feel dizzy": {Unwell, false},
		"我有点不舒服":                                          {Unwell, true},
		"Help, my son has disappeared!":                   {LostChild, true},
		"I can't find my daughter":                        {LostChild, true},
		"我孩子不见了":                                          {LostChild, true},
		"我女儿找不到了怎么办":                                      {LostChild, true},
		"I lost my umbrella":                              {LostThing, true},
		"我手机丢了":                                           {LostThing, true},
		"I don't understand it":                           {Puzzled, true},
		"too long":                                        {Puzzled, true},
		"Can you say it more simply?":                     {Puzzled, true},
		"我看不懂":                                            {Puzzled, true},
		"太长了，简单点说":                                        {Puzzled, true},
		"I'm hungry, who made this?":                      {Hungry, false},
		"What happens if I lost my ticket?":               {},
		"Why was Turing tired?":                           {},
		"How did he lose his son?":                        {},
		"Where is the piece that is missing?":             {},
		"图案为什么少了一块？":                                      {},
		"能量是怎么积累的？":                                       {},
		"谁最早看懂了它？":                                        {},
		"Is this too difficult for children?":             {},
		"":                                                {},
	} {
		if plight, whole := PlightOf(question); plight != w.plight || whole != w.whole {
			t.Errorf("%q: %q, %v", question, plight, whole)
		}
	}
}

func TestWhichOfTheTwo(t *testing.T) {
	for question, want := range map[string]Template{"Which one came first?": Compare, "哪个更早？": Compare, "Which came first, do you think, in mathematics?": ""} {
		in := Input{Question: question, Language: "en", History: []Exchange{{Question: "Compare the Penrose tiling and Rule 30"}}}
		p := Make(testCatalogue(), in)
		if p.Template != want || want == Compare && (len(p.Arguments.Exhibits) != 2 || !p.Arguments.Ranks) {
			t.Errorf("%s: %q %+v", question, p.Template, p.Arguments)
		}
	}
}

func FuzzPlightOf(f *testing.F) {
	f.Add("I'm hungry, what can we do?")
	f.Add("我孩子不见了。。。怎么办")
	f.Fuzz(func(t *testing.T, question string) {
		if plight, whole := PlightOf(question); whole && plight == "" {
			t.Errorf("%q", question)
		}
	})
}

func TestOneOfTwoThatWereCompared(t *testing.T) {
	dated := func(id, en, zh, date string) gallery.Exhibit {
		return gallery.Exhibit{ID: id, Title: gallery.Localized{"en": en, "zh": zh}, Date: gallery.Localized{"en": date}}
	}
	c := NewCatalogue(&gallery.Gallery{Exhibits: []gallery.Exhibit{
		dated("dragon", "Dragon curve", "龙形曲线", "1966"), dated("hilbert", "Hilbert curve", "希尔伯特曲线", "1891"), dated("ice", "Ice crack", "冰裂纹", ""),
		dated("girih", "Girih star", "吉里赫星纹", "15th century"), dated("vault", "Star vault", "星形拱顶", "about 1450"),
	}})
	both := "Which is older, the dragon curve or the Hilbert curve?"
	tests := []struct{ hand, before, question, want string }{
		{"", both, "Who made the older one?", "Who made the Hilbert curve?"},
		{"", both, "And where is the newer one?", "And where is the Dragon curve?"},
		{"", both, "Tell me about the latter.", "Tell me about the Hilbert curve."},
		{"", both, "Why is the first one so long?", "Why is the Dragon curve so long?"},
		{"dragon", "Which is older, this or the Hilbert curve?", "Where does the other one hang?", "Where does the Hilbert curve hang?"},
		{"", "龙形曲线和希尔伯特曲线哪个更早？", "更早的那幅在哪里？", "希尔伯特曲线在哪里？"},
		{"", "比较龙形曲线和希尔伯特曲线", "后者是谁画的？", "希尔伯特曲线是谁画的？"},
		{"", both, "Where does the other one hang?", "Where does the other one hang?"},                           // neither is in hand
		{"", "Compare the dragon curve and the ice crack", "Who made the older one?", "Who made the older one?"}, // no date
		{"", "Compare the girih star and the star vault", "Who made the older one?", "Who made the older one?"},  // one within the other
		{"", "What is the dragon curve?", "Who made the older one?", "Who made the older one?"},
		{"", both, "Who was the first to draw it?", "Who was the first to draw it?"},
		{"", both, "What is the other hall?", "What is the other hall?"},
	}
	for _, tt := range tests {
		in := Input{Question: tt.question, Language: "en", Exhibit: tt.hand, History: []Exchange{{Question: tt.before}}}
		if hasHan(tt.question) {
			in.Language = "zh"
		}
		if got := pickOfTwo(c, in); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.question, got, tt.want)
		}
	}
}
