package kiosk

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"path"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// pages are the files of the built page. They are read from the binary when they are asked for: a copy of all of them
// in memory would be 11 MB of fonts.
type pages struct {
	from  fs.FS
	files map[string]page
}

type page struct {
	typ string
	tag string
	// forever is true of files whose name changes with their content.
	forever bool
	// zipped is the file as gzip, nil where that is not worth it. There is no brotli: browsers ask for it over TLS only.
	zipped []byte
}

// worthZipping is the least size in bytes at which a text is compressed, as below it no packet is saved.
const worthZipping = 1 << 10

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
	p := pages{from: from, files: map[string]page{}}
	if from == nil {
		return p, nil
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
		file := page{typ: pageType(name), tag: hex.EncodeToString(sum[:8]), forever: strings.HasPrefix(name, assets)}
		if compressible(file.typ) && len(body) >= worthZipping {
			file.zipped, err = zip(body)
		}
		p.files[name] = file
		return err
	})
	if err != nil {
		return pages{}, fmt.Errorf("read pages: %w", err)
	}
	return p, nil
}

// compressible says whether files of a content type become smaller; pictures, sounds and fonts are compressed already.
func compressible(typ string) bool {
	return strings.HasPrefix(typ, "text/") || strings.HasSuffix(typ, "json") || typ == "image/svg+xml" || typ == "application/wasm"
}

func zip(body []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
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
	file, ok := p.files[name]
	if !ok && path.Ext(name) == "" {
		name = "index.html"
		file, ok = p.files[name]
	}
	if !ok {
		return notFound("no such file")
	}
	tag := `"` + file.tag + `"`
	zipped := file.zipped != nil && c.Get(fiber.HeaderAcceptEncoding) != "" && c.AcceptsEncodings("gzip", "identity") == "gzip"
	if file.zipped != nil {
		c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
	}
	if zipped {
		tag = `"` + file.tag + `-gzip"` // other bytes
	}
	c.Set(fiber.HeaderContentType, file.typ)
	c.Set(fiber.HeaderETag, tag)
	if file.forever {
		c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	} else {
		c.Set(fiber.HeaderCacheControl, "no-cache")
	}
	if strings.Contains(c.Get(fiber.HeaderIfNoneMatch), tag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	if zipped {
		c.Set(fiber.HeaderContentEncoding, "gzip")
		return c.Send(file.zipped)
	}
	body, err := fs.ReadFile(p.from, name)
	if err != nil {
		return fmt.Errorf("read page: %w", err)
	}
	return c.Send(body)
}
