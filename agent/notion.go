package agent

import (
	"regexp"
	"strings"

	"docent/agent/internal/words"
)

// notion is a thing visitors ask for in many words: "Where are the loos", "洗手间在哪". It joins the words of both
// languages, so that a question is matched by what it means. Notions of the house are not asked of an exhibit.
type notion struct {
	id    string
	house bool   // it is asked of the house, not of an exhibit
	words string // in both languages, as listed
	stems []string
	han   []string
}

// notions is the whole list. English words are given in their base form; forms that differ by more than their ending
// are listed. A word may stand in one notion only.
var notions = []notion{
	newNotion("animal", false, "dog pet animal", "狗 犬 宠物 动物"),
	newNotion("baby", true, "baby infant nappy diaper nurse nursing feed breastfeed breastfeeding", "宝宝 婴儿 尿布 母婴 哺乳 喂奶"),
	newNotion("hall", false, "hall room floor", "展厅 厅 楼层 几楼 几层"),
	newNotion("hours", true, "open opening close closing hours shut", "下班 休馆 开放 开门 关门 闭馆 开馆 营业 关闭 打烊 闭门"),
	newNotion("young", false, "child kid teenager teen youth son daughter grandson granddaughter toddler", "儿童 小孩 孩子 小朋友 青少年 未成年 儿子 女儿"),
	newNotion("price", true, "cost price ticket fee admission pay free discount concession charge", "门票 票价 价格 多少钱 收费 免费 费用 付钱 付费 要钱 收钱 花钱 买票 购票 优惠 成人票 学生票 儿童票 家庭票 团体票 年票"),
	newNotion("senior", false, "senior pensioner elderly concession", "老人 老年人 长者 老年票 岁以上"),
	newNotion("worth", false, "worth value", "价值 值钱 造价 身价"),
	newNotion("toilet", true, "toilet restroom bathroom washroom wc loo lavatory pee wee", "洗手间 厕所 卫生间 盥洗室 男厕所 女厕所 男厕 女厕 男洗手间 女洗手间"),
	newNotion("food", true, "cafe coffee food eat drink restaurant lunch snack sandwich picnic menu meal", "咖啡厅 咖啡馆 咖啡 餐厅 餐饮 儿童餐 套餐 早餐 午餐 晚餐 点心 小吃 甜品 吃饭 吃东西 吃的 饮料 饮食 喝水"),
	newNotion("cloakroom", true, "cloakroom locker bag backpack coat luggage suitcase umbrella", "寄存 存包 衣帽 行李 储物柜 储物 背包 雨伞 存放 大衣 外套"),
	newNotion("wheelchair", true, "wheelchair", "轮椅"),
	newNotion("pushchair", true, "stroller pram pushchair buggy", "婴儿车 推车 童车"),
	newNotion("lift", true, "lift elevator", "电梯"),
	newNotion("access", true, "wheelchair accessible accessibility disabled lift elevator ramp stroller pram pushchair", "轮椅通道 无障碍通道 轮椅 无障碍 电梯 坡道 婴儿车 推车 残疾 残障"),
	newNotion("photography", true, "photograph photography photo camera flash selfie tripod", "拍照 照相 摄影 闪光灯 相机 自拍 拍摄 三脚架"),
	newNotion("tour", true, "tour workshop event talk lecture activity", "导览 工作坊 活动 讲座 参观团 导赏"),
	newNotion("shop", true, "shop store souvenir gift buy sell sale", "商店 纪念品 礼品 出售 买到 能买 购买 卖"),
	newNotion("parking", true, "parking car garage", "停车场 停车位 停车 车位"),
	newNotion("transport", true, "bus metro subway tram train station", "公交车 公交 地铁 电车 火车站 车站 交通"),
	newNotion("address", true, "address located location directions", "地址"),
	newNotion("staff", true, "staff employee", "员工 工作人员"),
	newNotion("founding", true, "founded founder establish", "成立 创办 创立 创建 建馆 开馆"),
	newNotion("touch", true, "touch", "触摸 摸 碰"),
	newNotion("telephone", true, "phone telephone contact", "电话 联系"),
	newNotion("booking", true, "booking reservation sign", "预约 预订 报名"),
	newNotion("visit", true, "visit", "看完 参观 逛完"),
	newNotion("rest", true, "rest sit seat bench chair stool", "休息 座位 椅子 坐下 凳"),
	newNotion("rules", true, "allow permit forbid forbidden prohibit", "允许 禁止 规定 须知 准许"),
	newNotion("aids", true, "braille audioguide", "盲文 手语 助听 语音导览"),
	newNotion("wifi", true, "wifi wi-fi internet wireless", "无线 网络 上网"),
	newNotion("make", false, "make create creator creation design designer draw paint painter artist author maker construct construction build builder", "制作 创作 作者 画家 设计 设计师 绘制 构造 创造 建造 画的 画出 画出来 做的 做出 做出来 做成 制成 制造"),
	newNotion("discover", false, "discover discovery discoverer find finder invent inventor invention devise introduce publish propose originate describe", "想出来 想出 发现 发明 提出 发表 首创 引入 研究出 描述"),
	newNotion("arise", false, "arise emerge originate", "形成 产生 来的"),
	newNotion("lack", false, "missing lose lack", "少了 没了 缺了 不见了 丢了 缺失 走丢 走散 失散"),
	newNotion("name", false, "name call title term word", "名字 名称 叫做 得名 命名 名称"),
	newNotion("meaning", false, "mean symbol symbolize symbolise symbolic", "意思 含义 寓意 象征 代表 意味 预示"),
	newNotion("award", false, "win award receive prize", "获得 赢得 获奖 得奖 奖金 奖"),
	newNotion("material", false, "material medium technique ink paper canvas wood", "材料 材质 技术 技法 工艺 墨 纸 画布 木"),
	newNotion("size", false, "size big large tall wide dimension height width", "大小 尺寸 高度 宽度"),
	newNotion("birth", false, "birth birthplace birthday", "出生 生于 诞生 生在"),
	newNotion("death", false, "die death dead", "去世 逝世 死于 死去 死亡"),
	newNotion("weight", false, "weight weigh heavy kilogram", "重量 多重 公斤"),
	newNotion("use", false, "usage application apply purpose practical useful", "用途 用处 应用 用来 用于 用过 用它 用在 用到 有用 利用"),
	newNotion("color", false, "color", "颜色 色彩 上色"),
	newNotion("nature", false, "nature natural naturally wild", "自然 大自然 自然界"),
	newNotion("example", false, "example instance", "例子 例如 比如"),
	newNotion("history", false, "history historical origin past", "历史 起源 由来 来历"),
}

