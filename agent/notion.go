package agent

import (
	"strings"

	"docent/agent/internal/words"
	"docent/localindex/gallery"
)

// notion is a thing visitors ask for in many words: "Where are the loos", "洗手间在哪". It joins the words of both
// languages, so that a question is matched by what it means. Notions of the house belong to domains.
type notion struct {
	id      string
	domains []gallery.Domain
	stems   []string
	han     []string
}

var house = []gallery.Domain{gallery.DomainVenue, gallery.DomainService, gallery.DomainEvent}

// notions is the whole list. English words are given in their base form; forms that differ by more than their ending
// are listed. A word may stand in one notion only.
var notions = []notion{
	newNotion("hours", house, "open opening close closing hours", "开放 开门 关门 闭馆 开馆 营业 关闭 打烊 闭门"),
	newNotion("price", house, "cost price ticket fee admission charge pay free discount concession", "门票 票价 价格 多少钱 收费 免费 费用 买票 优惠 票"),
	newNotion("toilet", house, "toilet restroom bathroom washroom wc loo lavatory", "洗手间 厕所 卫生间 盥洗室"),
	newNotion("food", house, "cafe coffee food eat drink restaurant lunch snack tea", "咖啡 餐厅 餐饮 吃饭 吃东西 饮料 饮食 喝水 茶"),
	newNotion("cloakroom", house, "cloakroom locker bag backpack coat luggage suitcase umbrella", "寄存 存包 衣帽 行李 储物 背包 雨伞 存放"),
	newNotion("access", house, "wheelchair accessible accessibility disabled step-free lift elevator ramp stroller pram pushchair", "轮椅 无障碍 电梯 坡道 婴儿车 推车 残疾 残障"),
	newNotion("photography", house, "photograph photography photo camera flash selfie tripod", "拍照 照相 摄影 闪光灯 相机 自拍 拍摄 三脚架"),
	newNotion("tour", house, "tour guided workshop event programme program talk lecture activity", "导览 工作坊 活动 讲座 参观团 导赏"),
	newNotion("shop", house, "shop store souvenir gift buy", "商店 纪念品 礼品"),
	newNotion("address", house, "address located location directions parking park bus metro subway", "地址 交通 停车 公交 地铁 怎么走"),
	newNotion("telephone", house, "phone telephone contact", "电话 联系"),
	newNotion("wifi", house, "wifi wi-fi internet wireless", "无线 网络 上网"),
	newNotion("make", nil, "make create creator creation design designer draw paint painter artist author maker invent inventor invention discover discovery discoverer find devise construct construction build builder introduce publish publication propose develop developer originate", "制作 创作 作者 画家 设计 设计师 绘制 发明 发现 提出 构造 创造 发表 建造 画的 做的 研究出 引入 首创"),
	newNotion("name", nil, "name call title term meaning mean", "名字 名称 叫做 得名 命名 意思 含义"),
	newNotion("material", nil, "material medium ink paper canvas wood", "材料 材质 墨 纸 画布 木"),
	newNotion("size", nil, "size big large tall wide dimension height width", "大小 尺寸 高度 宽度"),
	newNotion("use", nil, "use usage application apply purpose practical useful", "用途 用处 应用 用来 用于 有什么用 有用"),
	newNotion("color", nil, "color", "颜色 色彩 上色"),
	newNotion("nature", nil, "nature natural", "自然 大自然 自然界"),
	newNotion("example", nil, "example instance", "例子 例如 比如"),
	newNotion("history", nil, "history historical origin past", "历史 起源 由来 来历"),
}

func newNotion(id string, domains []gallery.Domain, english, chinese string) notion {
	n := notion{id: id, domains: domains, han: strings.Fields(chinese)}
	for w := range strings.FieldsSeq(english) {
		for _, part := range words.LatinWords(w) {
			n.stems = append(n.stems, words.Stem(part))
		}
	}
	return n
}

// notionOfStem returns the notion a stem belongs to.
func notionOfStem(stem string) *notion {
	for i := range notions {
		for _, s := range notions[i].stems {
			if s == stem {
				return &notions[i]
			}
		}
	}
	return nil
}

// notionIn finds the longest word of a notion in a chunk of Chinese characters, and where it stands (in bytes).
func notionIn(chunk string) (n *notion, word string, at int) {
	for i := range notions {
		for _, h := range notions[i].han {
			if p := strings.Index(chunk, h); p >= 0 && len(h) > len(word) {
				n, word, at = &notions[i], h, p
			}
		}
	}
	return n, word, at
}
