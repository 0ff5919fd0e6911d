package agent

import (
	"fmt"
	"math"
	"strings"

	"docent/agent/collection"
	"docent/agent/tour"
	"docent/localindex/gallery"
)

// collection opens what is told of exhibits together: how many they are, or which is the oldest.
func (s sayings) collection(f collection.Found, q collection.Query, list []gallery.Exhibit, halls int, hall, language string) string {
	n := len(f.Exhibits)
	if q.Order != "" {
		return s.ends(f, q, list, language)
	}
	if s.chinese {
		out := fmt.Sprintf("馆里有%d件", n)
		if hall != "" {
			out = fmt.Sprintf("%s有%d件", hall, n)
		}
		out += s.which(q, list, language) + "展品"
		switch {
		case q == (collection.Query{Count: true}) && halls > 1:
			out += fmt.Sprintf("，分布在%d个展厅", halls)
		case len(list) < n && !q.Count:
			out += fmt.Sprintf("，其中%d件是", len(list))
		}
		return out + s.undated(f) + "。"
	}
	what := "exhibits"
	if n == 1 {
		what = "exhibit"
	}
	out := fmt.Sprintf("The gallery shows %d %s%s", n, what, s.which(q, list, language))
	if hall != "" {
		out = fmt.Sprintf("%s shows %d %s%s", upperFirst(s.theHall(hall)), n, what, s.which(q, list, language))
	}
	switch {
	case q == (collection.Query{Count: true}) && halls > 1:
		out += fmt.Sprintf(", in %d halls", halls)
	case len(list) < n && !q.Count:
		out += fmt.Sprintf("; %d of them are", len(list))
	}
	return out + s.undated(f) + "."
}

// which says by whom and from when they are.
func (s sayings) which(q collection.Query, list []gallery.Exhibit, language string) string {
	var out string
	if q.Maker != "" {
		if s.chinese {
			out += fmt.Sprintf("署名“%s”的", list[0].Maker.In(language))
		} else {
			out += fmt.Sprintf(" listed as “%s”", list[0].Maker.In(language))
		}
	}
	switch {
	case q.Topic != "" && s.chinese:
		out += fmt.Sprintf("与“%s”有关的", q.Topic)
	case q.Topic != "":
		out += fmt.Sprintf(" on “%s”", q.Topic)
	}
	from, to := s.year(q.From), s.year(q.To)
	switch {
	case q.From == 0 && q.To == 0:
	case q.From <= -10_000 && s.chinese:
		out += fmt.Sprintf("%s及以前的", to)
	case q.To >= 9000 && s.chinese:
		out += fmt.Sprintf("%s及以后的", from)
	case q.From == q.To && s.chinese:
		out += from + "的"
	case s.chinese:
		out += fmt.Sprintf("%s至%s的", from, to)
	case q.From <= -10_000:
		out += " from " + to + " or earlier"
	case q.To >= 9000:
		out += " from " + from + " or later"
	case q.From == q.To:
		out += " from " + from
	default:
		out += fmt.Sprintf(" from %s to %s", from, to)
	}
	return out
}

func (s sayings) year(n int) string {
	switch {
	case n < 0 && s.chinese:
		return fmt.Sprintf("公元前%d年", -n)
	case n < 0:
		return fmt.Sprintf("%d BC", -n)
	case s.chinese:
		return fmt.Sprintf("%d年", n)
	}
	return fmt.Sprint(n)
}

func (s sayings) undated(f collection.Found) string {
	switch {
	case f.Undated == 0:
		return ""
	case s.chinese:
		return fmt.Sprintf("（另有%d件没有注明年代）", f.Undated)
	case f.Undated == 1:
		return " (1 more has no date in the catalogue)"
	}
	return fmt.Sprintf(" (%d more have no date in the catalogue)", f.Undated)
}

