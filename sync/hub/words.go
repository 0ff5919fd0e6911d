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

// Camera is the word for a camera's state.
func (w words) Camera(s string) string { return w.of("camera."+s, s) }

// Trouble is a sentence about what is wrong with a kiosk.
func (w words) Trouble(t Trouble) string {
	s := w.of("trouble."+t.Code, t.Code)
	if t.Value == "" {
		return strings.NewReplacer(" (%s)", "", "（%s）", "", "%s", "?").Replace(s)
	}
	return strings.Replace(s, "%s", t.Value, 1)
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
		"waitingkiosks": "Kiosks that wait to be let in", "typecode": "Read the code from the kiosk's own screen and type it on this machine:",
		"replaces": "takes the place of a kiosk of that name (--replace)", "fingerprint": "Fingerprint of this hub, to compare with the kiosk's:",
		"camera": "camera", "camera.ready": "ready", "camera.init": "starting", "camera.alert": "broken", "camera.none": "none", "attended": "somebody is there", "screenshot": "the screen",
		"trouble.two_kiosks": "Two machines use this kiosk's name and certificate. Switch one off, and enrol it anew.",
		"trouble.lost":       "Not reachable for %s. Is it on, and has it a network?", "trouble.switched_off": "Switched off %s ago.",
		"trouble.silent": "Connected, and silent for %s.", "trouble.store": "Its memory of events was damaged (%s).", "trouble.disk": "Its disk is nearly full: %s free.",
		"trouble.clock": "Its clock is wrong by %s.", "trouble.camera": "Its camera does not work (%s).", "trouble.hot": "It is too hot: %s.",
		"trouble.memory": "It has little memory left: %s.", "trouble.certificate": "Its certificate runs out on %s and was not renewed.",
		"trouble.waiting": "%s events wait to be sent.", "trouble.rolled_back": "It went back to the content before (%s).",
		"trouble.not_updated": "It did not take the new content (%s).", "trouble.update_waits": "New content waits for %s until nobody is there.",
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
		"waitingkiosks": "等待批准接入的导览机", "typecode": "请查看导览机屏幕上的代码，并在本机输入：",
		"replaces": "将取代同名的导览机（--replace）", "fingerprint": "本中枢的指纹，请与导览机上的核对：",
		"camera": "摄像头", "camera.ready": "正常", "camera.init": "启动中", "camera.alert": "故障", "camera.none": "无", "attended": "有人使用", "screenshot": "屏幕",
		"trouble.two_kiosks": "有两台机器使用这台导览机的名称和证书。请关闭其中一台并重新登记。",
		"trouble.lost":       "已失联 %s。请检查电源和网络。", "trouble.switched_off": "已于 %s 前关机。",
		"trouble.silent": "已连接，但 %s 没有消息。", "trouble.store": "其记录存储曾损坏（%s）。", "trouble.disk": "磁盘将满：剩余 %s。",
		"trouble.clock": "时钟误差 %s。", "trouble.camera": "摄像头不工作（%s）。", "trouble.hot": "温度过高：%s。",
		"trouble.memory": "剩余内存很少：%s。", "trouble.certificate": "证书将于 %s 到期，尚未续期。",
		"trouble.waiting": "有 %s 条记录等待发送。", "trouble.rolled_back": "已退回之前的内容（%s）。",
		"trouble.not_updated": "未接受新内容（%s）。", "trouble.update_waits": "新内容已等待 %s，直到无人时切换。",
		"type.visit.started": "参观开始", "type.visit.ended": "参观结束", "type.exhibit.seen": "看到展品", "type.photo.unknown": "照片未识别",
		"type.question.answered": "问题已回答", "type.question.unanswered": "问题未能回答", "type.outbox.lost": "记录丢失",
	},
}
