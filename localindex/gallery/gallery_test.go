package gallery

import "testing"

func TestLocalizedIn(t *testing.T) {
	for _, tt := range []struct {
		name      string
		text      Localized
		lang      string
		fallbacks []string
		want      string
	}{
		{"its language", Localized{"en": "Bell", "zh": "钟"}, "zh", []string{"en"}, "钟"},
		{"first fallback", Localized{"en": "Bell", "fr": "Cloche"}, "zh", []string{"zh", "en"}, "Bell"},
		{"second fallback", Localized{"fr": "Cloche", "it": "Campana"}, "zh", []string{"en", "it"}, "Campana"},
		{"any language, always the same", Localized{"it": "Campana", "fr": "Cloche"}, "zh", []string{"en"}, "Cloche"},
		{"empty text is no text", Localized{"zh": "", "en": "Bell"}, "zh", []string{"en"}, "Bell"},
		{"nothing", nil, "zh", []string{"en"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.text.In(tt.lang, tt.fallbacks...); got != tt.want {
				t.Errorf("In(%s, %v) = %q, want %q", tt.lang, tt.fallbacks, got, tt.want)
			}
		})
	}
}
