package agent

import "docent/agent/internal/words"

// phrases are the guide's own words in one language; everything else it says is the gallery's.
type phrases struct {
	nothing   string            // the gallery has nothing on a question
	noExhibit string            // nothing is known of the exhibit to explain
	broken    string            // the turn could not be finished
	onlyIn    map[string]string // lead-in to a quotation in another language, by that language's tag
	onlyOther string            // the same for any other language
	more      string            // follow-up on a section, before its heading
	about     string            // follow-up on another exhibit, with %s for its title
	asks      []string          // questions to try as follow-ups on an exhibit
	houseAsks []string          // questions to try as follow-ups on the house
}

var english = phrases{
	nothing:   "The gallery has nothing on this, so I would rather not guess.",
	noExhibit: "The gallery has no text on this exhibit yet.",
	broken:    "Something went wrong while I was looking that up. Please ask again.",
	onlyIn:    map[string]string{words.Chinese: "The gallery has this only in Chinese:", words.English: "The gallery has this only in English:"},
	onlyOther: "The gallery has this only in another language:",
	more:      "Tell me more: %s",
	about:     "Tell me about “%s”",
	asks: []string{
		"Who discovered or invented it?", "When was it first described?", "How is it made?", "Why does it look like this?",
		"Where is it found in nature?", "What is it used for?", "Where does its name come from?",
	},
	houseAsks: []string{"When is the gallery open?", "Where are the toilets?", "What events are there?"},
}

var chinese = phrases{
	nothing:   "关于这个问题，馆里没有资料，我不想乱猜。",
	noExhibit: "馆里还没有这件展品的文字资料。",
	broken:    "查找资料时出了点问题，请再问一次。",
	onlyIn:    map[string]string{words.English: "关于这个问题，馆里只有英文资料："},
	onlyOther: "关于这个问题，馆里只有其他语言的资料：",
	more:      "再讲讲：%s",
	about:     "讲讲“%s”",
	asks: []string{
		"它是谁发现或发明的？", "它最早出现在什么时候？", "它是怎么做出来的？", "它为什么是这个样子？",
		"自然界里哪里能见到它？", "它有什么用途？", "它的名字是怎么来的？",
	},
	houseAsks: []string{"馆里几点开门？", "洗手间在哪里？", "有什么活动？"},
}

// phrasesIn returns the phrases of a language, the English ones where the guide has none.
func phrasesIn(language string) phrases {
	if language == words.Chinese {
		return chinese
	}
	return english
}

// only is the lead-in to a quotation in another language.
func (p phrases) only(language string) string {
	if s, ok := p.onlyIn[language]; ok {
		return s
	}
	return p.onlyOther
}
