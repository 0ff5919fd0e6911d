package main

import (
	"log/slog"
	"path/filepath"
	"time"

	"docent/agent"
	"docent/agent/model"
	"docent/agent/trace/store"
	"docent/agent/web"
	"docent/kiosk"
)

// newGuide makes the guide of a kiosk: with a model, a look-up in the web and traces where the settings name them.
func newGuide(c kiosk.Config, traces *store.Store, log *slog.Logger) (*agent.Guide, error) {
	o := agent.Options{
		Logger: log, FirstTokenTimeout: c.Model.FirstTokenTimeout, AnswerTimeout: c.Model.AnswerTimeout,
		Prices: agent.Prices{In: c.Model.PriceIn, Out: c.Model.PriceOut},
	}
	if c.Model.BaseURL != "" {
		client, err := model.New(model.Options{BaseURL: c.Model.BaseURL, APIKey: c.Model.Key.Reveal(), Model: c.Model.Name})
		if err != nil {
			return nil, err
		}
		o.Model = client
	}
	if len(c.Web.Pages) > 0 {
		client, err := web.New(c.Web.Options())
		if err != nil {
			return nil, err
		}
		o.Web = client
	}
	if traces != nil {
		o.Trace = traces
	}
	return agent.New(o), nil
}

// openTraces opens what is kept of how answers came about; nil where nothing is.
func openTraces(c kiosk.Config, log *slog.Logger) (*store.Store, error) {
	if c.Trace.Days == 0 {
		return nil, nil
	}
	return store.Open(tracesDir(c), store.Options{Retention: time.Duration(c.Trace.Days) * 24 * time.Hour, Words: c.Trace.Words, Logger: log})
}

func tracesDir(c kiosk.Config) string { return filepath.Join(c.DataDir, "traces") }
