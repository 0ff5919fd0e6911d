package vision

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"gocv.io/x/gocv"
)

// quarters is a picture whose upper left quarter is red, upper right green, lower left blue and lower right
// white, so that every one of the eight orientations looks different.
func quarters(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := [2][2]color.RGBA{
				{{255, 0, 0, 255}, {0, 255, 0, 255}},
				{{0, 0, 255, 255}, {255, 255, 255, 255}},
			}[y*2/h][x*2/w]
			img.SetRGBA(x, y, c)
		}
	}
	return img
}

func jpegBytes(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pngBytes(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func webpBytes(t testing.TB, img image.Image) []byte {
	t.Helper()
	mat, err := gocv.ImageToMatRGB(img)
	if err != nil {
		t.Fatal(err)
	}
	defer mat.Close()
	buf, err := gocv.IMEncode(".webp", mat)
	if err != nil {
		t.Fatal(err)
	}
	defer buf.Close()
	return bytes.Clone(buf.GetBytes())
}

// exif is a TIFF block whose first directory holds another tag and the orientation.
func exif(order binary.AppendByteOrder, orientation uint16) []byte {
	b := []byte("II*\x00")
	if order.String() == "BigEndian" {
		b = []byte("MM\x00*")
	}
	b = order.AppendUint32(b, 8)
	b = order.AppendUint16(b, 2)
	for _, e := range [][2]uint16{{0x0100, 77}, {0x0112, orientation}} {
		b = order.AppendUint16(b, e[0])
		b = order.AppendUint16(b, 3)
		b = order.AppendUint32(b, 1)
		b = order.AppendUint16(b, e[1])
		b = order.AppendUint16(b, 0)
	}
	return order.AppendUint32(b, 0)
}

func jpegWithExif(plain, tiff []byte) []byte {
	body := append([]byte("Exif\x00\x00"), tiff...)
	out := append([]byte{}, plain[:2]...)
	out = append(out, 0xff, 0xe1)
	out = binary.BigEndian.AppendUint16(out, uint16(len(body)+2))
	return append(append(out, body...), plain[2:]...)
}

func pngWithExif(plain, tiff []byte) []byte {
	const afterIHDR = 8 + 12 + 13
	chunk := append([]byte("eXIf"), tiff...)
	out := append([]byte{}, plain[:afterIHDR]...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(tiff)))
	out = append(out, chunk...)
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(chunk))
	return append(out, plain[afterIHDR:]...)
}

// webpWithExif puts a simple WebP file into the extended container, with an EXIF part.
func webpWithExif(plain, tiff []byte, w, h int) []byte {
	out := []byte("WEBPVP8X")
	out = binary.LittleEndian.AppendUint32(out, 10)
	out = append(out, 0x08, 0, 0, 0)
	for _, side := range []int{w - 1, h - 1} {
		out = append(out, byte(side), byte(side>>8), byte(side>>16))
	}
	out = append(out, plain[12:]...)
	out = append(out, "EXIF"...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(tiff)))
	out = append(out, tiff...)
	if len(tiff)%2 == 1 {
		out = append(out, 0)
	}
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(out))), out...)
}

// corners names the colours of the four quarters of p: upper left, upper right, lower left, lower right.
func corners(p Photo) string {
	size := p.Size()
	name := ""
	for _, at := range [][2]int{{1, 1}, {3, 1}, {1, 3}, {3, 3}} {
		v := p.Image.GetVecbAt(size.Y*at[1]/4, size.X*at[0]/4)
		switch b, g, r := v[0] > 127, v[1] > 127, v[2] > 127; {
		case b && g && r:
			name += "W"
		case r:
			name += "R"
		case g:
			name += "G"
		case b:
			name += "B"
		default:
			name += "?"
		}
	}
	return name
}

func TestDecodeTurnsUpright(t *testing.T) {
	const w, h = 160, 96
	img := quarters(w, h)
	// What a viewer shows for a stored picture RG/BW, by Exif 2.32.
	want := []string{1: "RGBW", "GRWB", "WBGR", "BWRG", "RBGW", "BRWG", "WGBR", "GWRB"}
	plain := map[string][]byte{"jpeg": jpegBytes(t, img), "png": pngBytes(t, img), "webp": webpBytes(t, img)}
	for o := 1; o <= 8; o++ {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			tiff := exif(order, uint16(o))
			for name, data := range map[string][]byte{
				"jpeg": jpegWithExif(plain["jpeg"], tiff),
				"png":  pngWithExif(plain["png"], tiff),
				"webp": webpWithExif(plain["webp"], tiff, w, h),
			} {
				p, err := Decode(data)
				if err != nil {
					t.Fatalf("%s, orientation %d: %v", name, o, err)
				}
				if got := corners(p); got != want[o] {
					t.Errorf("%s, orientation %d, %v: got %s, want %s", name, o, order, got, want[o])
				}
				wantSize := image.Pt(w, h)
				if o >= 5 {
					wantSize = image.Pt(h, w)
				}
				if p.Size() != wantSize {
					t.Errorf("%s, orientation %d: size %v, want %v", name, o, p.Size(), wantSize)
				}
				p.Close()
			}
		}
	}
}

