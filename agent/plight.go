package agent

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"docent/agent/internal/words"
	"docent/agent/plan"
	"docent/localindex/gallery"
)

// remedy is what to look up for visitors who say what they are in: the question it comes to in English and Chinese, and what an answer to it
// must speak of.
type remedy struct {
	english, chinese string
	speaks           *regexp.Regexp
}

var remedies = map[plan.Plight]remedy{
	plan.LostChild: {"Where does a child wait who has lost the family?", "与家人走散的孩子在哪里等候？", regexp.MustCompile(`(?i)\blost\b|走散|走失|走丢`)},
	plan.Unwell:    {"Where is first aid?", "哪里有急救？", regexp.MustCompile(`(?i)first aid|doctor|nurse|急救|医务|医生`)},
	plan.LostThing: {"Where is the lost property office?", "失物招领处在哪里？", regexp.MustCompile(`(?i)lost (property|and found)|失物`)},
	plan.Hungry:    {"Where can I eat?", "哪里可以吃东西？", nil},
	plan.Thirsty:   {"Where is drinking water?", "哪里有饮用水？", nil},
	plan.Tired:     {"Where can I sit down?", "哪里可以坐下休息？", nil},
	plan.NeedsLoo:  {"Where are the toilets?", "洗手间在哪里？", nil},
}

// lookUpPlight answers visitors who say what they are in by where help is. The staff are named where the texts have nothing, and
// where it matters in any case. What was too hard is told again in short, as for a child. ok is false where nothing can be done.
func (s *shelf) lookUpPlight(ctx context.Context, d *desk, t Turn, language string, plight plan.Plight, now time.Time) (f found, ok bool, err error) {
	if plight == plan.Puzzled {
		f = s.findExplanation(d, t.Exhibit, language, gallery.LevelChild, overviewShare, "")
		return f, f.answer.answered, nil
	}
	r := remedies[plight]
	of := t
	of.Question, of.Exhibit, of.History = r.english, "", nil
	if language == words.Chinese {
		of.Question = r.chinese
	}
	f, err = s.lookUp(ctx, d, of, s.planLookUp(of, language, now))
	if err != nil {
		return found{}, false, err
	}
	ph := phrasesIn(language)
	staff := ph.staff[plight]
	apt := !slices.ContainsFunc(f.picked, func(c *candidate) bool { return c.passage.section.Domain == gallery.DomainExhibit }) &&
		(r.speaks == nil || slices.ContainsFunc(f.picked, func(c *candidate) bool { return r.speaks.MatchString(c.text) }))
	switch {
	case f.answer.answered && apt:
		f.warning = staff
	case staff != "":
		f = found{language: language, question: f.question, answer: nothing(language, staff)}
	default:
		f = found{language: language, question: f.question, answer: nothing(language, ph.needNone)}
	}
	return f, true, nil
}

// planLookUp plans a question of the guide's own, which is only looked up.
func (s *shelf) planLookUp(t Turn, language string, now time.Time) plan.ExecutionPlan {
	p := s.plan(t, language, now)
	p.Mode, p.SubQuestions = plan.Chat, []plan.SubQuestion{{Text: t.Question}}
	return p
}

// whereToEat names what the texts have on food, after a question for it that they do not answer: "" where they have nothing, and
// for any other question.
func (s *shelf) whereToEat(ctx context.Context, d *desk, t Turn, f found, now time.Time) (string, error) {
	if f.answer.answered || t.Explain || !f.question.notion("food") && !asksFood.MatchString(words.Fold(t.Question)) {
		return "", nil
	}
	there, _, err := s.lookUpPlight(ctx, d, t, f.language, plan.Hungry, now)
	if err != nil || !there.answer.answered || there.in != f.language {
		return "", err
	}
	var told []string
	for _, c := range there.picked {
		if c.passage.section.Domain == gallery.DomainService {
			told = append(told, c.text)
		}
	}
	if len(told) == 0 {
		return "", nil
	}
	return phrasesIn(f.language).eatThere + strings.Join(told, map[bool]string{true: "", false: " "}[f.language == words.Chinese]), nil
}

// asksFood matches questions for food in words of their own.
var asksFood = regexp.MustCompile(`\b(vegetarian|vegan|halal|kosher|gluten|cake|tea|pizza|burger|ice cream|beer|wine|hungry)s?\b|素食|清真|蛋糕|冰淇淋|汉堡|披萨|啤酒|面条|米饭|饿`)
