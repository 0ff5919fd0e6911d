package memory

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var noonish = time.Date(2026, 5, 2, 14, 0, 0, 0, time.FixedZone("", 2*3600))

// told is how a draft is written in the tables: "-" for a retraction, the key, and the value.
func told(drafts []Draft) []string {
	var out []string
	for _, d := range drafts {
		s := d.Key
		if d.Kind == KindTodo || d.Kind == KindNote {
			s = string(d.Kind)
		}
		if d.Op == OpRetractFact {
			s = "-" + s
		} else if v := d.Value; v != "" {
			if at, err := time.Parse(time.RFC3339, v); err == nil {
				v = at.Format("15:04")
			}
			s += "=" + v
		}
		out = append(out, s)
	}
	return out
}

func TestExtract(t *testing.T) {
	for text, want := range map[string]string{
		// Time.
		"We only have 40 minutes left.":                           "time_left=14:40",
		"We've got about an hour and a half, what should we see?": "time_left=15:30",
		"I have two hours":                                        "time_left=16:00",
		"We have half an hour, is that enough?":                   "time_left=14:30",
		"We have to leave by 4.":                                  "time_left=16:00",
		"Our train leaves at 3:30 pm":                             "time_left=15:30",
		"I have to go at 11 am":                                   "",
		"我们还有四十分钟":                                                "time_left=14:40",
		"我们只剩半个小时了，先看什么？":                                         "time_left=14:30",
		"我带着孩子，有40分钟":                                             "children time_left=14:40",
		"有30分钟的导览吗？":                                              "",
		"我们有一个半小时":                                                "time_left=15:30",
		"我们三点半要走":                                                 "time_left=15:30",
		"How many minutes does the tour take?":                    "",
		"Does the film have 20 minutes?":                          "",
		"还有多少时间？":                                                 "",
		// Names.
		"My name is Ada and I am early":  "name=Ada",
		"My name is Ada Lovelace, hello": "name=Ada Lovelace",
		"my name is ada":                 "name=ada",
		// Bookings.
		"We have a table at 18:30.":           "booking/table=18:30",
		"Our tour starts at 3":                "booking/tour=15:00",
		"I have a ticket for the 4 p.m. tour": "booking/tour=16:00",
		"我们下午四点有讲解":                           "booking/讲解=16:00",
		"When does the tour start?":           "",
		// Access.
		"My mother uses a wheelchair.":            "access/wheelchair=wheelchair",
		"I'm in a wheelchair, where is the lift?": "access/wheelchair=wheelchair",
		"We don't need the wheelchair any more":   "-access/wheelchair",
		"Is there a wheelchair entrance?":         "",
		"Who invented the wheelchair?":            "",
		"我妈妈坐轮椅":                                  "access/wheelchair=wheelchair",
		"轮椅是谁发明的？":                                "",
		"I can't climb stairs":                    "access/walking=walking",
		"奶奶腿脚不方便":                                 "access/walking=walking",
		"We have a pram with us":                  "access/stroller=stroller",
		"我们推着婴儿车":                                 "access/stroller=stroller",
		"I am hard of hearing":                    "access/hearing=hearing",
		"我视力不好":                                   "access/sight=sight",
		"我是盲人":                                    "access/sight=sight",
		"We need a lift":                          "access/step_free=step_free",
		// Children.
		"We are here with our two kids":                        "children",
		"My 6-year-old daughter is with me":                    "children=6",
		"What will my son like here?":                          "children",
		"The kids stayed at home, we have no children with us": "-children",
		"How many children did Bach have?":                     "",
		"Did he have a daughter?":                              "",
		"我带着两个孩子":                                              "children",
		"我们没带孩子":                                               "-children",
		"画里的孩子是谁？":                                             "",
		// Allergies.
		"I'm allergic to peanuts and shellfish":      "allergy/peanut=peanuts allergy/shellfish=shellfish",
		"Is the café safe? My son has a nut allergy": "children allergy/nut=nut",
		"I'm not allergic to nuts":                   "-allergy/nut",
		"我对花生和牛奶过敏":                                  "allergy/花生=花生 allergy/牛奶=牛奶",
		"我对花生不过敏":                                    "-allergy/花生",
		"我花生过敏":                                      "allergy/花生=花生",
		// Names.
		"My name is Anna":             "name=Anna",
		"Hi! You can call me Li Wei.": "name=Li Wei",
		"Can you call me a taxi?":     "",
		"我叫小明":                        "name=小明",
		"叫我老王就行":                      "name=老王",
		"我叫什么名字？":                     "",
		"Please forget my name":       "-name",
		// To-dos.
		"I want to see the Penrose tiling later": "todo=the Penrose tiling later",
		"Remind me to buy a postcard.":           "todo=buy a postcard",
		"我还想看彭罗斯铺砖":                              "todo=彭罗斯铺砖",
		"提醒我买明信片":                                "todo=买明信片",
		// Interests.
		"I love mathematics":                 "interest/mathematics=likes",
		"I'm interested in Islamic patterns": "interest/islamic patterns=likes",
		"I don't like modern art":            "interest/modern art=dislikes",
		"I like this one!":                   "interest/girih=likes",
		"I would like to know more":          "",
		"我很喜欢几何":                             "interest/几何=likes",
		"我不喜欢现代艺术":                           "interest/现代艺术=dislikes",
		"我对数学很感兴趣":                           "interest/数学=likes",
		"你喜欢什么？":                             "",
		// Style.
		"Please keep the answers short": "style/length=short",
		"以后请讲得简单一点":                     "style/words=simple",
		// Notes.
		"Remember that the blue door is our meeting point.": "note",
		"请记住我们在蓝门会合":                                        "note",
		"Do you remember what I asked?":                     "",
		// Nothing.
		"Who painted it?":          "",
		"这是谁画的？":                   "",
		"":                         "",
		"Tell me about the tiles.": "",
		"Why is it called girih?":  "",
		// Twice: the last counts.
		"We have 20 minutes. No, we have 2 hours.": "time_left=16:00",
	} {
		var list []string
		if want != "" {
			list = strings.Split(want, " ")
			if strings.HasPrefix(want, "todo") || strings.HasPrefix(want, "name") || strings.HasPrefix(want, "interest") {
				list = []string{want}
			}
		}
		got := told(Extract(Said{Text: text, Exhibit: "girih", At: noonish}))
		if d := cmp.Diff(list, got); d != "" {
			t.Errorf("%q (-want +got)\n%s", text, d)
		}
	}
}

