package memory

import "regexp"

const (
	enCount = `\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|forty-five|forty five|fifty|sixty|ninety|half an|an hour and a half`
	zhCount = `\d{1,3}|[一二两三四五六七八九十]{1,3}|半`
	enClock = `(\d{1,2})(?:[:.](\d{2}))?(?: ?(a\.?m|p\.?m|o'clock)\b\.?)?`
	zhClock = `(上午|早上|下午|傍晚|晚上|中午)?(\d{1,2}|[一二两三四五六七八九十]{1,3})(?:[:：](\d{2})|点(?:钟)?(半|一刻|三刻|[一二三四五六七八九十\d]{1,3}分?)?)`
	kids    = `kids?|child|children|sons?|daughters?|toddlers?|bab(?:y|ies)|grand(?:son|daughter|child|children|kids)`
	zhKids  = `孩子|小孩|小朋友|宝宝|儿子|女儿|孙子|孙女|外孙|娃`
)

func re(s string) *regexp.Regexp { return regexp.MustCompile(s) }

var rules = []rule{
	// Time left.
	{is: re(`(?i)\b(?:i|we)(?:'ve| have)?(?: only| just)?(?: got| have)?(?: only| just| about| around| another| roughly| at most)* ?\b(` + enCount + `) ?(?:more )?(minutes?|mins?|hours?|hrs?|h)\b( and a half)?`), needs: re(`(?i)\b(?:have|'ve|got|left)\b`), statement: true, plain: true, make: timeLeft},
	{is: re(`(?i)\b(?:only|just|about)?\s*(` + enCount + `) (minutes?|mins?|hours?|hrs?)( and a half)? (?:left|remaining|to go)\b`), statement: true, plain: true, make: timeLeft},
	{is: re(`(?:还有|还剩|只剩|只有|就剩|剩下|我们?有|咱们?有|(?:^|[，,。；;、\s])(?:大概|大约|差不多)?有)(?:下|大概|大约|差不多|不到)*(` + zhCount + `)个?(半)?(小时|钟头|分钟|分|刻钟)`), statement: true, plain: true, make: timeLeftZH},
	{is: re(`(?i)\b(?:(?:i|we)(?:'ve got to| have to| need to| must| should|'ll have to) (?:leave|go|be out|be back|catch|get to)\b.{0,30}?|(?:our|my) (?:train|bus|coach|taxi|flight|plane|ferry|parking|lift|ride)\b.{0,20}?) (?:at|by|before|until) ` + enClock), statement: true, plain: true, make: leaveAt},
	{is: re(`(?:我|咱)们?(?:得|要|必须|需要|最晚)*(?:在|到)?` + zhClock + `(?:之前|以前|前)?(?:就|得|要|必须)*(?:走|离开|出发|赶|上车|回去)`), statement: true, plain: true, make: leaveAtZH},
	// Bookings.
	{is: re(`(?i)\b(tour|table|workshop|slot|tickets?|booking|reservation|appointment|lesson)\b.{0,30}? (?:at|for|is|starts|begins) (?:at )?(?:the )?` + enClock), needs: ourselv, statement: true, make: booking},
	{is: re(`(?i)\b(?:the|a|our|my) ` + enClock + ` (tour|table|workshop|slot|tickets?|booking|reservation|appointment|lesson)\b`), needs: ourselv, statement: true, make: bookingBefore},
	{is: re(zhClock + `.{0,6}?(导览|讲解|预约|门票|餐位|餐厅|工作坊|活动|课)`), needs: re(`我|咱|约了|订了|预`), statement: true, make: bookingZH},
	// Access.
	{is: re(`(?i)\bwheelchair\b`), needs: re(`(?i)\b(?:(?:i|we|he|she|my \w+|our \w+)(?:'m|'re|'s| am| are| is)? (?:(?:also |both )?(?:in|on|using) )(?:a|an|his|her|my|the)|(?:i|we|he|she|my \w+|our \w+)(?: do(?:es)?n't| do not| does not| no longer)? (?:use|uses|need|needs|have|has|brought)\b|with (?:a|my|our|his|her) wheelchair|(?:i'm|i am|am|is|are) a? ?wheelchair user)`), statement: true, make: need("wheelchair")},
	{is: re(`坐.{0,3}轮椅|用.{0,2}轮椅|推.{0,3}轮椅|需要轮椅|轮椅了`), needs: re(`我|咱|她|他|妈|爸|爷|奶|老人`), statement: true, make: need("wheelchair")},
	{is: re(`(?i)\b(?:can't|cannot|can not|unable to|hard for (?:me|us) to|trouble|difficulty|struggle to|not able to) (?:walk|walking|climb|climbing|stand|standing|manage|do|use|take)\b(?: \w+){0,3}`), needs: ourselv, plain: true, statement: true, make: need("walking")},
	{is: re(`(?:走不动|走不了|走不远|不能久站|不能爬楼|爬不了楼|腿脚不(?:便|方便|好)|膝盖不好|不能走太?远)`), plain: true, make: need("walking")},
	{is: re(`(?i)\b(?:need|needs|prefer|want|have to have)\b.{0,15}\b(?:step[- ]free|no (?:stairs|steps)|(?:a |the )?(?:lift|elevator|ramp))\b`), needs: ourselv, plain: true, statement: true, make: need("step_free")},
	{is: re(`(?:需要|要|想)(?:坐|走|乘)?(?:电梯|无障碍|坡道)`), needs: re(`我|咱`), statement: true, plain: true, make: need("step_free")},
	{is: re(`(?i)\b(?:pram|stroller|buggy|pushchair)\b`), needs: re(`(?i)\b(?:i|we|i've|we've|i'm|we're|my|our)\b`), statement: true, make: need("stroller")},
	{is: re(`(?:婴儿车|童车|推车)`), needs: re(`(?:我|咱).*(?:推|带|有)|(?:推|带)着`), statement: true, make: need("stroller")},
	{is: re(`(?i)\b(?:i'm|i am|we're|(?:my|our) \w+ is)(?: almost| nearly| partly| partially)? (?:blind|visually impaired)\b|\b(?:i|we) (?:can't|cannot|don't|do not) see (?:very |so )?(?:well|much|clearly)\b`), plain: true, statement: true, make: need("sight")},
	{is: re(`(?:我|咱).{0,6}(?:看不清|看不见|视力不好|视障|失明|眼睛不好|盲人)`), plain: true, statement: true, make: need("sight")},
	{is: re(`(?i)\b(?:i'm|i am|we're|(?:my|our) \w+ is)(?: almost| nearly| partly| a bit)? (?:deaf|hard of hearing)\b|\b(?:i|we) (?:can't|cannot|don't|do not) hear (?:very |so )?(?:well|much)\b|\b(?:i|we) (?:use|wear|have) (?:a )?hearing aids?\b`), plain: true, statement: true, make: need("hearing")},
	{is: re(`(?:我|咱).{0,6}(?:听不清|听不见|听力不好|耳朵不好|耳背|听障|聋人|是聋|戴助听器)`), plain: true, statement: true, make: need("hearing")},
	// Children.
	{is: re(`(?i)\b(?:(\d{1,2}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)[- ]year[- ]olds?|` + kids + `)\b`), needs: re(`(?i)\b(?:(?:i|we)(?:'ve|'m|'re| have| am| are| came| brought)(?: \w+){0,3}?|my|our|bringing) (?:(?:me|us|my|our|a|an|the|two|three|four|some|any|no|small|little|young|\d+) )*(?:\d{1,2}|\w+)?[- ]?(?:` + kids + `|year[- ]old)`), make: children},
	{is: re(`(?:` + zhKids + `)`), needs: re(`(?:我|咱).{0,10}(?:带|领|陪)|(?:带|领|陪)着|我(?:的|们|家)?(?:两个|三个|个)?(?:` + zhKids + `)`), make: childrenZH},
	// Allergies.
	{is: re(`(?i)\ballergic to ([a-z][a-z ,-]{1,60})`), needs: re(`(?i)\b(?:i|i'm|we|we're|my|our|he|he's|she|she's)\b`), statement: true, make: allergies},
	{is: re(`(?i)\b(?:have|has|'ve|'ve got|got|with|my|no) (?:an? )?(?:bad |severe |serious )?([a-z]{3,20}) allerg(?:y|ies)\b`), needs: re(`(?i)\b(?:i|i'm|i've|we|we've|my|our|he|she)\b`), make: allergies},
	{is: re(`对(.{1,14}?)(?:都|也|严重|有点|很|不|已经|会)*过敏`), statement: true, make: allergies},
	{is: re(`(?:我|咱们?|孩子|儿子|女儿|妈妈|爸爸)([^对不没是有]{1,4})过敏`), statement: true, make: allergies},
	// Names.
	{is: re(`\b(?i:my name is|my name's|i'm called|you can call me|please call me|call me) (\p{L}[\p{L}'-]{0,30}(?: \p{Lu}[\p{L}'-]{0,30})?)`), make: named}, // what follows a name in small letters is not of it
	{is: re(`(?:我叫|叫我|我的名字是|我的名字叫|我名字叫)([\p{Han}A-Za-z·]{1,10}?)(?:吧|就好|就行|就可以|$)`), make: named},
	{is: re(`(?i)\bforget my name\b|忘(?:了|掉|记)我的名字`), plain: true, make: func([]string, bool, Said) []Draft { return []Draft{fact(KindName, "name", "", "", true)} }},
	// To-dos.
	{is: re(`(?i)\b(?:remind me to|don't let me forget to|(?:i|we)(?: also| still| really)? (?:want|need|have|hope|plan|would like) to(?: also| still)? (?:see|visit|buy|find|look at|go to|get)|(?:i|we)'d(?: also| still)? like to (?:see|visit|buy|find|look at|go to|get)) (.{2,80})`), plain: true, statement: true, make: todo},
	{is: re(`(?:提醒我(?:们)?|别忘了|(?:我|咱)们?(?:还|也|一会儿?|待会儿?|等下|之后|最后)*(?:想|要)(?:再)?(?:去?看看?|去|买|参观))(.{2,40})`), plain: true, statement: true, make: todo},
	// Interests.
	{is: re(`(?i)\b(?:i|we)(?: do)?( don't| do not|'m not|'re not)?(?: really| also| both| all| especially)* (?:love|like|enjoy|adore|prefer|hate|dislike|am interested in|are interested in|interested in) (.{2,40})`), statement: true, make: interestEN},
	{is: re(`(?i)\b(?:i'm|i am|we're|we are)( not)?(?: really| also| both| most| very| especially)* (?:interested in|keen on|fond of|into) (.{2,40})`), statement: true, make: interestEN},
	{is: re(`(?:我|咱)们?(?:很|非常|特别|最|也|都|比较|更|真的?|还)*(不)?(?:太|怎么|是很|大)*(?:喜欢|爱看|讨厌)(.{1,15})`), statement: true, make: interestZH},
	{is: re(`(?:我|咱).{0,4}对(.{1,15}?)(?:很|非常|特别|比较|更|最|都|也)*(不|没)?(?:太|怎么)*(?:感兴趣|有兴趣|兴趣)`), statement: true, make: interestInZH},
	// How to be answered.
	{is: re(`(?i)\b(?:keep (?:it|them|answers|the answers|your answers)|(?:i|we) (?:prefer|like|want)|please give(?: me| us)?)(?: a bit| very)? (short|shorter|brief|simple|simpler|detailed|longer|long)\b`), plain: true, make: style},
	{is: re(`(?:以后|之后|请|都|尽量|回答|讲解|解释)+.{0,4}?(简短|简单|短|详细|通俗)(?:一?点|一些|些)`), plain: true, make: style},
}
