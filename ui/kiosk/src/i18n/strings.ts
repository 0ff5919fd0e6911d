import type { Advice } from '../api/contract'

/** The languages that the page itself speaks. Exhibits may have more. */
export const pageLanguages = ['en', 'zh'] as const
export type PageLanguage = (typeof pageLanguages)[number]

/** What a language is called in itself, and the tag that goes into the lang attribute. */
export const languageNames: Record<PageLanguage, { name: string; short: string; tag: string }> = {
  en: { name: 'English', short: 'EN', tag: 'en' },
  zh: { name: '中文', short: '中', tag: 'zh-Hans' },
}

type Sentence = { title: string; detail: string }

const en = {
  // attract
  touchToBegin: 'Touch to begin',
  attractHint: 'Photograph an exhibit and ask about it',
  chooseLanguage: 'Language',

  // the bar
  startOver: 'Start over',
  photographAnother: 'Photograph another',
  close: 'Close',

  // camera
  cameraTitle: 'Photograph an exhibit',
  cameraHint: 'Hold the camera so that the whole exhibit is inside the frame.',
  takePhoto: 'Take the photo',
  livePicture: 'Live picture of the camera',
  chooseFromList: 'Choose from a list',
  enterNumber: 'Enter a number',
  looking: 'Looking closely…',
  privacy: 'Your photo stays in this kiosk and is deleted when you finish.',
  cameraStarting: 'The camera is getting ready…',
  cameraNone: 'This kiosk has no camera at the moment. You can choose the exhibit from a list or by its number.',
  cameraAlert: 'The camera is not answering just now. It will come back by itself; until then, choose from the list.',

  // advice on a photo
  advice: {
    too_dark: { title: 'It is a little too dark', detail: 'Try again with more light on the exhibit, or step out of your own shadow.' },
    too_bright: { title: 'There is too much glare', detail: 'Step a little to one side, so that the lamps do not mirror in the glass.' },
    blurred: { title: 'The photo is blurred', detail: 'Hold still for a moment and take it once more.' },
    nothing_there: { title: 'We see only a plain surface', detail: 'Point the camera at an exhibit, so that it fills most of the frame.' },
  } satisfies Record<Exclude<Advice, ''>, Sentence>,
  tryAgain: 'Try again',
  understood: 'All right',

  // recognised, or nearly
  yourPhoto: 'Your photo',
  photoWithOutline: (title: string) => `Your photo, with “${title}” outlined`,
  notThisOne: 'Not this one?',
  chooseTitle: 'Is it one of these?',
  chooseHint: 'Several exhibits look like your photo. Touch the right one.',
  noneOfThese: 'None of these',
  unknownTitle: 'We do not know this one',
  unknownDetail: 'It does not seem to be in our collection, or the photo shows too little of it. There are other ways to find an exhibit.',
  perhaps: 'Or is it this?',
  photographAgain: 'Photograph again',

  // exhibit
  number: (label: string) => `No. ${label}`,
  /** Between maker and date. */
  comma: ', ',
  conversation: 'Explanation and answers',
  explanation: 'About this exhibit',
  youAsked: 'Your question',
  stages: { retrieve: 'Reading the gallery’s texts…', write: 'Writing…', check: 'Checking the sources…' },
  waiting: 'One moment…',
  stop: 'Stop',
  stopped: 'Stopped here.',
  again: 'Try again',
  answerBroken: 'The answer broke off.',
  writtenByModel: 'Written by a computer from the gallery’s own texts',
  writtenByGallery: 'In the gallery’s own words',
  sources: 'Sources',
  sourceMark: (n: number) => `Source ${n}`,
  suggestions: 'You could ask',
  askLabel: 'Your question',
  askPlaceholder: 'Ask about this exhibit…',
  send: 'Ask',

  // passage sheet
  sourceTitle: 'Where this comes from',
  quotedPassage: 'The passage',
  document: 'Document',
  page: (n: number) => `page ${n}`,
  publishedSources: 'Published sources',
  passageTrouble: 'The rest of the text cannot be shown just now.',

  // browse
  browseTitle: 'Choose an exhibit',
  byList: 'List',
  byNumber: 'Number',
  searchLabel: 'Search',
  searchPlaceholder: 'Title, maker or number',
  nothingFound: (query: string) => `Nothing here is called “${query}”.`,
  noExhibits: 'There are no exhibits in this gallery yet.',
  clearSearch: 'Clear',
  numberTitle: 'The number beside the exhibit',
  numberHint: 'You find it on the label on the wall.',
  noSuchNumber: (digits: string) => `No exhibit has the number ${digits}.`,
  deleteDigit: 'Delete the last digit',
  loading: 'Loading…',
  more: 'Show more',

  // idle
  stillThere: 'Are you still there?',
  stillThereDetail: (seconds: number) =>
    seconds === 1 ? 'Everything is cleared for the next visitor in 1 second.' : `Everything is cleared for the next visitor in ${seconds} seconds.`,
  stillHere: 'I’m still here',

  // trouble
  oneMoment: 'One moment, please',
  oneMomentDetail: 'The kiosk is getting ready again. This page continues by itself.',
  genericTrouble: { title: 'That did not work', detail: 'Please try again.' } satisfies Sentence,

  // keyboard
  keyboard: 'Keyboard',
  candidates: 'Words to choose from',
  keys: {
    erase: 'Delete',
    shift: 'Capital letters',
    signs: 'Numbers and signs',
    letters: 'Letters',
    language: 'Type in another language',
    space: 'Space',
    hide: 'Put the keyboard away',
    done: 'Done',
  },

  // comfort
  comfort: 'Make it easier to use',
  comfortTitle: 'As you like it',
  comfortDetail: 'Everything is set back when you leave.',
  textSize: 'Text size',
  smaller: 'Smaller',
  larger: 'Larger',
  contrast: 'Stronger contrast',
  lowReach: 'Controls further down',
  stillness: 'Less movement',
  voiceVolume: 'Reading voice',
  quieter: 'Quieter',
  louder: 'Louder',
  stepOf: (step: number, steps: number) => `${step} of ${steps}`,
  setBack: 'Set back',
  done: 'Done',

  // understand
  tools: 'More about this exhibit',
  listen: 'Listen',
  stopReading: 'Stop reading',
  readingNow: 'Reading aloud',
  voiceTrouble: 'Reading aloud does not work just now.',
  chapters: 'Read on',
  chaptersTitle: (title: string) => `More about “${title}”`,
  noChapters: 'There is no more text about this exhibit yet.',
  levels: { child: 'For children', general: 'For everyone', expert: 'In depth' },
  levelTitle: 'Who is reading?',
  enlarge: 'Look closer',
  viewerTitle: (title: string) => `“${title}” up close`,
  viewerHint: 'Move it with one finger, spread two to come nearer.',
  nearer: 'Nearer',
  farther: 'Farther',
  whole: 'The whole picture',
  pictureOf: (n: number, all: number) => `Picture ${n} of ${all}`,
  inGallery: 'In the gallery',
  related: 'Related exhibits',
  compare: 'Compare',
  compareTitle: 'Compare with which one?',
  compareSide: 'Side by side',
  compareOther: 'Choose another',
  compareAsk: 'What do they have in common?',
  compareQuestion: (a: string, b: string) => `What do “${a}” and “${b}” have in common, and how do they differ?`,
  facts: { maker: 'Maker', date: 'Date', materials: 'Materials', hall: 'Hall', credit: 'Credit', accession: 'Inventory number' },
  repeat: 'From the beginning',
  textOn: (title: string) => `The gallery’s text on “${title}”`,
  houseText: 'A text of the house',
  helpful: 'Was this helpful?',
  yes: 'Yes',
  no: 'No',
  thanks: 'Thank you.',
}

