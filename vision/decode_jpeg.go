package vision

import (
	"bytes"
	"fmt"
)

// maxScans bounds a progressive JPEG. Common encoders write about ten; each costs a pass over all blocks, so a
// file of thousands would keep a core busy for minutes.
const maxScans = 64

// jpegHeader walks the markers of a JPEG (ITU-T T.81, annex B) from the start to the end-of-image marker. It
// decodes nothing, so it costs about a memory scan, where a full check with image/jpeg would take longer than
// OpenCV's decoding itself. It tells a file that was cut off from a whole one, which is what happens to
// uploads; flipped bits inside a scan are left to the decoder, and at worst spoil a part of the photo.
func jpegHeader(data []byte) (header, error) {
	h := header{format: "JPEG", orientation: 1}
	scans := 0
	for at := 2; ; {
		marker, body, next, ok := nextSegment(data, at)
		if !ok {
			return header{}, fmt.Errorf("%w: JPEG ends too early", ErrBroken)
		}
		at = next
		switch {
		case marker == 0xd9: // end of image
			if h.width == 0 || h.height == 0 || scans == 0 {
				return header{}, fmt.Errorf("%w: JPEG holds no picture", ErrBroken)
			}
			return h, nil
		case marker == 0xe1 && bytes.HasPrefix(body, []byte("Exif\x00\x00")):
			h.orientation = exifOrientation(body[6:])
		case marker >= 0xc0 && marker <= 0xc2: // baseline, extended, progressive
			if len(body) < 6 || body[0] != 8 || h.width != 0 {
				return header{}, fmt.Errorf("%w: JPEG frame header", ErrBroken)
			}
			h.height, h.width = int(be16(body[1:])), int(be16(body[3:]))
		case isOtherFrame(marker):
			return header{}, &FormatError{Format: "lossless or arithmetic JPEG"}
		case marker == 0xda: // start of scan: skip its entropy-coded data
			if scans++; scans > maxScans || h.width == 0 {
				return header{}, fmt.Errorf("%w: JPEG with %d scans", ErrBroken, scans)
			}
			at = skipScan(data, at)
		}
	}
}

// isOtherFrame says whether marker starts a frame of a kind that is not read: lossless, hierarchical, arithmetic.
func isOtherFrame(marker byte) bool {
	return marker >= 0xc3 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc
}

// nextSegment returns the next marker at or after at, its body, and where the segment ends. Bytes before the
// marker are skipped, as decoders do.
func nextSegment(data []byte, at int) (marker byte, body []byte, next int, ok bool) {
	for {
		i := bytes.IndexByte(data[at:], 0xff)
		if i < 0 || at+i+1 >= len(data) {
			return 0, nil, 0, false
		}
		at += i + 1
		marker = data[at]
		if marker != 0x00 && marker != 0xff {
			at++
			break
		}
	}
	if marker == 0x01 || marker >= 0xd0 && marker <= 0xd9 { // these stand alone
		return marker, nil, at, true
	}
	if len(data)-at < 2 {
		return 0, nil, 0, false
	}
	size := int(be16(data[at:]))
	if size < 2 || size > len(data)-at {
		return 0, nil, 0, false
	}
	return marker, data[at+2 : at+size], at + size, true
}

// skipScan returns where the next marker other than a restart stands, or the end of data.
func skipScan(data []byte, at int) int {
	for {
		i := bytes.IndexByte(data[at:], 0xff)
		if i < 0 || at+i+1 >= len(data) {
			return len(data)
		}
		at += i
		if m := data[at+1]; m != 0x00 && m != 0xff && (m < 0xd0 || m > 0xd7) {
			return at
		}
		at++
	}
}

func be16(b []byte) uint16 { return uint16(b[0])<<8 | uint16(b[1]) }
func be32(b []byte) uint32 { return uint32(be16(b))<<16 | uint32(be16(b[2:])) }
func le32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}
