package kiosk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	jpegs "image/jpeg"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"time"

	"github.com/gofiber/fiber/v2"

	"docent/kiosk/visit"
	"docent/vision"
)

const (
	photoSide    = 1280 // long side in pixels of the photo that the page shows
	photoQuality = 85

	slotWait      = 3 * time.Second  // for a free recognition, before a visitor is told "busy"
	burstWait     = 8 * time.Second  // for the camera
	recogniseWait = 20 * time.Second // for an answer
	maxParts      = 16               // of a multipart body
)

type decision = vision.Decision

// photoAnswer is what a photo shows.
type photoAnswer struct {
	Photo struct {
		ID     string `json:"id"`
		URL    string `json:"url"`
		Width  int    `json:"width"`
		Height int    `json:"height"`
	} `json:"photo"`
	Decision   decision          `json:"decision"`
	By         string            `json:"by"` // photo, or label where its text decided
	Advice     vision.AdviceCode `json:"advice"`
	Candidates []candidate       `json:"candidates"`
	Timings    timings           `json:"timings_ms"`
}

type candidate struct {
	Exhibit    exhibitCard  `json:"exhibit"`
	Confidence float64      `json:"confidence"`
	Inliers    int          `json:"inliers"`
	Outline    [][2]float64 `json:"outline"` // null where it was not verified
}

type timings struct {
	Capture   float64 `json:"capture"` // waiting for the camera's frames; 0 for an upload
	Decode    float64 `json:"decode"`  // of an upload; 0 for the camera
	Features  float64 `json:"features"`
	Shortlist float64 `json:"shortlist"`
	Verify    float64 `json:"verify"`
	Label     float64 `json:"label"` // reading a label; 0 where the picture was enough
	Total     float64 `json:"total"`
}

// postPhoto names the exhibit on a photo: the one in the multipart field "photo", or, with an empty body, one that the
// camera takes now.
func (k *Kiosk) postPhoto(c *fiber.Ctx) error { return k.takePhoto(c, c.Query("visit")) }

func (k *Kiosk) takePhoto(c *fiber.Ctx, visit string) error {
	v, err := k.visits.Get(visit)
	if err != nil {
		return err
	}
	return k.withContent(func(content *content) error {
		ctx, cancel := context.WithTimeout(k.stopping, recogniseWait)
		defer cancel()
		if err := takeSlot(ctx, k.recognitions, slotWait); err != nil {
			return busy("recognition")
		}
		defer func() { <-k.recognitions }()

		began := k.now()
		photo, err := k.photograph(ctx, c)
		if err != nil {
			return err
		}
		defer photo.Close()
		got := origin{camera: len(c.Request().Body()) == 0, took: k.now().Sub(began)}
		seen, err := content.recogniser.Recognise(ctx, photo)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return busy("recognition took too long")
		case k.stopping.Err() != nil:
			return notReady("stopping")
		case err != nil:
			return fmt.Errorf("recognise photo: %w", err)
		}
		if seen.Decision != vision.DecisionMatch && k.labels != nil {
			seen, got.label = k.readLabel(ctx, content, photo, seen)
		}
		k.metrics.stages(got, seen.Timings)
		k.metrics.photos.WithLabelValues(string(seen.Decision)).Inc()
		return k.answerPhoto(c, content, v, photo, got, seen)
	})
}

// origin is where a photo came from and how long that took, and what its label told.
type origin struct {
	camera bool
	took   time.Duration
	label  reading
}

func (o origin) timings(t vision.Timings) timings {
	out := timings{
		Decode: millis(o.took), Features: millis(t.Features), Shortlist: millis(t.Shortlist), Verify: millis(t.Verify),
		Label: millis(o.label.took), Total: millis(o.took + t.Total + o.label.took),
	}
	if o.camera {
		out.Capture, out.Decode = out.Decode, 0
	}
	return out
}

// by says what decided.
func (o origin) by() string {
	if o.label.decided {
		return "label"
	}
	return "photo"
}

// takeSlot puts a value into slots, waiting for room.
func takeSlot(ctx context.Context, slots chan<- struct{}, wait time.Duration) error {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case slots <- struct{}{}:
		return nil
	case <-t.C:
		return context.DeadlineExceeded
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *Kiosk) photograph(ctx context.Context, c *fiber.Ctx) (vision.Photo, error) {
	body := c.Request().Body()
	if len(body) == 0 {
		return k.capture(ctx)
	}
	data, err := photoField(c.Get(fiber.HeaderContentType), body)
	if err != nil {
		return vision.Photo{}, err
	}
	photo, err := vision.Decode(data)
	photo.TakenAt = k.now()
	return photo, err
}

