package kiosk

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"docent/kiosk/picture"
)

// pictureTypes are the content types of a release's pictures.
var pictureTypes = map[string]string{".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}

// getPicture shows a picture of the release as it is, or as a JPEG of one of a few widths (?w=). An address that
// names the release (?v=) may be kept for ever; others are asked for again.
func (k *Kiosk) getPicture(c *fiber.Ctx) error {
	name, err := url.PathUnescape(c.Params("*"))
	if err != nil {
		return badRequest("the picture's name is not encoded as a part of an address")
	}
	width := 0
	if w := c.Query("w"); w != "" {
		if width, err = strconv.Atoi(w); err != nil || !slices.Contains(picture.Widths, width) {
			return badRequest(fmt.Sprintf("w must be one of %v", picture.Widths))
		}
	}
	return k.withContent(func(content *content) error {
		release := content.release.Manifest().ID
		file, ok := content.picturePath(name)
		if asked := c.Query("v"); asked != release {
			if f, before := k.shelf.pictureBefore(asked, name); before {
				file, ok, release = f, true, asked
			}
		}
		if !ok {
			return notFound("no such picture")
		}
		tag := fmt.Sprintf(`"%s-%d"`, release, width)
		c.Set(fiber.HeaderETag, tag)
		if c.Query("v") == release {
			c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
		} else {
			c.Set(fiber.HeaderCacheControl, "no-cache")
		}
		if strings.Contains(c.Get(fiber.HeaderIfNoneMatch), tag) {
			return c.SendStatus(fiber.StatusNotModified)
		}
		if width == 0 {
			return sendPicture(c, file)
		}
		jpeg, err := k.pictures.Scaled(k.stopping, file, width)
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderContentType, "image/jpeg")
		return c.Send(jpeg)
	})
}

// picturePath is where a picture is on disk. Only pictures that exhibits name can be had.
func (c *content) picturePath(name string) (string, bool) {
	if file, ok := c.release.PicturePath(picturesFolder + name); ok {
		return file, true
	}
	return c.release.PicturePath(name)
}

// sendPicture streams a file.
func sendPicture(c *fiber.Ctx, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("open picture: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return fmt.Errorf("open picture: %w", err)
	}
	typ, ok := pictureTypes[strings.ToLower(path.Ext(file))]
	if !ok {
		typ = fiber.MIMEOctetStream
	}
	c.Set(fiber.HeaderContentType, typ)
	return c.SendStream(f, int(info.Size())) // which closes f
}
