package kiosk

import (
	"net/url"

	"docent/internal/settings"
)

// SearchConfig names servers that help to find passages. None is needed: a release is searched by its own words and
// vectors, and so it is where a server fails.
type SearchConfig struct {
	// Embeddings makes the vectors of questions, with the model that made those of the release.
	Embeddings ServerConfig `koanf:"embeddings"`
	// Rerank puts passages into a better order.
	Rerank ServerConfig `koanf:"rerank"`
	// UseModel lets the chat model put passages into order where the rerank server does not, and write what an answer
	// might look like, which is looked for beside the question. On a small machine both take seconds.
	UseModel bool `koanf:"use_model"`
}

// ServerConfig names a model on an OpenAI-compatible server. An empty BaseURL means none.
type ServerConfig struct {
	BaseURL string          `koanf:"base_url"` // such as http://127.0.0.1:8081/v1
	Key     settings.Secret `koanf:"key"`
	Name    string          `koanf:"name"` // of the model
}

// validate names every value that will not do.
func (c SearchConfig) validate(p *settings.Problems) {
	c.Embeddings.validate(p, "search.embeddings", true)
	c.Rerank.validate(p, "search.rerank", false)
}

func (c ServerConfig) validate(p *settings.Problems, key string, named bool) {
	if c.BaseURL == "" {
		return
	}
	if u, err := url.Parse(c.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		p.Add(key+".base_url", "is not an http or https address")
	}
	if named {
		p.Need(key+".name", c.Name)
	}
}
