package kiosk

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"docent/kiosk/visit"
	"docent/vision"
	"docent/vision/camera"
)

// code is the stable word of a problem, which pages may act on.
type code string

// The codes of problems.
const (
	codeNotAPicture      code = "not_a_picture"
	codePictureTooLarge  code = "picture_too_large"
	codePictureTooSmall  code = "picture_too_small"
	codePictureBroken    code = "picture_broken"
	codeQuestionEmpty    code = "question_empty"
	codeQuestionTooLong  code = "question_too_long"
	codeTooManyQuestions code = "too_many_questions"
	codeNoSuchVisit      code = "no_such_visit"
	codeNoSuchExhibit    code = "no_such_exhibit"
	codeNoCamera         code = "no_camera"
	codeTooDark          code = "too_dark"
	codeBlurred          code = "blurred"
	codeBusy             code = "busy"
	codeNotReady         code = "not_ready"
	codeBadRequest       code = "bad_request"
	codeForbidden        code = "forbidden"
	codeNotFound         code = "not_found"
	codeMethodNotAllowed code = "method_not_allowed"
	codeChanged          code = "changed"
	codeInternal         code = "internal"
)

// problem is a request that is not answered, as a visitor is told about it.
type problem struct {
	status int
	code   code
	// variant chooses a more particular sentence, such as "heic" of not_a_picture; empty means the general one.
	variant string
	reason  string // for developers, English; never a visitor's words
	retry   int    // seconds after which it may work; 0 says nothing
	cause   error  // for the log; nil where there is nothing to log
}

func (p *problem) Error() string {
	text := string(p.code)
	if p.reason != "" {
		text += ": " + p.reason
	}
	return text
}

func (p *problem) Unwrap() error { return p.cause }

func badRequest(reason string) *problem {
	return &problem{status: fiber.StatusBadRequest, code: codeBadRequest, reason: reason}
}

func notFound(what string) *problem {
	return &problem{status: fiber.StatusNotFound, code: codeNotFound, reason: what}
}

func noSuchExhibit() *problem {
	return &problem{status: fiber.StatusNotFound, code: codeNoSuchExhibit}
}

func busy(what string) *problem {
	return &problem{status: fiber.StatusServiceUnavailable, code: codeBusy, reason: what, retry: 2}
}

// tooManyQuestions says when the next question is answered.
func tooManyQuestions(wait time.Duration) *problem {
	return &problem{
		status: fiber.StatusTooManyRequests, code: codeTooManyQuestions, reason: "the questions of this minute are used up",
		retry: int(math.Ceil(wait.Seconds())),
	}
}

func notReady(what string) *problem {
	return &problem{status: fiber.StatusServiceUnavailable, code: codeNotReady, reason: what, retry: 5}
}

// problemOf finds what to tell a visitor about err: its own problem, one of the errors of the parts, or that
// something went wrong here.
func problemOf(err error) *problem {
	var p *problem
	var f *fiber.Error
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, visit.ErrNone):
		return &problem{status: fiber.StatusNotFound, code: codeNoSuchVisit}
	case errors.Is(err, vision.ErrFormat):
		return &problem{status: fiber.StatusUnsupportedMediaType, code: codeNotAPicture, variant: formatVariant(err)}
	case errors.Is(err, vision.ErrTooLarge):
		return &problem{status: fiber.StatusRequestEntityTooLarge, code: codePictureTooLarge, reason: err.Error()}
	case errors.Is(err, vision.ErrTooSmall):
		return &problem{status: fiber.StatusUnprocessableEntity, code: codePictureTooSmall, reason: err.Error()}
	case errors.Is(err, vision.ErrBroken):
		return &problem{status: fiber.StatusUnprocessableEntity, code: codePictureBroken, reason: err.Error()}
	case errors.Is(err, camera.ErrNotReady), errors.Is(err, camera.ErrClosed):
		return &problem{status: fiber.StatusServiceUnavailable, code: codeNoCamera, retry: 5}
	case errors.Is(err, camera.ErrBusy):
		return busy("preview")
	case errors.Is(err, visit.ErrClosed):
		return notReady("stopping")
	case errors.As(err, &f):
		return serverProblem(f)
	}
	return &problem{status: fiber.StatusInternalServerError, code: codeInternal, cause: err}
}

// formatVariant says for which refused files there is a sentence of their own.
func formatVariant(err error) string {
	var f *vision.FormatError
	if errors.As(err, &f) && (f.Format == "HEIC" || f.Format == "HEIF" || f.Format == "AVIF") {
		return "heic"
	}
	return ""
}

// serverProblem is for what the HTTP server itself refuses, before any handler sees the request.
func serverProblem(f *fiber.Error) *problem {
	p := &problem{status: f.Code, code: codeBadRequest, reason: f.Message}
	switch {
	case f.Code == fiber.StatusNotFound:
		p.code = codeNotFound
	case f.Code == fiber.StatusMethodNotAllowed:
		p.code = codeMethodNotAllowed
	case f.Code >= 500:
		p.code, p.reason, p.cause = codeInternal, "", f
	}
	return p
}

// problemBody is a problem as RFC 9457 writes it. Code and reason are our extensions.
type problemBody struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Code   code   `json:"code"`
	Reason string `json:"reason,omitempty"`
}

// refuse is the app's error handler: the one place where an error becomes an answer.
func (k *Kiosk) refuse(c *fiber.Ctx, err error) error {
	p := problemOf(err)
	if p.status == fiber.StatusRequestEntityTooLarge && p.code == codeBadRequest {
		p = tooLargeBody(c.Path())
	}
	if p.cause != nil {
		k.log.Error("answer request", "route", c.Route().Path, "status", p.status, "error", p.cause)
	}
	s := sentenceFor(p, k.language(c))
	body, err := json.Marshal(problemBody{
		Type: "urn:docent:problem:" + string(p.code), Title: s.title, Status: p.status, Detail: s.detail,
		Code: p.code, Reason: p.reason,
	})
	if err != nil {
		return err
	}
	c.Status(p.status)
	c.Set(fiber.HeaderContentType, "application/problem+json")
	c.Set(fiber.HeaderCacheControl, "no-store")
	if p.retry > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(p.retry))
	}
	return c.Send(body)
}

// tooLargeBody says what was too large where the server stopped reading a request.
func tooLargeBody(path string) *problem {
	p := &problem{status: fiber.StatusRequestEntityTooLarge, code: codeBadRequest, reason: "the request is too large"}
	switch strings.TrimSuffix(path, "/") {
	case api + "/photo":
		p.code = codePictureTooLarge
	case api + "/ask":
		p.code = codeQuestionTooLong
	}
	return p
}
