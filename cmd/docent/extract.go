package main

import (
	"context"
	"strings"

	"docent/agent/model"
	"docent/kiosk"
)

// extractTokens bounds what a model says about one sentence of a visitor.
const extractTokens = 400

// newExtractor lets the model of the settings find what visitors say about themselves; nil where there is none.
func newExtractor(c kiosk.ModelConfig) (func(ctx context.Context, system, user string) (string, error), error) {
	if c.BaseURL == "" {
		return nil, nil
	}
	client, err := model.New(model.Options{BaseURL: c.BaseURL, APIKey: c.Key.Reveal(), Model: c.Name})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, system, user string) (string, error) {
		var b strings.Builder
		r := model.Request{MaxTokens: extractTokens, Messages: []model.Message{{Role: "system", Content: system}, {Role: "user", Content: user}}}
		for piece, err := range client.Stream(ctx, r) {
			if err != nil {
				return "", err
			}
			b.WriteString(piece)
		}
		return b.String(), nil
	}, nil
}
