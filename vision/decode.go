package vision

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"time"

	"gocv.io/x/gocv"
	"golang.org/x/image/webp"
)

// Why a picture is refused. The errors of [Decode] answer to errors.Is with one of these.
var (
	ErrTooLarge = errors.New("picture too large")
	ErrTooSmall = errors.New("picture too small")
	ErrFormat   = errors.New("not a picture that can be read")
	ErrBroken   = errors.New("picture broken")
)

// FormatError says what a refused file is, where that is known. It is an [ErrFormat].
type FormatError struct {
	Format string // such as "HEIC", "GIF", "animated WebP"; "" where it is no picture at all
}

func (e *FormatError) Error() string {
	if e.Format == "" {
		return ErrFormat.Error()
	}
	return ErrFormat.Error() + ": " + e.Format
}

// Is makes errors.Is(err, ErrFormat) true.
func (e *FormatError) Is(target error) bool { return target == ErrFormat }

// Limits bound what is decoded. They are checked against the file's header before any pixel is decoded.
type Limits struct {
	Bytes   int // of the file
	Pixels  int // width × height
	MinSide int // in pixels, of both sides
	MaxSide int // in pixels: larger pictures are scaled down to it
}

// VisitorLimits are those of [Decode]: what a visitor's phone may send. 50 megapixels is what the largest
// common phone cameras write in their ordinary mode; they take 150 MB while being decoded.
var VisitorLimits = Limits{Bytes: 20 << 20, Pixels: 50_000_000, MinSide: 64, MaxSide: MaxSide}

// Decode reads a visitor's picture within [VisitorLimits].
func Decode(data []byte) (Photo, error) { return DecodeWithin(data, VisitorLimits) }

// DecodeWithin reads a JPEG, PNG or WebP picture, turns it upright as its EXIF orientation says, and scales it
// down to l.MaxSide. A file that ends too early is refused with [ErrBroken]: OpenCV alone would fill the rest
// with grey and say nothing.
func DecodeWithin(data []byte, l Limits) (Photo, error) {
	if len(data) > l.Bytes {
		return Photo{}, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(data), l.Bytes)
	}
	head, err := readHeader(data)
	if err != nil {
		return Photo{}, err
	}
	switch {
	case head.width < l.MinSide || head.height < l.MinSide:
		return Photo{}, fmt.Errorf("%w: %d × %d pixels, at least %d each side", ErrTooSmall, head.width, head.height, l.MinSide)
	case head.width > l.Pixels/head.height: // the product may not fit an int
		return Photo{}, fmt.Errorf("%w: %d × %d pixels, at most %d in all", ErrTooLarge, head.width, head.height, l.Pixels)
	}
	img, err := gocv.IMDecode(data, readFlags(head, l.MaxSide))
	if err != nil {
		return Photo{}, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	if img.Empty() || img.Type() != gocv.MatTypeCV8UC3 {
		img.Close()
		return Photo{}, fmt.Errorf("%w: %s does not decode", ErrBroken, head.format)
	}
	shrink(&img, l.MaxSide)
	upright(&img, head.orientation)
	return NewPhoto(img, time.Time{})
}

// header is what a file says about itself before its pixels.
type header struct {
	format        string
	width, height int // as stored, before orientation
	orientation   int // EXIF, 1 to 8
}

// readHeader finds the format, checks that the file is whole, and reads size and orientation. Sides are below
// 2³² (PNG), 2¹⁶ (JPEG) and 2²⁴ (WebP).
func readHeader(data []byte) (header, error) {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return jpegHeader(data)
	case bytes.HasPrefix(data, []byte(pngSignature)):
		return pngHeader(data)
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return webpHeader(data)
	}
	return header{}, &FormatError{Format: foreignFormat(data)}
}

const pngSignature = "\x89PNG\r\n\x1a\n"

// pngHeader walks the chunks (PNG specification, third edition, §5.3) to the end of the file.
func pngHeader(data []byte) (header, error) {
	if len(data) < 33 || string(data[12:16]) != "IHDR" {
		return header{}, fmt.Errorf("%w: PNG header", ErrBroken)
	}
	h := header{format: "PNG", width: int(be32(data[16:])), height: int(be32(data[20:])), orientation: 1}
	rest := data[len(pngSignature):]
	for len(rest) >= 12 {
		size := int(be32(rest))
		if size > len(rest)-12 {
			break
		}
		body := rest[8 : 8+size]
		switch string(rest[4:8]) {
		case "eXIf":
			h.orientation = exifOrientation(body)
		case "IEND":
			return h, nil
		}
		rest = rest[12+size:]
	}
	return header{}, fmt.Errorf("%w: PNG ends too early", ErrBroken)
}

