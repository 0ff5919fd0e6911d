// Package embedding turns texts into vectors with an OpenAI-compatible server (/v1/embeddings): llama.cpp, Ollama, vLLM, or
// a service in the cloud. What was embedded once is kept on disk by the hash of its content.
package embedding

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"docent/localindex/internal/httpjson"
)

// Limits and usual values.
const (
	DefaultBatch   = 32
	MaxBatch       = 2048
	DefaultTimeout = 60 * time.Second // of one request; a small machine embeds a batch in seconds
	MaxDimension   = 4096
)

// ErrDimension is a server whose vectors are not as long as expected.
var ErrDimension = errors.New("vectors of another dimension")

// Options of a client.
type Options struct {
	BaseURL   string // such as http://127.0.0.1:8081/v1; "/embeddings" is appended
	APIKey    string // sent as bearer token where not empty
	Model     string // its name on the server
	Dimension int    // expected length of the vectors; 0 takes that of the first answer
	Timeout   time.Duration
	HTTP      *http.Client // nil means one of its own
}

// Client asks one model on one server. It is safe for concurrent use.
type Client struct {
	server  *httpjson.Server
	options Options
}

// New returns a client. It does not connect.
func New(o Options) (*Client, error) {
	if o.Model == "" {
		return nil, errors.New("embedding model name is empty")
	}
	if o.Dimension < 0 || o.Dimension > MaxDimension {
		return nil, fmt.Errorf("embedding dimension %d is not within 0 and %d", o.Dimension, MaxDimension)
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	server, err := httpjson.New(o.BaseURL, o.APIKey, o.HTTP)
	if err != nil {
		return nil, fmt.Errorf("embedding %w", err)
	}
	return &Client{server: server, options: o}, nil
}

// Model is the name of the model.
func (c *Client) Model() string { return c.options.Model }

// Embed returns one vector for each text, in their order, all of one length. It makes one request.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	if len(texts) > MaxBatch {
		return nil, fmt.Errorf("embed %d texts: at most %d at once", len(texts), MaxBatch)
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	var answer struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	in := struct {
		Model  string   `json:"model"`
		Input  []string `json:"input"`
		Format string   `json:"encoding_format"`
	}{c.options.Model, texts, "float"}
	if err := c.server.Post(ctx, "embeddings", in, &answer); err != nil {
		return nil, fmt.Errorf("embed %d texts: %w", len(texts), err)
	}
	vectors := make([][]float32, len(texts))
	for _, d := range answer.Data {
		if d.Index < 0 || d.Index >= len(texts) || vectors[d.Index] != nil {
			return nil, fmt.Errorf("embed %d texts: %w: there is a vector for text %d", len(texts), httpjson.ErrMalformed, d.Index)
		}
		vectors[d.Index] = d.Embedding
	}
	if err := check(vectors, c.options.Dimension); err != nil {
		return nil, fmt.Errorf("embed %d texts: %w", len(texts), err)
	}
	return vectors, nil
}

// check looks at what a server sent: a vector for each text, all of one length, all finite.
func check(vectors [][]float32, dimension int) error {
	for i, v := range vectors {
		if len(v) == 0 || len(v) > MaxDimension {
			return fmt.Errorf("%w: the vector of text %d has %d numbers", httpjson.ErrMalformed, i, len(v))
		}
		if dimension == 0 {
			dimension = len(v)
		}
		if len(v) != dimension {
			return fmt.Errorf("%w: the vector of text %d has %d numbers, want %d", ErrDimension, i, len(v), dimension)
		}
		for _, x := range v {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				return fmt.Errorf("%w: the vector of text %d is not finite", httpjson.ErrMalformed, i)
			}
		}
	}
	return nil
}
