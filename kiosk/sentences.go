package kiosk

import "golang.org/x/text/language"

// sentence is what a visitor reads about a problem.
type sentence struct{ title, detail string }

// sentenceLanguages are the languages of sentences; the first is used where a visitor's own is not among them.
var sentenceLanguages = []language.Tag{language.English, language.Chinese}

// sentences are what visitors read, by code, or code and variant, in English and Chinese.
var sentences = map[string][2]sentence{
	string(codeNotAPicture): {
		{"That is not a picture", "This file cannot be read as a picture. Please send a photo as JPEG, PNG or WebP."},
		{"这不是图片", "无法将此文件识别为图片。请使用 JPEG、PNG 或 WebP 格式的照片。"},
	},
	string(codeNotAPicture) + ".heic": {
		{"This kind of photo cannot be read", "Your phone saved the photo as HEIC. Please take it from the web page's camera, or send it as JPEG."},
		{"无法读取此格式的照片", "您的手机以 HEIC 格式保存了照片。请改用网页拍照，或以 JPEG 格式发送。"},
	},
	string(codePictureTooLarge): {
		{"That picture is too large", "Please send a photo of at most 20 MB and 50 megapixels."},
		{"图片太大", "请使用不超过 20 MB、5000 万像素的照片。"},
	},
	string(codePictureTooSmall): {
		{"That picture is too small", "There is too little to see in it. Please send a larger photo."},
		{"图片太小", "图片太小，看不清内容。请使用更大的照片。"},
	},
	string(codePictureBroken): {
		{"That picture is damaged", "Part of the photo is missing. Please send it again, or take a new one."},
		{"图片已损坏", "照片不完整。请重新发送，或重新拍摄。"},
	},
	string(codeQuestionEmpty): {
		{"There is no question yet", "Please type what you would like to know."},
		{"还没有问题", "请输入您想了解的内容。"},
	},
	string(codeQuestionTooLong): {
		{"That question is very long", "Please ask in at most 500 characters."},
		{"问题太长", "请将问题控制在 500 个字以内。"},
	},
	string(codeTooManyQuestions): {
		{"A short break, please", "Many questions were asked within a minute. Please ask again in a moment."},
		{"请稍等片刻", "这一分钟里的提问较多，请稍后再问。"},
	},
	string(codeNoSuchVisit): {
		{"Your visit has ended", "Please touch the screen to start again."},
		{"您的参观已结束", "请触摸屏幕重新开始。"},
	},
	string(codeNoSuchVisit) + ".phone": {
		{"This code is over", "Each code is good for one photo within two minutes. Please scan the new one on the screen."},
		{"此二维码已失效", "每个二维码只能在两分钟内传一张照片。请扫描屏幕上新的二维码。"},
	},
	string(codeBusy) + ".pin": {
		{"Too many tries", "Please wait half a minute and try again."},
		{"尝试次数过多", "请等半分钟后再试。"},
	},
	string(codeForbidden) + ".pin": {
		{"That is not the PIN", "Please try again."},
		{"PIN 不正确", "请再试一次。"},
	},
	string(codeNoSuchExhibit): {
		{"No such exhibit", "This exhibit is not in the gallery at the moment. Please choose another one."},
		{"没有这件展品", "馆内目前没有这件展品。请选择其他展品。"},
	},
	string(codeNoCamera): {
		{"The camera is not available", "You can find the exhibit by its number or by its name instead."},
		{"相机暂不可用", "您可以通过展品编号或名称查找。"},
	},
	string(codeTooDark): {
		{"It is too dark", "Please move into more light and try again."},
		{"光线太暗", "请移到光线更好的地方再试一次。"},
	},
	string(codeBlurred): {
		{"The photo is blurred", "Please hold still for a moment and try again."},
		{"照片模糊", "请保持静止片刻再试一次。"},
	},
	string(codePassNone): {
		{"That is not a visit pass", "Please hold up the code that a kiosk of this house has shown you, or type its short code."},
		{"这不是参观通行码", "请出示本馆导览机显示过的二维码，或输入短码。"},
	},
	string(codePassForged): {
		{"This pass is not from this house", "It was not given out by one of our kiosks. You can simply begin a new visit."},
		{"此通行码不是本馆发出的", "它不是由本馆的导览机发出的。您可以直接开始新的参观。"},
	},
	string(codePassExpired): {
		{"This pass has run out", "What was kept for it is gone. You can simply begin a new visit."},
		{"此通行码已过期", "为它保存的内容已经删除。您可以直接开始新的参观。"},
	},
	string(codePassForgotten): {
		{"This visit was forgotten", "You asked us to forget it, and we did. You can simply begin a new visit."},
		{"这次参观已被忘记", "我们已按您的要求忘记了它。您可以直接开始新的参观。"},
	},
	string(codePassUnknown): {
		{"Your visit has not arrived yet", "The kiosk you were at could not send it so far. Please try again in a moment, or begin a new visit."},
		{"您的参观尚未传到这里", "您之前使用的导览机还没能把它传过来。请稍后再试，或开始新的参观。"},
	},
	string(codeNoCode): {
		{"This code is not known", "Please check what you typed. A short code works for ten minutes; the kiosk you come from shows a new one."},
		{"没有找到这个短码", "请检查输入是否正确。短码十分钟内有效，可在原来的导览机上取得新的短码。"},
	},
	string(codeHubAway): {
		{"The kiosks cannot reach each other at the moment", "Your visit is safe where it is. Please try again in a few minutes, or begin a new visit here."},
		{"导览机之间暂时无法联系", "您的参观内容仍然完好。请过几分钟再试，或在这里开始新的参观。"},
	},
	string(codeBusy) + ".code": {
		{"Too many tries", "Please wait ten seconds and type the code again."},
		{"尝试次数过多", "请等十秒钟后再输入。"},
	},
	string(codeBusy): {
		{"One moment please", "Many visitors are asking at once. Please try again in a few seconds."},
		{"请稍候", "同时使用的访客较多，请过几秒再试。"},
	},
	string(codeNotReady): {
		{"One moment please", "The guide is just getting ready. Please try again soon."},
		{"请稍候", "导览正在准备中，请稍后再试。"},
	},
	string(codeBadRequest): {
		{"That did not work", "This request could not be understood. Please start over."},
		{"操作未成功", "无法理解此请求。请重新开始。"},
	},
	string(codeForbidden): {
		{"Not from here", "This can only be done from the guide's own page."},
		{"无法从此处操作", "此操作只能在导览页面上进行。"},
	},
	string(codeNotFound): {
		{"There is nothing here", "What you are looking for is not here. Please start over."},
		{"这里什么也没有", "找不到您要的内容。请重新开始。"},
	},
	string(codeMethodNotAllowed): {
		{"That does not work here", "This cannot be done with this address. Please start over."},
		{"此处无法这样操作", "此地址不支持该操作。请重新开始。"},
	},
	string(codeChanged): {
		{"That has just changed", "What you see is no longer the latest. Please look again and repeat your change."},
		{"内容刚刚有变", "您看到的已不是最新内容。请查看后重新修改。"},
	},
	string(codeInternal): {
		{"Something went wrong", "It is not your fault. Please try again, or ask the staff."},
		{"出了点问题", "这不是您的问题。请再试一次，或询问工作人员。"},
	},
}

// sentenceFor returns the sentence of a problem in the nearest language to lang that there is.
func sentenceFor(p *problem, lang string) sentence {
	i := nearest(sentenceLanguages, lang)
	if s, ok := sentences[string(p.code)+"."+p.variant]; ok {
		return s[i]
	}
	return sentences[string(p.code)][i]
}
