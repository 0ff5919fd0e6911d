package plan

import (
	"regexp"
	"strings"

	"docent/agent/internal/words"
)

// Plight is what visitors are in, said rather than asked: "I'm hungry", 我孩子不见了.
type Plight string

// The plights. In the first three the staff are named, whatever the texts have.
const (
	LostChild Plight = "lost_child"
	Unwell    Plight = "unwell"
	LostThing Plight = "lost_thing"
	Hungry    Plight = "hungry"
	Thirsty   Plight = "thirsty"
	Tired     Plight = "tired"
	NeedsLoo  Plight = "toilet"
	Puzzled   Plight = "puzzled" // what was told was too hard or too long
)

const (
	kidWords   = `(?:little |small |younger |older )?(?:son|daughter|child|children|kids?|boy|girl|baby|toddler|grandson|granddaughter)`
	kidHan     = `(?:孩子|小孩|儿子|女儿|宝宝|娃|孙子|孙女|小朋友)`
	whoEnglish = `^(?:oh |and |but |well |sorry |so |because )*(?:i|we|he|she|they|my [a-z]+|our [a-z]+)(?:'m|'re|'s| am| are| is| feel| feels| am feeling| is feeling)?(?: both| all| also| very| so| really| getting| a bit| a little| rather| quite| too| just| already)*`
	whoHan     = `^(?:我们?|孩子们?|宝宝|我?(?:妈妈?|爸爸?|儿子|女儿|老公|老婆|先生|太太|朋友|孩子))?(?:都|也|有点儿?|有些|好|太|真|很|已经|快|觉得|感觉)*`
)

// plights are tried in this order on each clause of a message.
var plights = []struct {
	plight  Plight
	pattern *regexp.Regexp
}{
	{LostChild, regexp.MustCompile(`\b(?:lost|lose|can't find|cannot find|can not find) (?:my|our) ` + kidWords + `\b|\b(?:my|our) ` + kidWords + `(?:'s| is| has| are| have)?(?: got| been| gone| run| wandered)* (?:lost|missing|disappeared|gone|away|off)$|` +
		kidHan + `们?(?:好像|可能)?(?:不见|走丢|走散|走失|丢)了?|` + kidHan + `们?找不[到着]|找不[到着]了?(?:我|我们)?的?(?:家)?` + kidHan + `|[和跟与]` + kidHan + `走散`)},
	{Tired, regexp.MustCompile(whoEnglish + ` (?:tired|exhausted|worn out)\b(?: of (?:walking|standing))?$|\b(?:my|our) (?:feet|legs|back|foot|leg)(?: really)? (?:hurts?|aches?|is killing me|are killing me)$|\b(?:i|we|she|he) (?:need|needs|want|wants|have|has)(?: to have| to take)? (?:a rest|a break|to sit(?: down)?|to rest)\b|` +
		whoHan + `(?:走|站|逛)?(?:得)?(?:好|太|很)?累(?:了|死了?|坏了|啦)*$|` + whoHan + `(?:的)?[脚腿腰](?:好|很|都)?[疼痛酸](?:了|死了?)*$|` + whoHan + `(?:想|要)(?:坐|歇|休息)(?:一下|一会儿?|会儿?)?$`)},
	{Unwell, regexp.MustCompile(whoEnglish + ` (?:dizzy|faint|sick|unwell|ill|nauseous|bleeding|hurt|injured)$|\b(?:i|we|he|she)(?: am|'m| is|'s| do not| don't| does not| doesn't)?(?: not)? (?:feel|feeling) (?:so |very )?(?:well|good)$|\b(?:fainted|collapsed|fell down)\b|\bneed (?:a doctor|an ambulance|first aid|a plaster)\b|` +
		whoHan + `(?:头晕|头疼|头痛|不舒服|难受|恶心|想吐|受伤|流血|肚子疼|摔倒|摔伤|晕倒|发烧)|需要(?:医生|救护车|急救|创可贴)`)},
	{LostThing, regexp.MustCompile(`\b(?:i|we|my [a-z]+)(?: have|'ve| has)?(?: just)? (?:lost|left|forgot|forgotten|misplaced|dropped|can't find|cannot find) (?:my|our|his|her) [\pL ]{2,30}$|\b(?:my|our) [\pL ]{2,24} (?:was|were|has been|got) (?:stolen|lost)$|` +
		`^我们?的?[\p{Han}]{1,6}(?:弄丢|丢|不见|被偷|忘拿|忘带)了|^我们?把?[\p{Han}]{0,6}(?:弄丢|丢|落|忘)在?了?(?:我的)?[\p{Han}]{1,6}$|^我们?找不到(?:我的)?[\p{Han}]{1,6}了?$`)},
	{Hungry, regexp.MustCompile(whoEnglish + ` (?:hungry|starving|peckish)\b|\b(?:i|we) (?:need|want|would like|'d like) (?:some food|to eat|something to eat|a snack)$|` + whoHan + `(?:肚子)?(?:好|太|很|有点|都)?饿(?:了|死了?|坏了|啦|极了)*$|` + whoHan + `(?:想|要)吃(?:点|些)?(?:东西|饭)$`)},
	{Thirsty, regexp.MustCompile(whoEnglish + ` thirsty\b|\b(?:i|we) (?:need|want|would like|'d like) (?:some water|a drink|to drink|something to drink)$|` + whoHan + `(?:口)?(?:好|太|很)?渴(?:了|死了?|坏了|啦)*$|` + whoHan + `(?:想|要)喝(?:点|些)?(?:水|东西)$`)},
	{NeedsLoo, regexp.MustCompile(`\b(?:need|needs|have|has|want|wants|got)(?: to use| to go to)? (?:to (?:pee|wee|poo)|the (?:toilet|loo|bathroom|restroom|wc))\b|` + whoHan + `(?:想|要|得|急着)(?:去|上)+(?:个)?(?:厕所|洗手间|卫生间)$|内急|^.{0,4}(?:尿急|想尿尿?|要尿尿?)了?$`)},
	{Puzzled, regexp.MustCompile(`^(?:sorry |but )*(?:i|we|my [a-z]+) (?:do not|don't|did not|didn't|can't|cannot|does not|doesn't) (?:really |quite )?(?:understand|get|follow)(?: it| this| that| a word| anything| any of (?:it|this|that)| what (?:it|this|that) is)?$|^(?:it is|it's|this is|that is|that's|that was)? ?(?:much |far |way )?too (?:difficult|hard|complicated|technical|long|much)(?: for (?:me|us))?$|` +
		`\b(?:in|with|use) (?:simple|simpler|easy|easier|plain) (?:words|terms|english|language)\b|^(?:(?:can|could) you |please )*(?:say|explain|put|tell)(?: me)?(?: it| this| that)?(?: again)?(?: a bit| a little| much)? (?:more simply|simpler|easier|shorter|more briefly)(?: please)?$|^(?:a bit |a little |much )?(?:simpler|shorter)(?: please)?$|` +
		`^我?(?:还是|根本|完全|都|也)?(?:看|听|读)?不(?:太|大|怎么)?(?:懂|明白|理解)(?:啊|呀|诶|了)?$|^(?:[这它](?:个|幅画?|张画?|画|图|段话?)?|说得|讲得|有点)?(?:也|都|还是)?(?:太|好)(?:难|复杂|长|深|专业)(?:懂)?(?:了|啦|啊)*$|^(?:请|能不能|能|可以|麻烦)?(?:说|讲|解释)?得?(?:再)?(?:简单|通俗|短|简短)(?:一)?[点些](?:儿)?(?:说|讲|解释)?(?:一下)?(?:吗|吧)?$|^长话短说$`)},
}

