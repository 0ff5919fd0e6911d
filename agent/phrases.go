package agent

import (
	"docent/agent/internal/words"
	"docent/agent/plan"
)

// phrases are the guide's own words in one language; everything else it says is the gallery's.
type phrases struct {
	nothing   string                 // the gallery has nothing on a question
	noExhibit string                 // nothing is known of the exhibit to explain
	broken    string                 // the turn could not be finished
	onlyIn    map[string]string      // lead-in to a quotation in another language, by that language's tag
	onlyOther string                 // the same for any other language
	nothingOn string                 // the gallery has nothing on parts of a question, with %s for them
	comma     string                 // between such parts
	outside   string                 // a question for something else than a gallery
	noted     string                 // visitors told of themselves, with %s for what is remembered of it
	told      string                 // the same where nothing is remembered
	needMore  string                 // after what holds for anybody, to visitors who may need another way to visit
	needNone  string                 // the same where nothing is known
	staff     map[plan.Plight]string // whom to ask, in what visitors are in
	eatThere  string                 // after a question for food that no text answers, before what the texts have on food
	courtesy  map[plan.Courtesy]string
	more      string   // follow-up on a section, before its heading
	about     string   // follow-up on another exhibit, with %s for its title
	asks      []string // questions to try as follow-ups on an exhibit
	houseAsks []string // questions to try as follow-ups on the house
}

var english = phrases{
	nothing:   "The gallery has nothing on this, so I would rather not guess.",
	noExhibit: "The gallery has no text on this exhibit yet.",
	broken:    "Something went wrong while I was looking that up. Please ask again.",
	onlyIn:    map[string]string{words.Chinese: "The gallery has this only in Chinese:", words.English: "The gallery has this only in English:"},
	onlyOther: "The gallery has this only in another language:",
	nothingOn: "The gallery has nothing on this part: %s",
	comma:     " / ",
	outside:   "That is not about this gallery, so I cannot help with it. Ask me about what you see here, or about your visit.",
	noted:     "Thank you, I will keep that in mind. %s Ask me about a picture, or for a route that suits you.",
	told:      "Thank you for telling me. Ask me about a picture, or for a route that suits you.",
	needMore:  "Whether there is more for you than that, such as help or another way to take part, the gallery's texts do not say. Please ask the staff; they will gladly tell you.",
	needNone:  "What there is for you here, the gallery's texts do not say, and I would rather not guess. Please ask the staff; they will gladly help.",
	staff: map[plan.Plight]string{
		plan.LostChild: "Please tell the nearest member of staff at once; they will help you.",
		plan.Unwell:    "Please tell the nearest member of staff at once, or ask somebody near you to fetch one; in an emergency, call the emergency number.",
		plan.LostThing: "Please ask the staff whether it was found; what is handed in, I cannot see.",
	},
	eatThere: "But this is where there is something to eat or drink: ",
	courtesy: map[plan.Courtesy]string{
		plan.Languages:  "I understand and answer English and Chinese.",
		plan.Greeting:   "Hello! Show me a picture, or ask me about one.",
		plan.Thanks:     "You are welcome. Is there anything else you would like to know?",
		plan.Nod:        "What would you like to know? Ask me about what you see here, or about your visit; if this is not the picture you mean, photograph yours again.",
		plan.Farewell:   "Goodbye, and thank you for coming.",
		plan.AboutGuide: "I am the guide of this gallery, a computer program. I answer from the gallery's own texts and show where each answer comes from. Ask me about a picture, opening hours, or a route.",
		plan.Insult:     "Let us stay friendly. I am glad to tell you about what you see here.",
		plan.Injection:  "I keep to my task: I tell about this gallery and what is on show.",
		plan.Others:     "I do not tell what other visitors ask or say. Ask me about what you see here, or about your visit.",
	},
	more:  "Tell me more: %s",
	about: "Tell me about “%s”",
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
	nothingOn: "其中这部分馆里没有资料：%s",
	comma:     "；",
	outside:   "这与本馆无关，我帮不上忙。您可以问我眼前的作品，或者参观方面的问题。",
	noted:     "好的，我记住了：%s您可以问我一幅画，或者让我安排一条合适的路线。",
	told:      "谢谢您告诉我。您可以问我一幅画，或者让我安排一条合适的路线。",
	needMore:  "除此以外馆里还能为您提供什么方便，资料里没有写。请问一下工作人员，他们会很乐意告诉您。",
	needNone:  "馆里能为您提供什么方便，资料里没有写，我不想乱猜。请问一下工作人员，他们会很乐意帮忙。",
	staff: map[plan.Plight]string{
		plan.LostChild: "请马上告诉离您最近的工作人员，他们会帮您。",
		plan.Unwell:    "请马上告诉离您最近的工作人员，或请身边的人去找；情况紧急请拨打急救电话。",
		plan.LostThing: "请问一下工作人员有没有人捡到，捡到的东西我看不到。",
	},
	eatThere: "不过，吃喝可以去这里：",
	courtesy: map[plan.Courtesy]string{
		plan.Languages:  "我听得懂中文和英文，也用这两种语言回答。",
		plan.Greeting:   "您好！给我看一幅画，或者问我一个问题吧。",
		plan.Thanks:     "不客气。您还想了解什么吗？",
		plan.Nod:        "您想了解什么呢？可以问我眼前的作品，或者参观方面的问题；如果这不是您要看的那一件，请再拍一次。",
		plan.Farewell:   "再见，谢谢您的光临。",
		plan.AboutGuide: "我是本馆的导览程序，根据馆里的资料回答，并注明每句话的出处。您可以问我作品、开放时间，或者参观路线。",
		plan.Insult:     "我们友好地聊吧。我很乐意为您讲讲眼前的作品。",
		plan.Injection:  "我只做我的工作：介绍本馆和馆里的展品。",
		plan.Others:     "我不会透露其他观众问过或说过什么。您可以问我眼前的作品，或者参观方面的问题。",
	},
	more:  "再讲讲：%s",
	about: "讲讲“%s”",
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