func (k *Kiosk) capture(ctx context.Context) (vision.Photo, error) {
	if k.camera == nil {
		return vision.Photo{}, &problem{status: fiber.StatusServiceUnavailable, code: codeNoCamera}
	}
	ctx, cancel := context.WithTimeout(ctx, burstWait)
	defer cancel()
	photo, err := k.camera.Burst(ctx, k.config.Camera.Burst)
	if errors.Is(err, context.DeadlineExceeded) {
		return vision.Photo{}, &problem{status: fiber.StatusServiceUnavailable, code: codeNoCamera, reason: "no frame came in time", retry: 5}
	}
	return photo, err
}

// photoField returns the field "photo" of a multipart body, which it shares memory with.
func photoField(contentType string, body []byte) ([]byte, error) {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil || media != fiber.MIMEMultipartForm || params["boundary"] == "" {
		return nil, &problem{status: fiber.StatusUnsupportedMediaType, code: codeBadRequest, reason: "the content type must be multipart/form-data"}
	}
	parts := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for range maxParts {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, badRequest("the multipart body is broken: " + err.Error())
		}
		if part.FormName() != "photo" {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(part, int64(vision.VisitorLimits.Bytes)+1))
		if err != nil {
			return nil, badRequest("the multipart body is broken: " + err.Error())
		}
		return data, nil
	}
	return nil, badRequest(`the multipart body has no field "photo"`)
}

// answerPhoto keeps the photo, notes what was seen, and answers.
func (k *Kiosk) answerPhoto(c *fiber.Ctx, content *content, v visit.Visit, photo vision.Photo, got origin, seen vision.Recognition) error {
	jpeg, err := photo.JPEG(photoSide, photoQuality)
	if err != nil {
		return fmt.Errorf("keep photo: %w", err)
	}
	shown, err := jpegs.DecodeConfig(bytes.NewReader(jpeg))
	if err != nil {
		return fmt.Errorf("keep photo: %w", err)
	}
	out := photoAnswer{
		Decision: seen.Decision, By: got.by(), Advice: vision.Judge(photo).Code, Candidates: []candidate{},
		Timings: got.timings(seen.Timings),
	}
	var offers []visit.Offer
	for _, found := range seen.Candidates {
		e, ok := content.release.Exhibit(found.ExhibitID)
		if !ok {
			k.log.Warn("recognised an exhibit that the release does not have", "exhibit", found.ExhibitID)
			continue
		}
		out.Candidates = append(out.Candidates, candidate{
			Exhibit: content.card(e, v.Language), Confidence: found.Confidence, Inliers: found.Inliers, Outline: outline(found.Outline),
		})
		offers = append(offers, visit.Offer{Exhibit: e.ID, Decision: string(seen.Decision), Confidence: found.Confidence})
	}
	if len(offers) == 0 {
		out.Decision = vision.DecisionUnknown
	}
	// Put first: should the visit end now, its end wipes the photo.
	id := k.photos.put(v.Name(), jpeg)
	now, err := k.visits.Update(v.ID, func(v *visit.Visit) {
		v.Offered = offers
		if out.Decision == vision.DecisionMatch {
			v.Hold(offers[0].Exhibit)
		}
	})
	if err != nil { // it ended while its photo was looked at
		k.photos.wipe(v.Name())
		return err
	}
	k.changed(now)
	switch out.Decision {
	case vision.DecisionMatch:
		k.remember(eventExhibitSeen, exhibitSeen{
			Visit: v.Name(), Exhibit: offers[0].Exhibit, Decision: out.Decision, Confidence: offers[0].Confidence, By: got.by(),
		})
	case vision.DecisionUnknown:
		k.remember(eventPhotoUnknown, photoUnknown{Visit: v.Name()})
	}
	out.Photo.ID, out.Photo.Width, out.Photo.Height = id, shown.Width, shown.Height
	out.Photo.URL = api + "/photo/" + id + "?visit=" + url.QueryEscape(v.ID)
	return c.JSON(out)
}

func outline(points []vision.Point) [][2]float64 {
	if points == nil {
		return nil
	}
	out := make([][2]float64, len(points))
	for i, p := range points {
		out[i] = [2]float64{p.X, p.Y}
	}
	return out
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// getPhoto shows a photo to the visit it belongs to.
func (k *Kiosk) getPhoto(c *fiber.Ctx) error {
	v, err := k.visits.Get(c.Query("visit"))
	if err != nil {
		return err
	}
	jpeg, ok := k.photos.get(v.Name(), c.Params("id"))
	if !ok {
		return notFound("no such photo")
	}
	c.Set(fiber.HeaderContentType, "image/jpeg")
	return c.Send(jpeg)
}
