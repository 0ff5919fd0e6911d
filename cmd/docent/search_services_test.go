package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"docent/kiosk"
)

func TestSearchServices(t *testing.T) {
	c := kiosk.DefaultConfig()
	s, err := searchServices(c)
	if err != nil || s.Embedder != nil || s.Reranking != nil || s.Hypotheses != nil {
		t.Errorf("without any server the services are %+v, %v", s, err)
	}
	chat := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"[7, 3]"},"finish_reason":"stop"}]}`))
	}))
	defer chat.Close()
	c.Model.BaseURL, c.Model.Name = chat.URL, "chat"
	if s, err = searchServices(c); err != nil || s.Reranking != nil {
		t.Errorf("a chat model that is not to be used: %+v, %v", s, err)
	}
	c.Search.UseModel = true
	c.Search.Embeddings = kiosk.ServerConfig{BaseURL: chat.URL, Name: "vectors"}
	c.Search.Rerank = kiosk.ServerConfig{BaseURL: "http://127.0.0.1:1"} // nobody is there
	if s, err = searchServices(c); err != nil || s.Embedder.Model() != "vectors" || s.Hypotheses == nil {
		t.Fatalf("services are %+v, %v", s, err)
	}
	answer, err := s.Reranking.Rerank(t.Context(), "why", []string{"a", "b"})
	if err != nil || answer.By != "model" || answer.Scores[0] != 7 || len(answer.Passed) != 1 {
		t.Errorf("reranked %+v, %v", answer, err)
	}
	text, _, err := s.Hypotheses.Write(t.Context(), "why blue", "en")
	if err != nil || text != "[7, 3]" {
		t.Errorf("hypothesis %q, %v", text, err)
	}
}
