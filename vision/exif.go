package vision

import "encoding/binary"

// exifOrientation returns the orientation, 1 to 8, that a TIFF block names in its first directory (Exif 2.32,
// tag 0x0112), and 1 where it names none or cannot be read: a picture is never refused for its metadata. It
// reads at most the one directory and follows no pointer beyond it.
func exifOrientation(tiff []byte) int {
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder
	switch string(tiff[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 1
	}
	const entrySize, orientationTag, short = 12, 0x0112, 3
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return 1
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < entrySize {
			return 1
		}
		if order.Uint16(entries) == orientationTag && order.Uint16(entries[2:]) == short {
			if v := int(order.Uint16(entries[8:])); v >= 1 && v <= 8 {
				return v
			}
			return 1
		}
		entries = entries[entrySize:]
	}
	return 1
}
