package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"

	"docent/kiosk"
	"docent/sync/wire"
)

type emergencyCmd struct {
	Show emergencyShowCmd `cmd:"" help:"Cover the screens of all kiosks with a message until it is ended."`
	End  emergencyEndCmd  `cmd:"" help:"Take the message off."`
	Tell emergencyTellCmd `cmd:"" help:"Say which message is shown."`
}

type emergencyShowCmd struct {
	Text []string `required:"" sep:"none" help:"The message in one language, once for each: --text 'en=Please leave the building.'" placeholder:"LANGUAGE=MESSAGE"`
	hubPage
}

// texts are the messages by language.
func (c emergencyShowCmd) texts() (map[string]string, error) {
	texts := map[string]string{}
	for _, given := range c.Text {
		language, text, ok := strings.Cut(given, "=")
		if language, text = strings.TrimSpace(language), strings.TrimSpace(text); !ok || language == "" || text == "" {
			return nil, fmt.Errorf("--text %q has no language or no message; write, for one, --text 'en=Please leave the building.'", given)
		} else if texts[language] != "" {
			return nil, fmt.Errorf("--text is given twice for the language %s; give it once for each language", language)
		} else {
			texts[language] = text
		}
	}
	if err := (wire.Emergency{Number: 1, Text: texts}).Validate(); err != nil {
		return nil, fmt.Errorf("--text: %w", err)
	}
	return texts, nil
}

func (c emergencyShowCmd) Run(ctx context.Context, t *terminal) error {
	var told struct {
		Kiosks int `json:"kiosks"`
	}
	texts, err := c.texts()
	if err != nil {
		return usageError{err}
	}
	if err := c.send(ctx, http.MethodPut, "/emergency", map[string]any{"text": texts}, &told); err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.out, "Sent to %s. Those that are away show it as soon as they are back. End it with: docent emergency end\n", count(told.Kiosks, "kiosk"))
	return err
}

type emergencyEndCmd struct {
	hubPage
}

func (c emergencyEndCmd) Run(ctx context.Context, t *terminal) error {
	if err := c.send(ctx, http.MethodDelete, "/emergency", nil, nil); err != nil {
		return err
	}
	_, err := fmt.Fprintln(t.out, "No message is shown any more.")
	return err
}

type emergencyTellCmd struct {
	hubPage
}

func (c emergencyTellCmd) Run(ctx context.Context, t *terminal) error {
	var shown struct {
		Text map[string]string `json:"text"`
	}
	if err := c.send(ctx, http.MethodGet, "/emergency", nil, &shown); err != nil {
		return err
	}
	if len(shown.Text) == 0 {
		_, err := fmt.Fprintln(t.out, "No message is shown.")
		return err
	}
	var lines []string
	for lang, text := range shown.Text {
		lines = append(lines, lang+": "+text+"\n")
	}
	slices.Sort(lines)
	_, err := fmt.Fprint(t.out, strings.Join(lines, ""))
	return err
}

// siren carries emergency messages from the link, which must not wait, to the kiosk. It keeps the newest.
type siren struct {
	mu     sync.Mutex
	newest wire.Emergency
	rung   chan struct{} // capacity 1
}

func newSiren() *siren { return &siren{rung: make(chan struct{}, 1)} }

// ring notes a message.
func (s *siren) ring(e wire.Emergency) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Number <= s.newest.Number {
		return
	}
	s.newest = e
	select {
	case s.rung <- struct{}{}:
	default:
	}
}

// run covers the kiosk's screens until ctx is done.
func (s *siren) run(ctx context.Context, k *kiosk.Kiosk, log *slog.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.rung:
		}
		s.mu.Lock()
		e := s.newest
		s.mu.Unlock()
		if err := k.SetEmergency(kiosk.Emergency{Number: e.Number, Text: e.Text}); err != nil {
			log.Error("emergency message", "error", err)
		}
	}
}