func newNotion(id string, house bool, english, chinese string) notion {
	n := notion{id: id, house: house, words: english + " " + chinese, han: strings.Fields(chinese)}
	for w := range strings.FieldsSeq(english) {
		for _, part := range words.LatinWords(w) {
			n.stems = append(n.stems, words.Stem(part))
		}
	}
	return n
}

// makers are the words by which the catalogue facts name who an exhibit goes back to. They half answer who discovered
// it: the maker of a pattern is who made it known.
var makers = newNotion("makers", false, "make maker artist author", "作者")

// phraseNotions are notions asked for in several words, whose parts mean other things.
var phraseNotions = []struct {
	words  *regexp.Regexp // on folded text
	notion string
}{
	{regexp.MustCompile(`\bused? (for|in|by)\b|\buses? of\b|\bgood for\b|\bwhat uses?\b|\busing it\b|\buseful\b|有(什么|啥)用(途|处)?`), "use"},
	{regexp.MustCompile(`\bmade (out )?(of|from)\b|\bwhat materials?\b`), "material"},
	{regexp.MustCompile(`\bhow (big|large|tall|wide|high|deep) (is|are|was)\b|多大`), "size"},
	{regexp.MustCompile(`\bwhere (is|are) (the |this |your )?(gallery|museum|you)\b|(馆|你们)在哪|怎么(去|到)(你们)?.{0,3}馆`), "address"},
	{regexp.MustCompile(`\bwheelchair[- ](access\w*|users?|friendly|ramps?)\b|轮椅(的人)?(能不能|可不可以|能否|能|可以|方便|好)(推|坐着)?(进|通行|走|参观|上楼|过)(来|去|馆|出)?`), "access"},
	{regexp.MustCompile(`停车费`), "parking"},
	{regexp.MustCompile(`\b(hearing|induction|audio) loops?\b|\bhearing aids?\b|\bsign[- ]language\b|\baudio (guides?|descriptions?)\b|感应线圈`), "aids"},
	{regexp.MustCompile(`\b(can|could|may) (i|we|you|kids|children|my [a-z]+) (try|have a go at|play with) (it|this|that|one|them)\b( out)?( (myself|ourselves|themselves))?|(可以|能|能不能|可不可以)(自己)?(试一?试|试一?下|玩一?玩|玩一?下|动手|动一?动手)`), "touch"},
	{regexp.MustCompile(`\b(guide|service|assistance|hearing|seeing[- ]eye) dogs?\b`), "animal"},
	{regexp.MustCompile(`\b(until when|till when|how late|how long)\b.{0,12}\bstay\b|\bhow late\b`), "hours"},
	{regexp.MustCompile(`\b(cheapest|cheaper|right|best) tickets?\b|\btickets?\b.{0,20}\b(cheap|cheapest|cheaper)\b|最(便宜|划算|合算)的?票|票.{0,6}最?(便宜|划算|合算)`), "price"},
	{regexp.MustCompile(`\b(son|daughter|grandson|granddaughter|child|kid) (is|'s|who is) (1[0-7]|[1-9]|two|three|four|five|six|seven|eight|nine|ten|eleven)\b`), "young"},
	{regexp.MustCompile(`\b(the|an) originals?\W*$|\boriginal (painting|picture|work|artwork|print|drawing)s?\b|\b(is|are) (it|this|that|these|they) (an? )?(original|real|genuine|authentic)s?\b|原作|真迹|真品|复制品|仿品|赝品|原件`), "material"},
	{regexp.MustCompile(`吃(东西|饭|零食|午餐|早餐|午饭)|喝(东西|饮料|咖啡)`), "food"},
	{regexp.MustCompile(`(哪一?天|星期几|什么时候)(休息|不开|闭馆|休馆)`), "hours"},
	{regexp.MustCompile(`\b(to|must i|do i) (book|reserve)\b|\b(book|reserve) (a|the|in)\b|\bneed (a )?(booking|reservation)\b|\bsign up\b`), "booking"},
	{regexp.MustCompile(`\bhow long\b.*\b(visit|everything|it all|all of it|whole (museum|gallery)|need)\b|(全部|都)?(看完|逛完|参观).{0,6}(多久|多长时间)|(多久|多长时间).{0,6}(看完|逛完|参观)`), "visit"},
	{regexp.MustCompile(`\b(can|could|may|do|to|should) (i|we|you )?park\b|\bpark (my|our|the|a) \w+`), "parking"},
	{regexp.MustCompile(`\b(did|was|were) .{1,40} cost\b|\bcost to build\b|\bworth\b|值多少|花了多少`), "worth"},
	{regexp.MustCompile(`\bhow much (is|are) (an?|the|one|entry|entrance|admission)\b`), "price"},
	{regexp.MustCompile(`(坐|乘)?(几|哪)路(公交)?车?|坐什么车|怎么来|怎么到这里`), "transport"},
	{regexp.MustCompile(`\bhow much (is it |does it cost |do you charge |would it be |is entry |is admission )?for\b`), "price"},
	{regexp.MustCompile(`\b(7\d|8\d|9\d|6[5-9])[- ]?years?[- ]old\b|\bover 6\d\b|(7\d|8\d|9\d|6[5-9])岁`), "senior"},
	{regexp.MustCompile(`\b(1[0-7]|[1-9]|two|three|four|five|six|seven|eight|nine|ten|eleven)[- ]?years?[- ]olds?\b|(^|\D)(1[0-7]|[1-9])岁`), "young"},
	{regexp.MustCompile(`\b(when|which year|what year|who|how long ago)\b.{0,20}\b(museum|gallery|house|place)\b.{0,8}\b(founded|established|set up|opened|started)\b|\b(founded|established|started) (this|the|your) (museum|gallery|house)\b|(馆|这里)(是)?(哪一?年|什么时候|谁)(开|建|办|成立|创办|创立|建立|创建)(馆|立|起)?的`), "founding"},
	{regexp.MustCompile(`\bwhat('s| is) (on|happening)\b|有什么活动`), "tour"},
	{regexp.MustCompile(`\bstep[- ]free\b|\bwithout (any )?steps\b|无台阶`), "access"},
	{regexp.MustCompile(`\bstands? for\b`), "meaning"},
	{regexp.MustCompile(`谁(做|画|造|写|拍|刻|雕|烧|织|绣)(出|成)?(来)?的?`), "make"},
	{regexp.MustCompile(`\b(come|comes|came|get|gets|got) (its|their|the) names?\b|\bnames?( \w+)? comes? from\b|\bcalled (that|so|this|like that)\b|\bnamed after\b`), "name"},
}

// measures are phrases that ask for a number; the adjective in them is not what the number is of.
var measures = regexp.MustCompile(`\bhow (long|old|far|many|much|often)\b|\b(what|which) (time|year|date|day|century)\b|多少年历史了?|多少年了|年份`)

var lastWord = regexp.MustCompile(`\w+\W*$`)

// takePhrases takes the notions asked for in several words out of folded text.
func takePhrases(folded string) (rest string, found []*notion) {
	for _, p := range phraseNotions {
		if p.words.MatchString(folded) {
			folded = p.words.ReplaceAllString(folded, " ")
			found = append(found, notionByID(p.notion))
		}
	}
	if titleYear.MatchString(folded) && !anyYear.MatchString(folded) {
		folded = lastWord.ReplaceAllString(folded, " ")
	}
	return measures.ReplaceAllString(howMany.ReplaceAllString(folded, " "), " "), found
}

// in reports whether a text has a word of the notion.
func (n *notion) in(t words.Terms) bool { return unit{stems: n.stems, han: n.han}.in(t) }

func notionByID(id string) *notion {
	for i := range notions {
		if notions[i].id == id {
			return &notions[i]
		}
	}
	return nil
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