func TestDescribe(t *testing.T) {
	for _, tt := range []struct{ said, en, zh string }{
		{"We have 40 minutes", "You have time until 14:40.", "您的时间到 14:40 为止。"},
		{"我妈妈坐轮椅", "A wheelchair is used.", "使用轮椅。"},
		{"I'm allergic to nuts", "Allergic to nuts.", "对nuts过敏。"},
		{"My 6-year-old daughter is with me", "You are here with a child of 6.", "您带着一个6岁的孩子。"},
	} {
		drafts := Extract(Said{Text: tt.said, At: noonish})
		if len(drafts) != 1 {
			t.Fatalf("%q: %v", tt.said, drafts)
		}
		f := Command{Draft: drafts[0], Source: SourceSaid}.fact(false)
		if en, zh := Describe(f, "en"), Describe(f, "zh-Hans"); en != tt.en || zh != tt.zh {
			t.Errorf("%q: %q, %q", tt.said, en, zh)
		}
	}
	if got := Describe(Fact{Kind: KindAllergy, Text: "no nuts, please", Source: SourceEdited}, "en"); got != "no nuts, please" {
		t.Errorf("edited: %q", got)
	}
}

func FuzzExtract(f *testing.F) {
	for _, s := range []string{"We only have 40 minutes left.", "我们三点半要走", "I'm allergic to peanuts, and", "call me ", "\xff", "我叫", "99:99 tour"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range Extract(Said{Text: text, At: noonish}) {
			if d.Key == "" || utf8.RuneCountInString(d.Key) > maxKey || utf8.RuneCountInString(d.Text) > maxText {
				t.Errorf("%q: %+v", text, d)
			}
			Describe(Command{Draft: d}.fact(false), "zh")
		}
	})
}
