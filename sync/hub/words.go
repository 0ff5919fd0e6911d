package hub

import (
	"fmt"
	"strings"

	"golang.org/x/text/language"

	"docent/sync/wire"
)

// words are the page's texts in one language.
type words map[string]string

// State is the word for a kiosk's state.
func (w words) State(s string) string { return w.of("state."+s, s) }

// Type is the phrase for a type of event; types the page does not know are shown as they are.
func (w words) Type(t string) string { return w.of("type."+t, t) }

// Deploy is the phrase for how far a kiosk is with its content.
func (w words) Deploy(d *wire.Deploy) string {
	s := w.of("deploy."+string(d.Status), string(d.Status))
	if d.RolledBack {
		s = w.of("deploy.rolled_back", "rolled back")
	}
	if d.Status == wire.DeployDownloading && d.Of > 0 {
		s += fmt.Sprintf(" %d %%", 100*d.Done/d.Of)
	}
	if d.Code != "" {
		s += " (" + d.Code + ")"
	}
	return s
}

func (w words) of(key, fallback string) string {
	if s, ok := w[key]; ok {
		return s
	}
	return fallback
}

// languages are those the page speaks, the default first.
var (
	languages = []string{"en", "zh"}
	matcher   = language.NewMatcher([]language.Tag{language.English, language.Chinese})
)

// choose picks a language from a query parameter or the browser's wishes.
func choose(query, accept string) string {
	query, accept = strings.TrimSpace(query), strings.TrimSpace(accept)
	_, i := language.MatchStrings(matcher, query, accept)
	return languages[i]
}

var texts = map[string]words{
	"en": {
		"title": "Docent hub", "live": "Live", "stale": "The hub does not answer", "totals": "Totals",
		"kiosks": "Kiosks", "events": "What has come in", "when": "When", "kiosk": "Kiosk", "what": "What", "details": "Details",
		"none": "Nothing yet. What visitors see and ask at a kiosk appears here.", "nokiosk": "No kiosk has introduced itself yet.",
		"stored": "Events stored", "here": "Kiosks connected", "lost": "Events lost at kiosks", "refused": "Messages refused", "waiting": "Waiting to be sent:", "shows": "Shows",
		"alarm": "Shown on all screens", "type.emergency.shown": "Emergency message on the screen", "type.emergency.over": "Emergency message taken off",
		"deploy.pending": "a new release waits", "deploy.downloading": "fetches a new release", "deploy.downloaded": "has fetched a new release",
		"deploy.verifying": "checks a new release", "deploy.pause_before_installing": "waits until nobody is there", "deploy.installing": "changes to a new release",
		"deploy.pause_before_committing": "tries a new release", "deploy.success": "up to date", "deploy.already-installed": "up to date",
		"deploy.failure": "could not change to a new release", "deploy.rejected": "refused a new release", "deploy.rolled_back": "went back to the release before",
		"state.init": "Starting", "state.ready": "Ready", "state.disconnected": "Signed off", "state.sleeping": "Asleep", "state.lost": "Not reachable", "state.alert": "Needs a person",
		"type.visit.started": "Visit began", "type.visit.ended": "Visit ended", "type.exhibit.seen": "Exhibit seen", "type.photo.unknown": "Photo not recognised",
		"type.question.answered": "Question answered", "type.question.unanswered": "Question without an answer", "type.outbox.lost": "Events lost",
	},
	"zh": {
		"title": "Docent 中枢", "live": "实时", "stale": "中枢没有响应", "totals": "总计",
		"kiosks": "导览机", "events": "最新动态", "when": "时间", "kiosk": "导览机", "what": "内容", "details": "详情",
		"none": "还没有记录。观众在导览机上看到和问到的内容会出现在这里。", "nokiosk": "还没有导览机接入。",
		"stored": "已保存记录", "here": "在线导览机", "lost": "导览机丢失的记录", "refused": "被拒收的消息", "waiting": "等待发送：", "shows": "当前内容",
		"alarm": "所有屏幕正在显示", "type.emergency.shown": "紧急信息已显示", "type.emergency.over": "紧急信息已撤下",
		"deploy.pending": "有新版本等待", "deploy.downloading": "正在下载新版本", "deploy.downloaded": "新版本已下载",
		"deploy.verifying": "正在检查新版本", "deploy.pause_before_installing": "等待无人时切换", "deploy.installing": "正在切换到新版本",
		"deploy.pause_before_committing": "正在试用新版本", "deploy.success": "已是最新", "deploy.already-installed": "已是最新",
		"deploy.failure": "未能切换到新版本", "deploy.rejected": "拒绝了新版本", "deploy.rolled_back": "已退回上一版本",
		"state.init": "启动中", "state.ready": "就绪", "state.disconnected": "已离线", "state.sleeping": "休眠", "state.lost": "失去联系", "state.alert": "需要人工处理",
		"type.visit.started": "参观开始", "type.visit.ended": "参观结束", "type.exhibit.seen": "看到展品", "type.photo.unknown": "照片未识别",
		"type.question.answered": "问题已回答", "type.question.unanswered": "问题未能回答", "type.outbox.lost": "记录丢失",
	},
}
