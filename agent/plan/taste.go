package plan

import (
	"regexp"
	"strings"

	"docent/agent/internal/words"
)

const praise = `beautiful|pretty|lovely|nice|great|amazing|cool|wonderful|stunning|gorgeous|ugly|boring|dull|strange|weird|odd|fun|funny|interesting|fascinating|fantastic|awesome|impressive|brilliant|incredible|my favou?rite`

// taste matches a clause that says what somebody likes, or how something looks to them.
var taste = regexp.MustCompile(`^(?:and |but |oh |wow |well |yes |no |so )*(?:i|we|my (?:wife|husband|son|daughter|kids|children|friend|mother|father|mum|mom|dad|family))(?: also| really| quite| so| just| absolutely| both| all| do| did| rather| still| always)*(?: not| don't| didn't| does not| doesn't)?(?: really| quite| much| even)*` +
	` (?:like|likes|liked|love|loves|loved|enjoy|enjoys|enjoyed|hate|hates|hated|dislike|dislikes|prefer|prefers|adore|adores|admire) .{1,60}$|` +
	`^(?:and |but |oh |wow |well |yes |so )*(?:(?:i|we) (?:think|find|thought|found) (?:that )?)?(?:it|this|that|they|(?:this|that|the|these) (?:one|picture|painting|pattern|work|exhibit|image|drawing|colou?rs?|lines?|shapes?)s?)(?:'s| is| are| looks?| was| were)(?: so| very| really| quite| rather| pretty| too| just| absolutely| a bit| not)*(?: an?)? (?:` + praise + `)(?: picture| painting| pattern| one| work)?$|` +
	`^(?:我|我们|咱们?|我(?:太太|先生|老婆|老公|儿子|女儿|妈妈|爸爸|孩子|朋友))(?:也|都|还|就|很|真|好|太|最|更|特别|非常|挺|蛮|比较|其实)*(?:不|不太|不怎么|不是很)?(?:喜欢|热爱|爱|讨厌|欣赏|中意).{0,20}$|` +
	`^(?:它|[这那]?(?:一)?[个幅张件]?(?:画|图案?|作品|展品|颜色|线条)?)(?:可|也|都)?(?:真|好|很|太|挺|蛮|非常|特别|有点|不)+的?(?:好看|漂亮|美丽?|丑|难看|有趣|有意思|好玩|奇怪|无聊|棒|酷|神奇|壮观|精彩)(?:了|啊|呀|哦|极了|的)*$`)

// feels matches a clause that says how somebody feels or who they are, which no text can answer.
var feels = regexp.MustCompile(`^(?:and |but |oh |well |hi |hello |sorry )*(?:i|we)(?:'m| am|'re| are) (?:(?:so|very|really|a bit|a little|too|quite) )*(?:cold|hot|warm|bored|happy|sad|excited|old|young|nervous|ready|back|fine|okay|new here|an? [\pL]+|from [\pL ]{2,30})$|` +
	`^我们?(?:好|很|有点儿?|太|真)?(?:冷|热|无聊|开心|高兴|激动|紧张)(?:了|啊|呀|哦)*$`)

// exclaims matches a clause that only sounds like a question.
var exclaims = regexp.MustCompile(`^(?:how|so|very|really|what an?) (?:` + praise + `)(?: picture| painting| pattern| one| work)?$`)

// wishes matches what only begins like that: "I like to know", "我喜欢看".
var wishes = regexp.MustCompile(`\b(?:like|love|prefer) to (?:know|see|hear|go|visit|find|buy|eat|drink|start|have)\b|爱人`)

// tastes reports whether a message says what somebody likes or thinks of what they see, and nothing else.
func tastes(question string) bool {
	if strings.ContainsAny(question, "?？") {
		return false
	}
	found := false
	for _, clause := range clauseEnd.Split(words.Fold(question), -1) {
		clause = strings.TrimSpace(clause)
		switch {
		case clause == "" || courtesyOf(clause) == Nod:
		case exclaims.MatchString(clause), feels.MatchString(clause), aboutSelf.MatchString(clause), taste.MatchString(clause) && !wishes.MatchString(clause) && !wants.MatchString(clause):
			found = true
		default:
			return false
		}
	}
	return found
}
