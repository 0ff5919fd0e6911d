package hub

import (
	"context"
	"fmt"
	"strings"

	"docent/sync/hub/rollout"
)

// shownRollouts are those on the page: the newest with all that is to be said of it, the others in a line each.
const shownRollouts = 5

// rolloutCard is what the page says of a rollout.
type rolloutCard struct {
	rolloutView
	Title   string
	State   string // a sentence
	Why     string // the same, where it is paused or stopped
	Bad     bool   // it waits for a person
	Begun   string // before the time when it was created
	Sum     string // of all kiosks, for a rollout that is over
	Groups  []groupLine
	Failed  []string // kiosks that did not take the release, and why
	Buttons []button
}

// groupLine is how far a group is.
type groupLine struct {
	Name, Text string
	Done, Of   int
	Bad        bool
}

// button is something that can be done with a rollout.
type button struct {
	Word, Text string
	Ask        string // what is asked before, where it cannot be undone
	Main       bool   // it is what the rollout waits for
}

// rolloutCards says how far the newest rollouts are.
func (h *Hub) rolloutCards(ctx context.Context, lang string) (words, []rolloutCard, error) {
	w := rolloutTexts[lang]
	views, err := h.rolloutViews(ctx, shownRollouts)
	if err != nil {
		return nil, nil, err
	}
	var cards []rolloutCard
	for i, v := range views {
		card := rolloutCard{
			rolloutView: v, Title: w.put("release", v.Release.ID), State: w["state."+string(v.State)], Why: w.reason(v.Reason),
			Bad: v.State == rollout.Paused || v.State == rollout.Waiting, Begun: w["created"],
			Sum: w.put("sum", v.Total().Succeeded, v.Total().Total()),
		}
		if v.Back {
			card.Title = w.put("back", v.Release.ID)
		}
		if by := v.History[0].By; by != "" {
			card.Begun = w.put("created.by", by)
		}
		if i > 0 {
			cards = append(cards, card)
			continue
		}
		for i, t := range v.Tallies {
			card.Groups = append(card.Groups, w.group(v.Rollout, i, t))
		}
		card.Buttons = w.buttons(v.Rollout)
		if card.Failed, err = h.failedLines(ctx, w, v); err != nil {
			return nil, nil, err
		}
		cards = append(cards, card)
	}
	return w, cards, nil
}

// failedLines names the kiosks that did not take a release.
func (h *Hub) failedLines(ctx context.Context, w words, v rolloutView) (lines []string, err error) {
	if v.Total().Failed == 0 {
		return nil, nil
	}
	members, err := h.store.RolloutMembers(ctx, v.ID)
	if err != nil {
		return nil, err
	}
	more := 0
	for _, m := range members {
		switch m.State {
		case rollout.Failure, rollout.Rejected:
		case rollout.TimedOut:
			if m.BegunAt.IsZero() {
				continue
			}
			m.Code = string(rollout.TimedOut)
		default:
			continue
		}
		if len(lines) == pageTroubled {
			more++
			continue
		}
		lines = append(lines, w.put("failed.kiosk", m.Kiosk.Site+" / "+m.Kiosk.Kiosk, w.of("code."+m.Code, m.Code)))
	}
	if more > 0 {
		lines = append(lines, w.put("failed.more", more))
	}
	return lines, nil
}

// put is a text with values in the places of %s.
func (w words) put(key string, values ...any) string {
	s := w[key]
	for _, v := range values {
		s = strings.Replace(s, "%s", fmt.Sprint(v), 1)
	}
	return s
}

// reason says why a rollout is paused or stopped.
func (w words) reason(r rollout.Reason) string {
	switch r.Code {
	case rollout.TooManyFailed:
		return w.put("why.too_many_failed", r.N, r.Of, r.Group)
	case rollout.TooFewSucceed:
		return w.put("why.too_few_succeeded", r.N, r.Of, r.Group)
	case rollout.NobodyTried:
		return w.put("why.nobody_tried", r.Group)
	case rollout.Superseded:
		return w["why.superseded"]
	case rollout.NotPublished:
		return w["why.not_published"]
	case rollout.ByStaff:
		s := w["why.by_staff"]
		if r.By != "" {
			s = w.put("why.by", r.By)
		}
		if r.Text != "" {
			s += " " + r.Text
		}
		return s
	}
	return ""
}

// group says how far a group is.
func (w words) group(r rollout.Rollout, i int, t rollout.Tally) groupLine {
	g := groupLine{Name: r.Plan.Groups[i].Name, Done: t.Succeeded, Of: max(t.Total(), 1), Bad: t.Failed > 0}
	if i >= r.Begun {
		g.Text = w.put("group.held", t.Total())
		if i == r.Begun && r.State == rollout.Waiting {
			g.Text, g.Bad = w.put("group.approval", t.Total()), true
		}
		return g
	}
	parts := []string{w.put("sum", t.Succeeded, t.Total())}
	for _, p := range []struct {
		key string
		n   int
	}{{"group.failed", t.Failed}, {"group.running", t.Running}, {"group.away", t.Away}, {"group.aborted", t.Aborted}} {
		if p.n > 0 {
			parts = append(parts, w.put(p.key, p.n))
		}
	}
	g.Text = strings.Join(parts, " · ")
	return g
}

