package main

import (
	"context"
	"strings"

	"docent/agent/model"
	"docent/kiosk"
	"docent/localindex"
	"docent/localindex/embedding"
	"docent/localindex/hyde"
	"docent/localindex/rerank"
)

// searchServices are the servers that help a kiosk to find passages.
func searchServices(c kiosk.Config) (localindex.Services, error) {
	var s localindex.Services
	if e := c.Search.Embeddings; e.BaseURL != "" {
		client, err := embedding.New(embedding.Options{BaseURL: e.BaseURL, APIKey: e.Key.Reveal(), Model: e.Name})
		if err != nil {
			return s, err
		}
		s.Embedder = client
	}
	var steps []rerank.Step
	if r := c.Search.Rerank; r.BaseURL != "" {
		service, err := rerank.NewService(rerank.ServiceOptions{BaseURL: r.BaseURL, APIKey: r.Key.Reveal(), Model: r.Name})
		if err != nil {
			return s, err
		}
		steps = append(steps, rerank.Step{Reranker: service, Timeout: rerank.DefaultServiceTimeout})
	}
	if c.Search.UseModel && c.Model.BaseURL != "" {
		client, err := model.New(model.Options{BaseURL: c.Model.BaseURL, APIKey: c.Model.Key.Reveal(), Model: c.Model.Name})
		if err != nil {
			return s, err
		}
		writer := completer{client}
		steps = append(steps, rerank.Step{Reranker: rerank.NewModel(writer), Timeout: rerank.DefaultModelTimeout})
		s.Hypotheses = hyde.New(hyde.Options{Model: writer})
	}
	if len(steps) > 0 {
		s.Reranking = rerank.NewChain(nil, steps...)
	}
	return s, nil
}

// completer has a chat model write a whole text.
type completer struct{ client *model.Client }

// Complete returns what the model wrote. A text that it did not finish within the tokens is an error, as it is elsewhere.
func (c completer) Complete(ctx context.Context, system, user string, maxTokens int) (string, error) {
	var b strings.Builder
	r := model.Request{
		Messages:  []model.Message{{Role: model.System, Content: system}, {Role: model.User, Content: user}},
		MaxTokens: maxTokens,
	}
	for piece, err := range c.client.Stream(ctx, r) {
		if err != nil {
			return "", err
		}
		b.WriteString(piece)
	}
	return b.String(), nil
}
