package wire

import (
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
)

// NewID makes a UUIDv7 (RFC 9562 §5.7) of a time and 10 bytes of randomness.
func NewID(now time.Time, random io.Reader) (string, error) {
	var id uuid.UUID
	if _, err := io.ReadFull(random, id[6:]); err != nil {
		return "", fmt.Errorf("read randomness: %w", err)
	}
	ms := max(now.UnixMilli(), 0)
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id.String(), nil
}

// validUUID accepts the lower-case form with dashes only: one id, one spelling.
func validUUID(s string) bool {
	return len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' &&
		lowerHex(s[:8]) && lowerHex(s[9:13]) && lowerHex(s[14:18]) && lowerHex(s[19:23]) && lowerHex(s[24:])
}

// validUUIDv7 wants version 7 and the variant of RFC 9562, whose digit is 8, 9, a or b.
func validUUIDv7(s string) bool {
	return validUUID(s) && s[14] == '7' && (s[19] == '8' || s[19] == '9' || s[19] == 'a' || s[19] == 'b')
}