// webpHeader walks the RIFF chunks (WebP container specification) to the end of the file.
func webpHeader(data []byte) (header, error) {
	size := int(le32(data[4:])) + 8
	if size < 12 || size > len(data) {
		return header{}, fmt.Errorf("%w: WebP ends too early", ErrBroken)
	}
	h := header{format: "WebP", orientation: 1}
	for rest := data[12:size]; len(rest) >= 8; {
		n := int(le32(rest[4:]))
		if n > len(rest)-8 {
			return header{}, fmt.Errorf("%w: WebP part ends too early", ErrBroken)
		}
		body := rest[8 : 8+n]
		switch string(rest[:4]) {
		case "VP8X":
			if n > 0 && body[0]&0x02 != 0 {
				return header{}, &FormatError{Format: "animated WebP"}
			}
		case "EXIF":
			h.orientation = exifOrientation(bytes.TrimPrefix(body, []byte("Exif\x00\x00")))
		}
		rest = rest[8+min(n+n%2, len(rest)-8):]
	}
	conf, err := webp.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return header{}, fmt.Errorf("%w: read WebP header: %w", ErrBroken, err)
	}
	h.width, h.height = conf.Width, conf.Height
	return h, nil
}

// foreignFormat names files that people do upload and that are not read here.
func foreignFormat(data []byte) string {
	for _, f := range []struct{ prefix, name string }{
		{"GIF8", "GIF"}, {"BM", "BMP"}, {"II*\x00", "TIFF"}, {"MM\x00*", "TIFF"}, {"%PDF", "PDF"},
		{"\x00\x00\x01\x00", "ICO"}, {"PK\x03\x04", "ZIP"}, {"\xff\x0a", "JPEG XL"},
		{"\x00\x00\x00\x0cJXL ", "JPEG XL"}, {"\x00\x00\x00\x0cjP  ", "JPEG 2000"},
	} {
		if bytes.HasPrefix(data, []byte(f.prefix)) {
			return f.name
		}
	}
	return isoFormat(data)
}

// isoFormat names a file of the ISO base media format by the brands of its first box (ISO/IEC 14496-12 §4.3;
// brands of ISO/IEC 23008-12 for HEIF). The generic brands mif1 and msf1 are HEIF unless a named one is listed.
func isoFormat(data []byte) string {
	if len(data) < 16 || string(data[4:8]) != "ftyp" {
		return ""
	}
	size := min(int(be32(data)), len(data), 512)
	name := "MP4"
	for at := 8; at+4 <= size; at += 4 {
		switch string(data[at : at+4]) {
		case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs":
			return "HEIC"
		case "avif", "avis":
			return "AVIF"
		case "mif1", "msf1":
			name = "HEIF"
		}
	}
	return name
}

// readFlags chooses how OpenCV decodes: always in colour and without its own EXIF reader (the orientation is
// applied here, for all three formats), and large JPEGs at a half, a quarter or an eighth, which the format
// allows before the pixels are computed. The long side stays at least 3/4 of maxSide.
func readFlags(h header, maxSide int) gocv.IMReadFlag {
	flag := gocv.IMReadColor
	if h.format == "JPEG" {
		for _, step := range []struct {
			by   int
			flag gocv.IMReadFlag
		}{{2, gocv.IMReadReducedColor2}, {4, gocv.IMReadReducedColor4}, {8, gocv.IMReadReducedColor8}} {
			if max(h.width, h.height)/step.by >= maxSide*3/4 {
				flag = step.flag
			}
		}
	}
	return flag | gocv.IMReadIgnoreOrientation
}

// shrink scales img down to a long side of at most maxSide.
func shrink(img *gocv.Mat, maxSide int) {
	w, h := fit(img.Cols(), img.Rows(), maxSide)
	if w == img.Cols() && h == img.Rows() {
		return
	}
	small := gocv.NewMat()
	gocv.Resize(*img, &small, image.Pt(w, h), 0, 0, gocv.InterpolationArea)
	replace(img, small)
}

// upright turns img as an EXIF orientation says (Exif 2.32, tag 0x0112).
func upright(img *gocv.Mat, orientation int) {
	const horizontally, vertically = 1, 0
	turned := gocv.NewMat()
	switch orientation {
	case 2:
		gocv.Flip(*img, &turned, horizontally)
	case 3:
		gocv.Rotate(*img, &turned, gocv.Rotate180Clockwise)
	case 4:
		gocv.Flip(*img, &turned, vertically)
	case 5:
		gocv.Transpose(*img, &turned)
	case 6:
		gocv.Rotate(*img, &turned, gocv.Rotate90Clockwise)
	case 7:
		gocv.Transpose(*img, &turned)
		both := gocv.NewMat()
		gocv.Rotate(turned, &both, gocv.Rotate180Clockwise)
		replace(&turned, both)
	case 8:
		gocv.Rotate(*img, &turned, gocv.Rotate90CounterClockwise)
	default:
		turned.Close()
		return
	}
	replace(img, turned)
}

// replace closes *img and puts with in its place.
func replace(img *gocv.Mat, with gocv.Mat) {
	img.Close()
	*img = with
}
