package plan

import "testing"

func TestTastes(t *testing.T) {
	for question, want := range map[string]bool{
		"I like it":                           true,
		"I like the colour blue.":             true,
		"Wow, I love this!":                   true,
		"we don't really like it":             true,
		"This pattern is really lovely!":      true,
		"I think it's ugly":                   true,
		"I'm cold":                            true,
		"I'm from Spain":                      true,
		"我好无聊啊":                               true,
		"I am looking for the toilet":         false,
		"I am lost":                           false,
		"How interesting!":                    true,
		"My daughter loves fractals":          true,
		"我喜欢蓝色":                               true,
		"这幅画真好看！":                             true,
		"我不太喜欢这幅画":                            true,
		"哇，太美了":                               true,
		"I love it, who made it?":             false,
		"Do you like it?":                     false,
		"I like to know who made it":          false,
		"I'd like a coffee":                   false,
		"What do people like about it":        false,
		"It is beautiful because of its name": false,
		"这幅画为什么好看":                            false,
		"我喜欢看什么画？":                            false,
		"Penrose liked it":                    false,
		"it":                                  false,
		"":                                    false,
	} {
		if got := tastes(question); got != want {
			t.Errorf("%q: %v", question, got)
		}
	}
}

func TestWithoutSelf(t *testing.T) {
	for question, want := range map[string][2]string{
		"I am blind, can I touch it?":                {"can I touch it?", "blind"},
		"Can I touch it? I am blind.":                {"Can I touch it?", "blind"},
		"As a deaf visitor, what can I do?":          {"what can I do?", "deaf"},
		"My son uses a wheelchair. Is there a lift?": {"Is there a lift?", "wheelchair"},
		"I am a teacher, when was it drawn?":         {"when was it drawn?", ""},
		"I love it, who made it?":                    {"who made it?", ""},
		"我看不见，可以摸吗？":                                 {"可以摸吗？", "看不见"},
		"我是聋人，有手语导览吗？":                               {"有手语导览吗？", "聋人"},
		"I am blind":                                 {},
		"Is she blind, and who painted it?":          {},
		"Who made it?":                               {},
		"":                                           {},
		"The painter was blind, how did he work?":    {},
	} {
		rest, need, ok := WithoutSelf(question)
		if rest != want[0] || need != want[1] || ok != (want[0] != "") {
			t.Errorf("%q: %q, %q, %v", question, rest, need, ok)
		}
	}
}

func FuzzWithoutSelf(f *testing.F) {
	f.Add("I am blind, can I touch it?")
	f.Add("我是盲人。。。，可以摸吗")
	f.Fuzz(func(t *testing.T, question string) {
		if rest, _, ok := WithoutSelf(question); ok != (rest != "") || len(rest) > len(question) {
			t.Errorf("%q: %q, %v", question, rest, ok)
		}
		tastes(question)
	})
}