func TestDecodeTurnsReducedPictures(t *testing.T) {
	p, err := Decode(jpegWithExif(jpegBytes(t, quarters(4200, 2000)), exif(binary.BigEndian, 6)))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got, want := p.Size(), image.Pt(975, 2048); got != want {
		t.Errorf("size %v, want %v", got, want)
	}
	if got := corners(p); got != "BRWG" {
		t.Errorf("got %s, want BRWG", got)
	}
}

func TestDecodeScalesDown(t *testing.T) {
	for _, tt := range []struct {
		name string
		data []byte
		want image.Point
	}{
		{"small stays", jpegBytes(t, quarters(64, 64)), image.Pt(64, 64)},
		{"2048 stays", jpegBytes(t, quarters(2048, 100)), image.Pt(2048, 100)},
		{"3000 is averaged", jpegBytes(t, quarters(3000, 1500)), image.Pt(2048, 1024)},
		{"4000 is read at half", jpegBytes(t, quarters(4000, 3000)), image.Pt(2000, 1500)},
		{"9000 is read at a quarter", jpegBytes(t, quarters(9000, 900)), image.Pt(2048, 205)},
		{"png is averaged", pngBytes(t, quarters(4096, 512)), image.Pt(2048, 256)},
		{"extreme shape keeps one pixel", jpegBytes(t, quarters(16384, 64)), image.Pt(2048, 8)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Decode(tt.data)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if p.Size() != tt.want {
				t.Errorf("size %v, want %v", p.Size(), tt.want)
			}
			if got := corners(p); got != "RGBW" {
				t.Errorf("corners %s, want RGBW", got)
			}
		})
	}
}

// pngBomb is a whole PNG file whose header says w×h and which holds no pixels.
func pngBomb(w, h uint32) []byte {
	ihdr := binary.BigEndian.AppendUint32([]byte("IHDR"), w)
	ihdr = binary.BigEndian.AppendUint32(ihdr, h)
	ihdr = append(ihdr, 8, 2, 0, 0, 0)
	out := []byte(pngSignature)
	for _, chunk := range [][]byte{ihdr, []byte("IDAT"), []byte("IEND")} {
		out = binary.BigEndian.AppendUint32(out, uint32(len(chunk)-4))
		out = append(out, chunk...)
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(chunk))
	}
	return out
}

// jpegBomb is a JPEG whose frame header says w×h.
func jpegBomb(t testing.TB, w, h uint16) []byte {
	data := jpegBytes(t, quarters(64, 64))
	i := bytes.Index(data, []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(data[i+5:], h)
	binary.BigEndian.PutUint16(data[i+7:], w)
	return data
}

func ftyp(brands ...string) []byte {
	body := []byte("ftyp" + brands[0] + "\x00\x00\x00\x00")
	for _, b := range brands[1:] {
		body = append(body, b...)
	}
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)+4))
	return append(append(out, body...), make([]byte, 100)...)
}

