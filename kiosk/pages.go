package kiosk

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"path"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// pages are the files of the built page, in memory: a few megabytes, most of them fonts.
type pages map[string]page

type page struct {
	body []byte
	typ  string
	tag  string
	// forever is true of files whose name changes with their content.
	forever bool
}

// assets is where the builder puts files with a hash in their name.
const assets = "assets/"

// pageTypes are the content types of what builders make. The system's own table differs from machine to machine.
var pageTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8", ".json": "application/json", ".map": "application/json", ".svg": "image/svg+xml",
	".png": "image/png", ".jpg": "image/jpeg", ".webp": "image/webp", ".ico": "image/x-icon", ".woff2": "font/woff2", ".woff": "font/woff",
	".txt": "text/plain; charset=utf-8", ".webmanifest": "application/manifest+json", ".wasm": "application/wasm",
	".mp3": "audio/mpeg", ".ogg": "audio/ogg",
}

func readPages(from fs.FS) (pages, error) {
	all := pages{}
	if from == nil {
		return all, nil
	}
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		body, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(body)
		all[name] = page{
			body: body, typ: pageType(name), tag: `"` + hex.EncodeToString(sum[:8]) + `"`, forever: strings.HasPrefix(name, assets),
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read pages: %w", err)
	}
	return all, nil
}

func pageType(name string) string {
	ext := strings.ToLower(path.Ext(name))
	if t, ok := pageTypes[ext]; ok {
		return t
	}
	if t := mime.TypeByExtension(ext); t != "" {
		return t
	}
	return fiber.MIMEOctetStream
}

// serve sends the file of that address. An address without an extension is one of the page's own, so it gets
// index.html; a missing file does not, or a browser would take the page for a script.
func (p pages) serve(c *fiber.Ctx) error {
	name := strings.TrimPrefix(path.Clean("/"+c.Path()), "/")
	file, ok := p[name]
	if !ok && path.Ext(name) == "" {
		file, ok = p["index.html"]
	}
	if !ok {
		return notFound("no such file")
	}
	c.Set(fiber.HeaderContentType, file.typ)
	c.Set(fiber.HeaderETag, file.tag)
	if file.forever {
		c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	} else {
		c.Set(fiber.HeaderCacheControl, "no-cache")
	}
	if strings.Contains(c.Get(fiber.HeaderIfNoneMatch), file.tag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	return c.Send(file.body)
}
