package main

import (
	"fmt"
	"strconv"
	"time"

	"docent/sync/link"
	"docent/sync/outbox"
)

// staffStatus says what staff read on the kiosk's diagnostics page about the parts outside the kiosk.
func staffStatus(box *outbox.Outbox, line *link.Link) map[string]string {
	out := map[string]string{"version": version()}
	held := box.State()
	out["outbox"] = strconv.FormatUint(held.Depth, 10)
	if held.Degraded != "" {
		out["outbox"] += " (" + held.Degraded + ")"
	}
	switch {
	case line == nil:
		out["link"] = "–"
	default:
		s := line.State()
		word := "connected"
		if !s.Connected {
			word = "not connected"
		}
		if !s.Since.IsZero() {
			word += " since " + s.Since.UTC().Format(time.DateTime) + " UTC"
		}
		if s.LastError != "" && !s.Connected {
			word = fmt.Sprintf("%s: %s", word, s.LastError)
		}
		out["link"] = word
	}
	return out
}
