package ingest

import (
	"fmt"
	"strings"
	"time"
)

func chinese() wording {
	spans := func(ss []span) string {
		var parts []string
		for _, s := range ss {
			part := fmt.Sprintf("%s至%s", s.open, s.close)
			if s.last != "" {
				part += fmt.Sprintf("（%s停止入场）", s.last)
			}
			parts = append(parts, part)
		}
		return strings.Join(parts, "和")
	}
	why := func(reason string) string {
		if reason == "" {
			return ""
		}
		return fmt.Sprintf("（%s）", reason)
	}
	return wording{
		weekday:   [7]string{"星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"},
		headHours: "开放时间", headClosures: "节假日开放安排", headTickets: "门票价格", headContact: "地址和联系方式",
		headRules: "参观须知", headGallery: "关于本馆", headFacts: "展品信息",

		daysFromTo: func(from, to string) string { return from + "至" + to },
		daysAnd:    func(a, b string) string { return a + "和" + b },
		openOn:     func(days string, ss []span) string { return fmt.Sprintf("%s开放时间为%s。", days, spans(ss)) },
		closedOn:   func(days string) string { return days + "闭馆。" },
		openSummary: func(name string, parts []string) string {
			return name + "的开放时间：" + strings.Join(parts, "；") + "。"
		},
		openPart: func(days string, ss []span) string { return days + spans(ss) },
		closedDate: func(d time.Time, reason string) string {
			return fmt.Sprintf("%s闭馆%s。", chineseDate(d), why(reason))
		},
		openDate: func(d time.Time, s span, reason string) string {
			return fmt.Sprintf("%s开放时间为%s%s。", chineseDate(d), spans([]span{s}), why(reason))
		},
		tickets: func(prices [][2]string) string {
			var parts []string
			for _, p := range prices {
				parts = append(parts, p[0]+"："+p[1])
			}
			return "门票价格——" + strings.Join(parts, "；") + "。"
		},
		address: func(a string) string { return "地址：" + stopZH(a) },
		phone:   func(p string) string { return fmt.Sprintf("电话：%s。", p) },
		where: func(name, where, hall string) string {
			switch {
			case where == "" && hall == "":
				return ""
			case where == "":
				return fmt.Sprintf("%s在%s。", name, hall)
			case hall == "" || strings.Contains(where, hall):
				return fmt.Sprintf("%s：%s", name, stopZH(where))
			}
			return fmt.Sprintf("%s：%s（%s）。", name, strings.TrimRight(where, "。"), hall)
		},
		stepFree: "无台阶，可无障碍到达。",
		when:     func(name, when string) string { return fmt.Sprintf("%s：%s", name, stopZH(when)) },
		lasts: func(minutes int, hall string) string {
			switch {
			case minutes > 0 && hall != "":
				return fmt.Sprintf("时长%d分钟，地点在%s。", minutes, hall)
			case minutes > 0:
				return fmt.Sprintf("时长%d分钟。", minutes)
			case hall != "":
				return fmt.Sprintf("地点在%s。", hall)
			}
			return ""
		},
		room:      func(number string) string { return number + "号展厅" },
		hallFloor: func(name string, floor int) string { return fmt.Sprintf("%s在%d层。", name, floor) },
		hallShows: func(exhibits []string) string { return "这里展出：" + strings.Join(exhibits, "、") + "。" },
		named: func(title, label string) string {
			if label == "" {
				return title
			}
			return fmt.Sprintf("%s（%s）", title, label)
		},
		overview: func(name string, halls []string, exhibits int) string {
			if len(halls) == 0 {
				return fmt.Sprintf("%s共展出%d件展品。", name, exhibits)
			}
			return fmt.Sprintf("%s有%d个展厅，共展出%d件展品：%s。", name, len(halls), exhibits, strings.Join(halls, "、"))
		},
		exhibitPlace: func(title, label, hall string) string {
			switch {
			case label != "" && hall != "":
				return fmt.Sprintf("《%s》是%s号展品，位于%s。", title, label, hall)
			case label != "":
				return fmt.Sprintf("《%s》是%s号展品。", title, label)
			case hall != "":
				return fmt.Sprintf("《%s》位于%s。", title, hall)
			}
			return fmt.Sprintf("这件展品是《%s》。", title)
		},
		maker:     func(s string) string { return "作者：" + stopZH(s) },
		date:      func(s string) string { return "年代：" + stopZH(s) },
		materials: func(s string) string { return "材质：" + stopZH(s) },
		accession: func(s string) string { return fmt.Sprintf("藏品编号：%s。", s) },
		credit:    func(s string) string { return "来源：" + stopZH(s) },
		sentence:  stopZH,
		between:   "",

		keywordsHours:    []string{"几点", "开门", "关门", "开馆", "闭馆", "营业时间", "最晚入场", "周一", "周二", "周三", "周四", "周五", "周六", "周日", "周末", "今天", "明天"},
		keywordsClosures: []string{"节假日", "假期", "放假", "闭馆", "休馆", "春节", "国庆", "元旦", "特殊开放时间"},
		keywordsTickets:  []string{"多少钱", "门票", "票价", "买票", "购票", "收费", "免费", "优惠", "学生票", "儿童票", "半价"},
		keywordsContact:  []string{"地址", "电话", "怎么走", "怎么去", "联系"},
		keywordsRules:    []string{"规定", "可以拍照吗", "允许", "禁止", "闪光灯", "饮食", "吃东西", "背包", "触摸", "宠物"},
		keywordsGallery:  []string{"本馆", "博物馆", "美术馆", "展馆", "几个展厅", "多少展品", "几件", "展厅", "楼层", "地图"},
		keywordsFacts:    []string{"作者是谁", "谁做的", "谁画的", "艺术家", "哪一年", "年代", "什么材料", "材质", "用什么做的", "编号"},
		keywordsHall:     []string{"展厅", "楼层", "几楼"},
		keywordsEvent:    []string{"活动", "今天", "讲座", "导览"},
	}
}

func chineseDate(d time.Time) string {
	return fmt.Sprintf("%d年%d月%d日", d.Year(), d.Month(), d.Day())
}

// stopZH ends a Chinese text with a full stop where it has no end of its own.
func stopZH(s string) string {
	if s == "" || strings.HasSuffix(s, "。") || strings.HasSuffix(s, "！") || strings.HasSuffix(s, "？") || strings.HasSuffix(s, "。）") {
		return s
	}
	return strings.TrimSuffix(s, ".") + "。"
}
