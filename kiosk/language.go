package kiosk

import "golang.org/x/text/language"

// nearest returns which of offered suits the wishes best, in their order; each wish may be a tag or an Accept-Language
// list. A tag is suited by itself, else by the same language in another script or country: who asks for zh-Hant
// reads zh rather than English. It is 0 where nothing suits.
func nearest(offered []language.Tag, wishes ...string) int {
	for _, wish := range wishes {
		tags, _, err := language.ParseAcceptLanguage(wish)
		if err != nil {
			continue
		}
		for _, tag := range tags {
			for i, o := range offered {
				if o == tag {
					return i
				}
			}
			base, sure := tag.Base()
			for i, o := range offered {
				if b, _ := o.Base(); b == base && sure != language.No {
					return i
				}
			}
		}
	}
	return 0
}
