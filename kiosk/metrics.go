package kiosk

import (
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"docent/vision"
	"docent/vision/camera"
)

// metrics are what /metrics tells. Routes are patterns and not addresses, so their number is fixed.
type metrics struct {
	registry    *prometheus.Registry
	requests    *prometheus.HistogramVec
	recognition *prometheus.HistogramVec
	photos      *prometheus.CounterVec
	answers     *prometheus.CounterVec
	answerTime  prometheus.Histogram
	eventsLost  prometheus.Counter
}

func newMetrics(k *Kiosk) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "docent_http_request_seconds", Help: "Time to the start of an answer, by route and status.",
			Buckets: []float64{.005, .02, .1, .5, 2, 10},
		}, []string{"route", "status"}),
		recognition: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "docent_recognition_seconds", Help: "Time of each stage from a photo to its exhibit.",
			Buckets: []float64{.005, .01, .02, .05, .1, .2, .5, 1, 2, 5},
		}, []string{"stage"}),
		photos: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "docent_photos_total", Help: "Photos, by decision: match, choose, unknown.",
		}, []string{"decision"}),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "docent_answers_total", Help: "Turns of the guide, by outcome: answered, unanswered, explained, cancelled, failed.",
		}, []string{"outcome"}),
		answerTime: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "docent_answer_seconds", Help: "Time from a question to the end of its answer.",
			Buckets: []float64{.01, .05, .2, 1, 3, 10, 30},
		}),
		eventsLost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "docent_memory_events_lost_total", Help: "Memory events that could not be stored.",
		}),
	}
	m.registry.MustRegister(
		m.requests, m.recognition, m.photos, m.answers, m.answerTime, m.eventsLost,
		gauge("docent_visits_open", "Visits that have not ended.", func() float64 { return float64(k.visits.Len()) }),
		gauge("docent_picture_cache_bytes", "Scaled pictures in memory.", func() float64 { return float64(k.pictures.Size()) }),
		gauge("docent_camera_ready", "1 while the camera gives pictures.", func() float64 {
			if k.cameraState() == string(camera.StateReady) {
				return 1
			}
			return 0
		}),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "docent_camera_opened_total", Help: "How often the camera was opened, or tried to; 1 for one that never failed.",
		}, func() float64 {
			if k.camera == nil {
				return 0
			}
			return float64(k.camera.Health().Opened)
		}),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

func gauge(name, help string, value func() float64) prometheus.GaugeFunc {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
}

func (m *metrics) stages(from origin, t vision.Timings) {
	first := "decode"
	if from.camera {
		first = "capture"
	}
	stages := map[string]time.Duration{
		first: from.took, "features": t.Features, "shortlist": t.Shortlist, "verify": t.Verify, "total": from.took + t.Total + from.label.took,
	}
	if from.label.took > 0 {
		stages["label"] = from.label.took
	}
	for stage, d := range stages {
		m.recognition.WithLabelValues(stage).Observe(d.Seconds())
	}
}

// measure is the middleware that times requests.
func (m *metrics) measure(now func() time.Time) fiber.Handler {
	return func(c *fiber.Ctx) error {
		began := now()
		err := c.Next()
		status := c.Response().StatusCode()
		if err != nil {
			status = problemOf(err).status
		}
		route := c.Route().Path
		if route == "/" { // the page, and addresses that do not exist
			route = "other"
		}
		m.requests.WithLabelValues(route, strconv.Itoa(status)).Observe(now().Sub(began).Seconds())
		return err
	}
}

func (m *metrics) handler() fiber.Handler {
	return adaptor.HTTPHandler(promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
}