type Widened<T> = T extends string
  ? string
  : T extends (...args: infer A) => string
    ? (...args: A) => string
    : { [K in keyof T]: Widened<T[K]> }

/** Everything the page says. A language that lacks a sentence does not compile. */
export type Strings = Widened<typeof en>

const zh: Strings = {
  touchToBegin: '轻触开始',
  attractHint: '拍一拍展品，问一问它的故事',
  chooseLanguage: '语言',

  startOver: '重新开始',
  photographAnother: '再拍一件',
  close: '关闭',

  cameraTitle: '拍摄一件展品',
  cameraHint: '请对准展品，让它完整地落在取景框内。',
  takePhoto: '拍照',
  livePicture: '相机实时画面',
  chooseFromList: '从列表选择',
  enterNumber: '输入编号',
  looking: '正在仔细看……',
  privacy: '照片只保存在本机，结束后即删除。',
  cameraStarting: '相机正在准备……',
  cameraNone: '这台导览机目前没有相机。您可以从列表或按编号选择展品。',
  cameraAlert: '相机暂时没有响应，稍后会自动恢复。现在可以先从列表选择展品。',

  advice: {
    too_dark: { title: '光线有点暗', detail: '请让展品更亮一些再拍，或避开自己的影子。' },
    too_bright: { title: '反光太强', detail: '请稍微换个角度，避开玻璃上的灯光倒影。' },
    blurred: { title: '照片有些模糊', detail: '请稳住片刻，再拍一次。' },
    nothing_there: { title: '画面里只有一片空白', detail: '请对准一件展品，让它占满取景框的大部分。' },
  },
  tryAgain: '再试一次',
  understood: '好的',

  yourPhoto: '您的照片',
  photoWithOutline: (title) => `您的照片，已勾出“${title}”的轮廓`,
  notThisOne: '不是这一件？',
  chooseTitle: '是其中的一件吗？',
  chooseHint: '有几件展品与您的照片相似，请点选正确的一件。',
  noneOfThese: '都不是',
  unknownTitle: '没有认出这一件',
  unknownDetail: '它可能不在本馆的藏品中，或者照片拍到的部分太少。您也可以用别的方式找到展品。',
  perhaps: '会不会是这一件？',
  photographAgain: '重新拍照',

  number: (label) => `编号 ${label}`,
  comma: '，',
  conversation: '讲解与回答',
  explanation: '关于这件展品',
  youAsked: '您的问题',
  stages: { retrieve: '正在查阅馆内资料……', write: '正在书写……', check: '正在核对出处……' },
  waiting: '请稍候……',
  stop: '停止',
  stopped: '已停在这里。',
  again: '再试一次',
  answerBroken: '回答中断了。',
  writtenByModel: '由计算机根据本馆资料撰写',
  writtenByGallery: '引自本馆资料原文',
  sources: '出处',
  sourceMark: (n) => `出处 ${n}`,
  suggestions: '您还可以问',
  askLabel: '您的问题',
  askPlaceholder: '想了解这件展品的什么？',
  send: '提问',

  sourceTitle: '内容出处',
  quotedPassage: '引用段落',
  document: '文档',
  page: (n) => `第 ${n} 页`,
  publishedSources: '参考文献',
  passageTrouble: '其余内容暂时无法显示。',

  browseTitle: '选择展品',
  byList: '列表',
  byNumber: '编号',
  searchLabel: '搜索',
  searchPlaceholder: '名称、作者或编号',
  nothingFound: (query) => `没有找到“${query}”。`,
  noExhibits: '本馆还没有展品。',
  clearSearch: '清除',
  numberTitle: '展品旁的编号',
  numberHint: '编号写在墙上的说明牌上。',
  noSuchNumber: (digits) => `没有编号为 ${digits} 的展品。`,
  deleteDigit: '删除最后一位',
  loading: '正在载入……',
  more: '显示更多',

  stillThere: '您还在吗？',
  stillThereDetail: (seconds) => `${seconds} 秒后将清除内容，迎接下一位观众。`,
  stillHere: '我还在',

  oneMoment: '请稍候片刻',
  oneMomentDetail: '导览机正在重新准备，页面会自动继续。',
  genericTrouble: { title: '没有成功', detail: '请再试一次。' },

  keyboard: '键盘',
  candidates: '候选词',
  keys: {
    erase: '删除',
    shift: '大写字母',
    signs: '数字与符号',
    letters: '字母',
    language: '切换输入语言',
    space: '空格',
    hide: '收起键盘',
    done: '完成',
  },

  comfort: '让使用更方便',
  comfortTitle: '按您的习惯',
  comfortDetail: '您离开后，一切恢复原样。',
  textSize: '文字大小',
  smaller: '小一些',
  larger: '大一些',
  contrast: '高对比度',
  lowReach: '按钮移到下方',
  stillness: '减少动画',
  voiceVolume: '朗读音量',
  quieter: '小声一些',
  louder: '大声一些',
  stepOf: (step, steps) => `第 ${step} 档，共 ${steps} 档`,
  setBack: '恢复原样',
  done: '完成',

  tools: '更多内容',
  listen: '朗读',
  stopReading: '停止朗读',
  readingNow: '正在朗读',
  voiceTrouble: '现在无法朗读。',
  chapters: '继续阅读',
  chaptersTitle: (title) => `关于“${title}”的更多内容`,
  noChapters: '这件展品暂时没有更多文字。',
  levels: { child: '给孩子', general: '给大家', expert: '深入了解' },
  levelTitle: '谁在看？',
  enlarge: '放大看',
  viewerTitle: (title) => `细看“${title}”`,
  viewerHint: '单指移动，双指张开可放大。',
  nearer: '放大',
  farther: '缩小',
  whole: '看全图',
  pictureOf: (n, all) => `第 ${n} 张，共 ${all} 张`,
  inGallery: '馆内原图',
  related: '相关展品',
  compare: '比较',
  compareTitle: '与哪一件比较？',
  compareSide: '并排比较',
  compareOther: '换一件',
  compareAsk: '它们有什么共同之处？',
  compareQuestion: (a, b) => `“${a}”和“${b}”有什么共同之处，又有什么不同？`,
  facts: { maker: '作者', date: '年代', materials: '材料', hall: '展厅', credit: '来源', accession: '馆藏编号' },
  repeat: '从头开始',
  textOn: (title) => `本馆关于“${title}”的文字`,
  houseText: '本馆文字',
  helpful: '这段回答有帮助吗？',
  yes: '有帮助',
  no: '没帮助',
  thanks: '谢谢您。',
}

export const strings: Record<PageLanguage, Strings> = { en, zh }