func TestDecodeRefuses(t *testing.T) {
	whole := jpegBytes(t, quarters(200, 200))
	wholePNG := pngBytes(t, quarters(200, 200))
	wholeWebP := webpBytes(t, quarters(200, 200))
	scans := append([]byte{}, whole[:len(whole)-2]...)
	sos := whole[bytes.Index(whole, []byte{0xff, 0xda}) : len(whole)-2]
	for range maxScans {
		scans = append(scans, sos...)
	}
	scans = append(scans, 0xff, 0xd9)

	for _, tt := range []struct {
		name   string
		data   []byte
		want   error
		format string
	}{
		{"nothing", nil, ErrFormat, ""},
		{"text", []byte("This is a shopping list, not a picture."), ErrFormat, ""},
		{"html", []byte("<html><body>picture</body></html>"), ErrFormat, ""},
		{"heic", ftyp("heic", "mif1", "heic"), ErrFormat, "HEIC"},
		{"heic by its second brand", ftyp("mif1", "mif1", "heix"), ErrFormat, "HEIC"},
		{"heif", ftyp("mif1", "miaf"), ErrFormat, "HEIF"},
		{"avif", ftyp("avif", "mif1"), ErrFormat, "AVIF"},
		{"mp4", ftyp("isom", "mp41"), ErrFormat, "MP4"},
		{"gif", []byte("GIF89a\x40\x00\x40\x00"), ErrFormat, "GIF"},
		{"pdf", []byte("%PDF-1.7"), ErrFormat, "PDF"},
		{"animated webp", append([]byte("RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00\x63\x00\x00\x63\x00\x00"), 0), ErrFormat, "animated WebP"},
		{"1 × 1 jpeg", jpegBytes(t, quarters(1, 1)), ErrTooSmall, ""},
		{"1 × 1 png", pngBytes(t, quarters(1, 1)), ErrTooSmall, ""},
		{"63 high", jpegBytes(t, quarters(640, 63)), ErrTooSmall, ""},
		{"100 megapixel png", pngBomb(10_000, 10_000), ErrTooLarge, ""},
		{"largest png", pngBomb(1<<32-1, 1<<32-1), ErrTooLarge, ""},
		{"100 megapixel jpeg", jpegBomb(t, 10_000, 10_000), ErrTooLarge, ""},
		{"21 MiB", make([]byte, 21<<20), ErrTooLarge, ""},
		{"empty png of allowed size", pngBomb(200, 200), ErrBroken, ""},
		{"jpeg start only", whole[:3], ErrBroken, ""},
		{"jpeg without its last byte", whole[:len(whole)-1], ErrBroken, ""},
		{"half a jpeg", whole[:len(whole)/2], ErrBroken, ""},
		{"jpeg header only", whole[:100], ErrBroken, ""},
		{"jpeg of too many scans", scans, ErrBroken, ""},
		{"half a png", wholePNG[:len(wholePNG)/2], ErrBroken, ""},
		{"png without its last byte", wholePNG[:len(wholePNG)-1], ErrBroken, ""},
		{"half a webp", wholeWebP[:len(wholeWebP)/2], ErrBroken, ""},
		{"webp header only", wholeWebP[:16], ErrBroken, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Decode(tt.data)
			if err == nil {
				p.Close()
				t.Fatalf("decoded to %v, want an error", p.Size())
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			var f *FormatError
			if errors.As(err, &f) && f.Format != tt.format {
				t.Errorf("format %q, want %q", f.Format, tt.format)
			}
		})
	}
}

func TestDecodeRefusesAJPEGCutAnywhere(t *testing.T) {
	img := quarters(80, 80)
	whole := jpegWithExif(jpegBytes(t, img), exif(binary.LittleEndian, 6))
	for n := range len(whole) {
		if p, err := Decode(whole[:n]); err == nil {
			p.Close()
			t.Fatalf("cut to %d of %d bytes, and still decoded", n, len(whole))
		}
	}
	p, err := Decode(append(whole, "what a phone appends to a motion photo"...))
	if err != nil {
		t.Fatalf("bytes behind the picture: %v", err)
	}
	p.Close()
}

func TestDecodeReadsGreyAndPalette(t *testing.T) {
	grey := image.NewGray(image.Rect(0, 0, 100, 100))
	for i := range grey.Pix {
		grey.Pix[i] = uint8(i)
	}
	palette := image.NewPaletted(image.Rect(0, 0, 100, 100), color.Palette{color.Black, color.White})
	alpha := image.NewNRGBA64(image.Rect(0, 0, 100, 100))
	for name, data := range map[string][]byte{
		"grey jpeg": jpegBytes(t, grey), "grey png": pngBytes(t, grey),
		"palette png": pngBytes(t, palette), "16 bit png with alpha": pngBytes(t, alpha),
	} {
		p, err := Decode(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if p.Image.Type() != gocv.MatTypeCV8UC3 {
			t.Errorf("%s: type %v, want 8UC3", name, p.Image.Type())
		}
		p.Close()
	}
}

func FuzzDecode(f *testing.F) {
	img := quarters(72, 66)
	tiff := exif(binary.LittleEndian, 6)
	f.Add(jpegWithExif(jpegBytes(f, img), tiff))
	f.Add(pngWithExif(pngBytes(f, img), tiff))
	f.Add(webpWithExif(webpBytes(f, img), tiff, 72, 66))
	f.Add(ftyp("heic", "mif1"))
	f.Add(pngBomb(10_000, 10_000))
	f.Add([]byte("text"))
	limits := VisitorLimits
	limits.Pixels = 1 << 20 // keeps one round of fuzzing quick
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := DecodeWithin(data, limits)
		if err != nil {
			for _, known := range []error{ErrTooLarge, ErrTooSmall, ErrFormat, ErrBroken} {
				if errors.Is(err, known) {
					return
				}
			}
			t.Fatalf("an error of no known kind: %v", err)
		}
		defer p.Close()
		if s := p.Size(); s.X < 1 || s.Y < 1 || max(s.X, s.Y) > MaxSide || p.Image.Type() != gocv.MatTypeCV8UC3 {
			t.Fatalf("size %v, type %v", s, p.Image.Type())
		}
	})
}

func FuzzExifOrientation(f *testing.F) {
	f.Add(exif(binary.LittleEndian, 8))
	f.Add(exif(binary.BigEndian, 3))
	f.Add([]byte("II*\x00\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if o := exifOrientation(data); o < 1 || o > 8 {
			t.Fatalf("orientation %d", o)
		}
	})
}