// forHelp matches a clause that asks for nothing more than help with what the others tell.
var forHelp = regexp.MustCompile(`^(?:please |can you |could you |can someone |can anybody )*help(?: me| us)?(?: please)?$|^what (?:can|should|shall|do|must) (?:i|we) do(?: now)?$|^where (?:can|should|do|shall) (?:i|we) go(?: now)?$|^who can help(?: me| us)?$|^(?:please|quick|quickly|emergency)$|^(?:我)?(?:该|应该|要)?怎么办(?:呢|啊|呀)?$|^(?:请|快)?(?:来)?帮[帮忙](?:我|忙|一下)*$|^救命啊?$|^(?:去|找)?(?:哪里|哪儿)(?:好|可以)?(?:呢)?$|^急$`)

// thenWhat ends a clause in which the question for help follows at once.
var thenWhat = regexp.MustCompile(`(?:该|应该|要|可)?怎么办(?:呢|啊|呀)?$| what (?:can|should|shall|do) (?:i|we) do$`)

// PlightOf says what a message tells that its visitor is in. whole is false where it asks something else beside.
func PlightOf(question string) (plight Plight, whole bool) {
	whole = true
	for _, clause := range clauseEnd.Split(words.Fold(question), -1) {
		clause = strings.TrimSpace(clause)
		if clause == "" || forHelp.MatchString(clause) || aboutSelf.MatchString(clause) {
			continue
		}
		found := plightIn(strings.TrimSpace(thenWhat.ReplaceAllString(clause, "")))
		switch {
		case found == "":
			if c := courtesyOf(clause); c != Greeting && c != Thanks && c != Nod {
				whole = false
			}
		case plight == "":
			plight = found
		}
	}
	return plight, whole && plight != ""
}

func plightIn(clause string) Plight {
	for _, p := range plights {
		if p.pattern.MatchString(clause) && (p.plight == Puzzled || !wants.MatchString(clause)) {
			return p.plight
		}
	}
	return ""
}