// buttons are what can be done with a rollout in its state.
func (w words) buttons(r rollout.Rollout) []button {
	pause := button{Word: "pause", Text: w["do.pause"]}
	abort := button{Word: "abort", Text: w["do.abort"], Ask: w["ask.abort"]}
	back := button{Word: "back", Text: w["do.back"], Ask: w["ask.back"]}
	switch r.State {
	case rollout.Waiting:
		return []button{{Word: "approve", Text: w.put("do.approve", r.Plan.Groups[r.Begun].Name), Main: true}, pause, abort, back}
	case rollout.Ready, rollout.Running:
		return []button{pause, abort, back}
	case rollout.Paused:
		return []button{{Word: "resume", Text: w["do.resume"], Ask: w["ask.resume"]}, abort, back}
	case rollout.Stopped, rollout.Finished:
		return []button{back}
	}
	return nil
}

// rolloutTexts are the page's texts about rollouts.
var rolloutTexts = map[string]words{
	"en": {
		"title": "New content", "release": "Release %s", "back": "Back to release %s", "page": "the hub's page", "before": "Before that",
		"created": "Begun", "created.by": "Begun by %s", "group": "Group", "far": "How far", "sum": "%s of %s show it",
		"state.creating": "It is being published.", "state.waiting_for_approval": "It waits for somebody to approve the next group.",
		"state.ready": "It begins at its time.", "state.running": "It is going to the kiosks.", "state.paused": "It is paused: no further kiosk changes.",
		"state.stopped": "It was stopped.", "state.finished": "It is done.",
		"why.too_many_failed": "%s of %s kiosks of the group %s did not take it.", "why.too_few_succeeded": "Only %s of %s kiosks of the group %s took it.",
		"why.nobody_tried": "No kiosk of the group %s was there to try it.", "why.superseded": "A later one took its place.", "why.not_published": "Its release was not published.",
		"why.by_staff": "By staff.", "why.by": "By %s.",
		"group.held": "%s kiosks, not begun", "group.approval": "%s kiosks, waiting for approval", "group.failed": "%s did not take it", "group.running": "%s at it",
		"group.away": "%s never answered", "group.aborted": "%s kept what they had",
		"failed.kiosk": "%s: %s", "failed.more": "and %s more",
		"code.health": "the new content did not pass the trial on this kiosk", "code.disk_full": "its disk is full", "code.timed_out": "it began and was not heard of again",
		"code.ended_the_program": "the new content ended its program", "code.does_not_open": "the new content does not open", "code.not_the_release": "what it fetched is not the release",
		"code.bad_index": "the release's list of files is damaged", "code.expired": "the signature has run out, or the kiosk's clock is wrong", "code.signature": "the signature is not of this house",
		"code.stale": "it knows newer signatures than the hub has", "code.older": "it shows something newer",
		"do.approve": "Approve: go on with %s", "do.pause": "Pause", "do.resume": "Go on in spite of it", "do.abort": "Stop for good", "do.back": "Back to the release before",
		"ask.resume": "Go on with the next kiosks, in spite of what went wrong so far?",
		"ask.abort":  "Stop this for good? Kiosks that show the new content already keep it, all others keep what they have. It cannot be taken up again.",
		"ask.back":   "Bring the release before back to all kiosks?",
	},
	"zh": {
		"title": "新内容", "release": "版本 %s", "back": "退回版本 %s", "page": "中枢网页", "before": "此前",
		"created": "开始于", "created.by": "%s 开始于", "group": "分组", "far": "进度", "sum": "%s / %s 已显示",
		"state.creating": "正在发布。", "state.waiting_for_approval": "等待批准下一组。",
		"state.ready": "将在预定时间开始。", "state.running": "正在分发到导览机。", "state.paused": "已暂停：不会再有导览机更换内容。",
		"state.stopped": "已停止。", "state.finished": "已完成。",
		"why.too_many_failed": "%s / %s 台失败（分组 %s）。", "why.too_few_succeeded": "仅 %s / %s 台成功（分组 %s）。",
		"why.nobody_tried": "分组 %s 中没有导览机在线试用。", "why.superseded": "已被后来的版本取代。", "why.not_published": "该版本未能发布。",
		"why.by_staff": "由工作人员操作。", "why.by": "由 %s 操作。",
		"group.held": "%s 台，尚未开始", "group.approval": "%s 台，等待批准", "group.failed": "%s 台失败", "group.running": "%s 台进行中",
		"group.away": "%s 台一直没有回应", "group.aborted": "%s 台保留原内容",
		"failed.kiosk": "%s：%s", "failed.more": "另有 %s 台",
		"code.health": "新内容未通过本机试用", "code.disk_full": "磁盘已满", "code.timed_out": "开始后失去消息",
		"code.ended_the_program": "新内容使程序退出", "code.does_not_open": "新内容无法打开", "code.not_the_release": "下载的内容与版本不符",
		"code.bad_index": "版本的文件清单已损坏", "code.expired": "签名已过期，或本机时钟有误", "code.signature": "签名不属于本馆",
		"code.stale": "本机已知的签名比中枢的新", "code.older": "本机显示的内容更新",
		"do.approve": "批准：继续 %s", "do.pause": "暂停", "do.resume": "仍然继续", "do.abort": "永久停止", "do.back": "退回上一版本",
		"ask.resume": "尽管出现了问题，仍要继续分发到其他导览机吗？",
		"ask.abort":  "永久停止吗？已显示新内容的导览机保持不变，其余保留原内容。停止后无法继续。",
		"ask.back":   "让所有导览机退回上一版本吗？",
	},
}
