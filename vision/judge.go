package vision

// AdviceCode says what is wrong with a photo, in a word that a page turns into a sentence.
type AdviceCode string

// What may be wrong with a photo. AdviceNone is a photo to work with.
const (
	AdviceNone         AdviceCode = ""
	AdviceTooDark      AdviceCode = "too_dark"
	AdviceTooBright    AdviceCode = "too_bright"
	AdviceBlurred      AdviceCode = "blurred"
	AdviceNothingThere AdviceCode = "nothing_there"
	AdviceGlare        AdviceCode = "glare"  // a lamp mirrors in the glass
	AdviceCloser       AdviceCode = "closer" // all there is to see is small
)

// Advice is what to tell a visitor whose photo was not recognised.
type Advice struct{ Code AdviceCode }

// The thresholds of [Judge]. They were set on 283 pictures of the Estense set (188 visitors' photos, 95 references)
// and 70 public-domain works so that none of these 353 is called bad. Blurred by a Gaussian of 1, 1.5, 2 and 3 px at
// 640 px long side, 18, 60, 93 and 99 % of them are.
const (
	darkBrightness   = 0.05 // darkest real picture: 0.055
	brightBrightness = 0.90
	// A drawing on white paper is bright too, but has contrast; an overexposed photo has not.
	exposureContrast = 0.10
	wallContrast     = 0.04 // least contrast of a real picture: 0.056
	blurSharpness    = 12.0 // least of a real picture: 14.2
	// blurRatio compares sharpness with the variance of the picture itself, so that a dark or pale work is not
	// taken for a blurred one: edges are weak there because everything is.
	blurRatio = 0.010
)

// Judge says why a photo may be hard to recognise. It is advice, not a verdict: a photo with advice is still
// recognised where that is possible. There is no word for "too close": a photo of a part of a work looks like one of
// another work, and only recognising it tells them apart.
func Judge(p Photo) Advice {
	flat := p.Contrast < exposureContrast
	variance := p.Contrast * p.Contrast * 255 * 255
	switch {
	case p.Brightness < darkBrightness && flat:
		return Advice{AdviceTooDark}
	case p.Brightness > brightBrightness && flat:
		return Advice{AdviceTooBright}
	case p.Contrast < wallContrast && (p.Image.Empty() || detailSpread(p.Image) >= closeSpread):
		return Advice{AdviceNothingThere}
	case p.Contrast < wallContrast:
		return Advice{AdviceCloser}
	case p.Sharpness < blurSharpness && p.Sharpness < blurRatio*variance:
		return Advice{AdviceBlurred}
	case p.Image.Empty():
		return Advice{}
	case glares(p.Image):
		return Advice{AdviceGlare}
	case detailSpread(p.Image) < closeSpread:
		return Advice{AdviceCloser}
	}
	return Advice{}
}
