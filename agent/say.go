package agent

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"docent/agent/internal/words"
	"docent/agent/tour"
	"docent/agent/venue"
	"docent/localindex/gallery"
)

// sayings put computed facts into sentences of one language.
type sayings struct {
	chinese  bool
	stepFree string
	failed   string // with %s for what failed
	tasks    map[string]string
}

func sayingsIn(language string) sayings {
	if language == words.Chinese {
		return sayings{chinese: true, stepFree: "全程没有台阶。", failed: "有一部分我没能查到：%s。", tasks: map[string]string{
			toolRecall: "馆里的文字资料", toolExhibit: "展品资料", toolCompare: "展品的比较", toolHall: "展厅介绍", toolVenue: "当天的安排", toolTour: "参观路线",
			toolCollection: "展品目录", toolWalk: "路线", toolNext: "下一件展品",
		}}
	}
	return sayings{stepFree: " The whole way is step-free.", failed: "I could not look up one part of it: %s.", tasks: map[string]string{
		toolRecall: "the gallery's texts", toolExhibit: "the exhibit", toolCompare: "the comparison", toolHall: "the hall", toolVenue: "that day's programme", toolTour: "the route",
		toolCollection: "the catalogue", toolWalk: "the way", toolNext: "what comes next",
	}}
}

// admit says which tools failed.
func (s sayings) admit(tools []string) string {
	var names []string
	for _, t := range tools {
		names = append(names, s.tasks[t])
	}
	sep := ", "
	if s.chinese {
		sep = "、"
	}
	return fmt.Sprintf(s.failed, strings.Join(names, sep))
}

// card tells an exhibit's title, maker, date and hall.
func (s sayings) card(e gallery.Exhibit, hall, language string) string {
	title, maker, date := e.Title.In(language), e.Maker.In(language), e.Date.In(language)
	var parts []string
	for _, p := range []string{maker, date} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if s.chinese {
		out := title
		if len(parts) > 0 {
			out += "：" + strings.Join(parts, "，")
		}
		if hall != "" {
			out += fmt.Sprintf("，在%s%s", hall, s.label(e))
		}
		return out + "。"
	}
	out := title
	if len(parts) > 0 {
		out += ": " + strings.Join(parts, ", ")
	}
	if hall != "" {
		out += fmt.Sprintf(", in %s%s", s.theHall(hall), s.label(e))
	}
	return out + "."
}

// label is the number on the wall in brackets, "" where there is none.
func (s sayings) label(e gallery.Exhibit) string {
	switch {
	case e.Label == "":
		return ""
	case s.chinese:
		return "（" + e.Label + "）"
	}
	return " (" + e.Label + ")"
}