// ends tells the oldest or newest by the catalogue's dates.
func (s sayings) ends(f collection.Found, q collection.Query, list []gallery.Exhibit, language string) string {
	var names []string
	for _, e := range list {
		names = append(names, fmt.Sprintf(map[bool]string{true: "%s（%s）", false: "%s (%s)"}[s.chinese], e.Title.In(language), e.Date.In(language)))
	}
	if s.chinese {
		word := "最早"
		if q.Order == collection.Newest {
			word = "最新"
		}
		return fmt.Sprintf("按馆里注明的年代，%s的是%s%s。", word, strings.Join(names, "、"), s.undated(f))
	}
	word, is := string(q.Order), "is"
	if len(names) > 1 {
		is = "are"
	}
	return fmt.Sprintf("By the dates in the catalogue, the %s %s %s%s.", word, is, strings.Join(names, " and "), s.undated(f))
}

// way tells how to walk to an exhibit, or to a hall where end is empty.
func (s sayings) way(start, end gallery.Exhibit, hall string, w tour.Way, halls []string, language string) string {
	metres, minutes := int(math.Round(w.Metres)), int(math.Ceil(w.Seconds/60))
	last := halls[len(halls)-1]
	between := halls[min(1, len(halls)-1) : len(halls)-1]
	if s.chinese {
		from, to := "从这里", hall
		if start.ID != "" {
			from = fmt.Sprintf("从%s%s", start.Title.In(language), s.label(start))
		}
		if end.ID != "" {
			to = fmt.Sprintf("%s%s", end.Title.In(language), s.label(end))
		}
		out := fmt.Sprintf("%s到%s约%d米，步行约%d分钟", from, to, metres, minutes)
		if len(halls) == 1 {
			return out + fmt.Sprintf("，就在同一个展厅（%s）。", halls[0])
		}
		if len(between) == 0 {
			return out + fmt.Sprintf("：从%s到%s。", halls[0], last)
		}
		return out + fmt.Sprintf("：从%s经%s到%s。", halls[0], strings.Join(between, "、"), last)
	}
	from, to := "From here", s.theHall(hall)
	if start.ID != "" {
		from = fmt.Sprintf("From %s%s", start.Title.In(language), s.label(start))
	}
	if end.ID != "" {
		to = fmt.Sprintf("%s%s", end.Title.In(language), s.label(end))
	}
	minute := "minutes"
	if minutes == 1 {
		minute = "minute"
	}
	out := fmt.Sprintf("%s it is about %d m to %s, %d %s on foot", from, metres, to, minutes, minute)
	if len(halls) == 1 {
		return out + fmt.Sprintf(", in the same hall (%s).", halls[0])
	}
	if len(between) == 0 {
		return out + fmt.Sprintf(": from %s to %s.", halls[0], last)
	}
	return out + fmt.Sprintf(": from %s through %s to %s.", halls[0], strings.Join(between, " and "), last)
}

// next suggests an exhibit.
func (s sayings) next(i int, n tour.Near, e gallery.Exhibit, hall, language string) string {
	metres, title := int(math.Round(n.Metres)), e.Title.In(language)
	if s.chinese {
		out := fmt.Sprintf("或者%s%s，%d米外", title, s.place(e, hall), metres)
		if i == 0 {
			out = fmt.Sprintf("接下来可以看%s%s，离这里%d米", title, s.place(e, hall), metres)
		}
		if n.Related {
			out += "，与眼前这件有关"
		}
		return out + "。"
	}
	out := fmt.Sprintf("Or %s%s, %d m away", title, s.place(e, hall), metres)
	if i == 0 {
		out = fmt.Sprintf("Next you could see %s%s, %d m from here", title, s.place(e, hall), metres)
	}
	if n.Related {
		out += ", which has to do with this one"
	}
	return out + "."
}

// warning says which parts of a question the gallery has nothing on, and which tools failed.
func (s sayings) warning(language string, missing, failed []string) string {
	var out []string
	ph := phrasesIn(language)
	if len(missing) > 0 {
		out = append(out, fmt.Sprintf(ph.nothingOn, strings.Join(missing, ph.comma)))
	}
	if len(failed) > 0 {
		out = append(out, s.admit(failed))
	}
	if s.chinese {
		return strings.Join(out, "")
	}
	return strings.Join(out, " ")
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
