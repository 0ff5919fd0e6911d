package hub

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"docent/sync/wire"
)

// contentFile answers GET /api/v1/content/files/objects/SHA256 and …/metadata/NAME as a mirror does, whole or a range
// of it: what is published, for docent gallery mirror and docent gallery bundle.
func (h *Hub) contentFile(c *fiber.Ctx) error {
	name := c.Params("name")
	switch kind := c.Params("kind"); {
	case kind == "objects" && wire.ValidObject(name), kind == "metadata" && wire.ValidMetadata(name):
	default:
		return fiber.ErrNotFound
	}
	first, n, ranged := oneRange(c.Get(fiber.HeaderRange))
	if !ranged {
		first, n = 0, wire.MaxObject
	}
	var data []byte
	size := int64(0)
	for int64(len(data)) < n {
		part := h.content.Read(wire.Fetch{Name: name, Offset: first + int64(len(data)), Length: int(min(wire.MaxBlock, n-int64(len(data))))})
		switch {
		case part.Error == wire.FetchNotFound:
			return fiber.ErrNotFound
		case part.Error != "":
			return fiber.ErrInternalServerError
		}
		size = part.Size
		data = append(data, part.Data...)
		if len(part.Data) == 0 || first+int64(len(data)) >= size {
			break
		}
	}
	c.Set(fiber.HeaderContentType, "application/octet-stream")
	c.Set(fiber.HeaderAcceptRanges, "bytes")
	c.Set(fiber.HeaderCacheControl, "no-cache")
	switch {
	case !ranged:
		return c.Send(data)
	case len(data) == 0:
		c.Set(fiber.HeaderContentRange, fmt.Sprintf("bytes */%d", size))
		return c.SendStatus(fiber.StatusRequestedRangeNotSatisfiable)
	}
	c.Set(fiber.HeaderContentRange, fmt.Sprintf("bytes %d-%d/%d", first, first+int64(len(data))-1, size))
	return c.Status(fiber.StatusPartialContent).Send(data)
}

// oneRange reads "bytes=0-99" and says from where how many bytes are asked for. Of any other form, the whole is sent, as
// the protocol allows.
func oneRange(s string) (first, n int64, ok bool) {
	span, ok := strings.CutPrefix(s, "bytes=")
	from, to, ok2 := strings.Cut(span, "-")
	first, err := strconv.ParseInt(from, 10, 64)
	last, err2 := strconv.ParseInt(to, 10, 64)
	if !ok || !ok2 || err != nil || err2 != nil || first < 0 || last < first || last > 1<<40 {
		return 0, 0, false
	}
	return first, min(last-first+1, wire.MaxObject), true
}