// place is the number on the wall and the hall in brackets, as far as they are known.
func (s sayings) place(e gallery.Exhibit, hall string) string {
	parts := slices.DeleteFunc([]string{e.Label, hall}, func(p string) bool { return p == "" })
	switch {
	case len(parts) == 0:
		return ""
	case s.chinese:
		return "（" + strings.Join(parts, "，") + "）"
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// theHall names a hall in English: the Curves hall, but Room 19.
func (s sayings) theHall(name string) string {
	if room.MatchString(name) {
		return name
	}
	return "the " + name + " hall"
}

var room = regexp.MustCompile(`(?i)\b(hall|room|gallery|floor|wing|cabinet|court|chapel)\b|\d`)

var plainYear = regexp.MustCompile(`^\D{0,3}(\d{4})\D{0,1}$`)

// earlier tells which of two exhibits is the earlier one, "" where their dates are not single years.
func (s sayings) earlier(a, b gallery.Exhibit, language string) string {
	x, y := yearOf(a.Date.In(language)), yearOf(b.Date.In(language))
	if x == 0 || y == 0 {
		return ""
	}
	if y < x {
		a, b, x, y = b, a, y, x
	}
	one, other := a.Title.In(language), b.Title.In(language)
	switch {
	case s.chinese && x == y:
		return fmt.Sprintf("两者都是%d年的。", x)
	case s.chinese:
		return fmt.Sprintf("%s（%d年）比%s（%d年）早。", one, x, other, y)
	case x == y:
		return fmt.Sprintf("Both date from %d.", x)
	}
	return fmt.Sprintf("%s (%d) is earlier than %s (%d).", one, x, other, y)
}

func yearOf(date string) int {
	m := plainYear.FindStringSubmatch(strings.TrimSpace(date))
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0
	}
	return n
}

func (s sayings) hallsOf(a, b gallery.Exhibit, hallA, hallB, language string) string {
	one, other := a.Title.In(language), b.Title.In(language)
	switch {
	case s.chinese && a.Hall == b.Hall:
		return fmt.Sprintf("两者都在%s。", hallA)
	case s.chinese:
		return fmt.Sprintf("%s在%s，%s在%s。", one, hallA, other, hallB)
	case a.Hall == b.Hall:
		return fmt.Sprintf("Both are in %s.", s.theHall(hallA))
	}
	return fmt.Sprintf("%s is in %s, %s in %s.", one, s.theHall(hallA), other, s.theHall(hallB))
}

var hanWeekday = []string{"星期日", "星期一", "星期二", "星期三", "星期四", "星期五", "星期六"}

func (s sayings) date(d time.Time) string {
	if s.chinese {
		return fmt.Sprintf("%d年%d月%d日（%s）", d.Year(), d.Month(), d.Day(), hanWeekday[d.Weekday()])
	}
	return d.Format("Monday 2 January 2006")
}

func (s sayings) spans(spans []venue.Span) string {
	var out []string
	for _, p := range spans {
		text := fmt.Sprintf("from %s to %s", p.Open, p.Close)
		if s.chinese {
			text = fmt.Sprintf("%s至%s", p.Open, p.Close)
		}
		if p.LastEntry != "" {
			if s.chinese {
				text += fmt.Sprintf("（最晚%s入馆）", p.LastEntry)
			} else {
				text += fmt.Sprintf(" (last entry %s)", p.LastEntry)
			}
		}
		out = append(out, text)
	}
	if s.chinese {
		return strings.Join(out, "、")
	}
	return strings.Join(out, " and ")
}

// open tells a day's hours, and how it stands now where that was asked.
func (s sayings) open(d venue.Day, now time.Time, asksNow bool, g *gallery.Gallery, language string) string {
	reason := d.Reason.In(language)
	if reason != "" {
		if s.chinese {
			reason = "（" + reason + "）"
		} else {
			reason = " (" + reason + ")"
		}
	}
	date := s.date(d.Date)
	if len(d.Spans) == 0 {
		if s.chinese {
			return fmt.Sprintf("%s闭馆%s。", date, reason)
		}
		return fmt.Sprintf("The gallery is closed on %s%s.", date, reason)
	}
	if asksNow {
		state, span := venue.At(g, now)
		clock := now.Format("15:04")
		switch {
		case s.chinese:
			return map[venue.State]string{
				venue.Open:      fmt.Sprintf("现在是%s，正在开放，%s闭馆%s。", clock, span.Close, reason),
				venue.LastEntry: fmt.Sprintf("现在是%s，今天的入馆时间已过（最晚%s），%s闭馆%s。", clock, span.LastEntry, span.Close, reason),
				venue.NotYet:    fmt.Sprintf("现在是%s，还没有开门，%s开放%s。", clock, span.Open, reason),
				venue.Over:      fmt.Sprintf("现在是%s，今天已经闭馆（%s）%s。", clock, span.Close, reason),
			}[state]
		default:
			return map[venue.State]string{
				venue.Open:      fmt.Sprintf("It is %s; the gallery is open now, until %s%s.", clock, span.Close, reason),
				venue.LastEntry: fmt.Sprintf("It is %s; last entry was at %s, and the gallery closes at %s%s.", clock, span.LastEntry, span.Close, reason),
				venue.NotYet:    fmt.Sprintf("It is %s; the gallery is not open yet, it opens at %s%s.", clock, span.Open, reason),
				venue.Over:      fmt.Sprintf("It is %s; the gallery has closed for today, at %s%s.", clock, span.Close, reason),
			}[state]
		}
	}
	if s.chinese {
		return fmt.Sprintf("%s开放：%s%s。", date, s.spans(d.Spans), reason)
	}
	return fmt.Sprintf("On %s the gallery is open %s%s.", date, s.spans(d.Spans), reason)
}

// usual tells the hours of a holiday's weekday, as what they are: the gallery lists nothing for the day itself.
func (s sayings) usual(d venue.Day) string {
	date := s.date(d.Date)
	switch {
	case s.chinese && len(d.Spans) == 0:
		return fmt.Sprintf("馆里没有为%s另行公布时间；这一天平时闭馆。", date)
	case s.chinese:
		return fmt.Sprintf("馆里没有为%s另行公布时间；这一天平时的开放时间是%s，节日请以现场公告为准。", date, s.spans(d.Spans))
	case len(d.Spans) == 0:
		return fmt.Sprintf("The gallery lists no special hours for %s; on that weekday it is usually closed.", date)
	}
	return fmt.Sprintf("The gallery lists no special hours for %s; on that weekday it is usually open %s. For the holiday itself, please ask at the desk.", date, s.spans(d.Spans))
}

func (s sayings) nextOpen(d venue.Day) string {
	if s.chinese {
		return fmt.Sprintf("下一个开放日是%s，%s。", s.date(d.Date), s.spans(d.Spans))
	}
	return fmt.Sprintf("It opens next on %s, %s.", s.date(d.Date), s.spans(d.Spans))
}

// event tells an event with when it is, as the gallery puts it.
func (s sayings) event(e gallery.Event, hall, language string) string {
	name, when := e.Name.In(language), e.When.In(language)
	if s.chinese {
		if hall != "" {
			hall = "，在" + hall
		}
		return fmt.Sprintf("%s：%s%s。", name, when, hall)
	}
	if hall != "" {
		hall = ", in " + s.theHall(hall)
	}
	return fmt.Sprintf("%s: %s%s.", name, when, hall)
}

// stop tells one stop of a route, the first one with how long it all takes.
func (s sayings) stop(i int, st tour.Stop, t tour.Tour, e gallery.Exhibit, hall, language string) string {
	title := e.Title.In(language)
	minutes, metres := int(math.Round(st.Minutes)), int(math.Round(st.Metres))
	why := s.reason(st, hall)
	total, walk := int(math.Ceil(t.Minutes)), int(math.Ceil(t.Walking))
	if s.chinese {
		if i == 0 {
			return fmt.Sprintf("这条路线有%d站，约%d分钟，其中步行约%d分钟：先走%d米到%s%s，看%d分钟%s。", len(t.Stops), total, walk, metres, title, s.place(e, hall), minutes, why)
		}
		return fmt.Sprintf("再走%d米到%s%s，看%d分钟%s。", metres, title, s.place(e, hall), minutes, why)
	}
	if i == 0 {
		return fmt.Sprintf("This route has %d stops and takes about %d minutes, %d of them walking: begin %d m away with %s%s, %d minutes%s.", len(t.Stops), total, walk, metres, title, s.place(e, hall), minutes, why)
	}
	return fmt.Sprintf("Then %d m on to %s%s, %d minutes%s.", metres, title, s.place(e, hall), minutes, why)
}

func (s sayings) reason(st tour.Stop, hall string) string {
	switch {
	case st.Reason == tour.Interest && s.chinese:
		return fmt.Sprintf("，因为您想看“%s”", st.Interest)
	case st.Reason == tour.Interest:
		return fmt.Sprintf(", because you asked for “%s”", st.Interest)
	case st.Reason == tour.NewHall && s.chinese:
		return fmt.Sprintf("，这是%s的第一站", hall)
	case st.Reason == tour.NewHall:
		return ", your first of " + s.theHall(hall)
	case s.chinese:
		return "，顺路"
	}
	return ", on the way"
}
