package ingest

import (
	"strings"

	"docent/localindex/gallery"
)

// serviceWords are the names one service goes by: a visitor asks for the restroom where the plan says toilets.
var serviceWords = [][]string{
	{"toilet", "toilets", "restroom", "bathroom", "washroom", "wc", "loo", "lavatory", "洗手间", "厕所", "卫生间", "盥洗室"},
	{"baby", "nappy", "diaper", "changing", "nursing", "feeding", "母婴室", "哺乳室", "换尿布", "婴儿"},
	{"cafe", "café", "coffee", "tea", "restaurant", "food", "eat", "drink", "snack", "咖啡", "咖啡厅", "餐厅", "吃饭", "喝水", "茶"},
	{"water", "fountain", "bottle", "饮水", "饮水机", "开水", "喝水"},
	{"shop", "store", "souvenir", "gift", "bookshop", "商店", "纪念品", "礼品", "文创", "书店"},
	{"cloakroom", "locker", "lockers", "coat", "bag", "bags", "luggage", "寄存", "存包", "衣帽间", "行李", "储物柜"},
	{"wheelchair", "wheelchairs", "accessible", "accessibility", "disabled", "step-free", "ramp", "轮椅", "无障碍", "残疾人"},
	{"lift", "elevator", "stairs", "电梯", "楼梯", "扶梯"},
	{"pushchair", "stroller", "pram", "buggy", "婴儿车", "推车"},
	{"wifi", "wi-fi", "internet", "wlan", "无线网", "上网", "网络"},
	{"audio", "headphones", "induction", "hearing", "语音导览", "耳机", "助听"},
	{"lost", "found", "失物", "招领", "丢东西"},
	{"first", "aid", "doctor", "medical", "急救", "医务室", "医生"},
	{"information", "desk", "help", "reception", "服务台", "咨询", "问讯", "前台"},
	{"parking", "car", "park", "bicycle", "bike", "停车", "停车场", "自行车"},
	{"cash", "atm", "取款", "提款机"},
	{"seat", "seats", "bench", "sit", "rest", "休息", "座位", "椅子", "休息区"},
}

// serviceKeywords are the other names of a service, told by its id and names.
func serviceKeywords(s gallery.Service) []string {
	words := map[string]bool{}
	text := strings.ToLower(s.ID)
	for _, name := range s.Name {
		text += " " + strings.ToLower(name)
	}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" -,()/，、（）&", r) }) {
		words[w] = true
	}
	var keywords []string
	for _, group := range serviceWords {
		for _, w := range group {
			chinese := w[0] >= 0x80 && w != "café"
			if words[w] || chinese && strings.Contains(text, w) {
				keywords = append(keywords, group...)
				break
			}
		}
	}
	return keywords
}
