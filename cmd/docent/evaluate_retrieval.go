package main

import (
	"context"
	"errors"
	"os"

	"docent/localindex"
	"docent/localindex/embedding"
	"docent/localindex/evaluate"
	"docent/localindex/gallery"
	"docent/localindex/rerank"
)

type evaluateRetrievalCmd struct {
	Squad     string `required:"" type:"existingfile" help:"SQuAD-shaped JSON: a question's relevant passage is the paragraph that holds it."`
	Questions string `type:"existingfile" help:"Take the words of the questions from this file, which has the same ids (another language)."`
	Mode      string `enum:"bm25,dense,hybrid,rerank" default:"hybrid" help:"What answers: bm25, dense, hybrid or rerank."`

	Embeddings      string `help:"Base URL of an OpenAI-compatible server for vectors; the key is read from DOCENT_SEARCH_EMBEDDINGS_KEY." placeholder:"URL"`
	EmbeddingsModel string `help:"Its model." placeholder:"NAME"`
	Rerank          string `help:"Base URL of a rerank service; the key is read from DOCENT_SEARCH_RERANK_KEY." placeholder:"URL"`
	RerankModel     string `help:"Its model." placeholder:"NAME"`

	JSON string `name:"json" help:"Write the report to this file, - for standard output." placeholder:"FILE"`
}

func (c evaluateRetrievalCmd) Run(ctx context.Context, t *terminal) error {
	bar := newProgress(t.err, "Asking")
	o := evaluate.Options{Squad: c.Squad, Questions: c.Questions, Mode: localindex.Mode(c.Mode), Progress: bar.set}
	if err := c.servers(&o); err != nil {
		return usageError{err}
	}
	report, err := evaluate.Run(ctx, o)
	bar.end()
	if errors.Is(err, evaluate.ErrInput) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	return t.summary(c.JSON, report)
}

// servers sets up those that were named.
func (c evaluateRetrievalCmd) servers(o *evaluate.Options) error {
	if c.Embeddings != "" {
		o.Search.Embeddings = gallery.Embeddings{BaseURL: c.Embeddings, Model: c.EmbeddingsModel}
		client, err := newEmbedder(o.Search.Embeddings)
		if err != nil {
			return err
		}
		o.Embedder, o.Services.Embedder = client, client
	}
	if c.Rerank != "" {
		service, err := rerank.NewService(rerank.ServiceOptions{BaseURL: c.Rerank, Model: c.RerankModel, APIKey: os.Getenv("DOCENT_SEARCH_RERANK_KEY")})
		if err != nil {
			return err
		}
		o.Services.Reranking = rerank.NewChain(nil, rerank.Step{Reranker: service, Timeout: rerank.DefaultServiceTimeout})
	}
	return nil
}

// newEmbedder is the client of the embedding server that a gallery names. Its key never stands in the gallery.
func newEmbedder(e gallery.Embeddings) (localindex.Embedder, error) {
	return embedding.New(embedding.Options{
		BaseURL: e.BaseURL, Model: e.Model, Dimension: e.Dimension, APIKey: os.Getenv("DOCENT_SEARCH_EMBEDDINGS_KEY"),
	})
}
