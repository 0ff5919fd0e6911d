package main

import (
	"fmt"
	"strconv"
	"time"

	"docent/sync/enrol"
	"docent/sync/link"
	"docent/sync/outbox"
)

// staffStatus says what staff read on the kiosk's diagnostics page about the parts outside the kiosk.
func staffStatus(box *outbox.Outbox, line *link.Link, id *enrol.Identity) map[string]string {
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
		out["hub"] = word
		if !s.Since.IsZero() {
			word += " since " + s.Since.UTC().Format(time.DateTime) + " UTC"
		}
		if s.LastError != "" && !s.Connected {
			word = fmt.Sprintf("%s: %s", word, s.LastError)
		}
		out["link"] = word
	}
	if id != nil {
		out["enrolment"] = enrolmentStatus(id.State())
	}
	return out
}

// enrolmentStatus says how far the kiosk is with its certificate, and what staff can do.
func enrolmentStatus(s enrol.State) string {
	var text string
	switch s.Phase {
	case enrol.PhaseEnrolled:
		return "enrolled, certificate until " + s.Until.UTC().Format(time.DateOnly)
	case enrol.PhaseWaiting:
		text = fmt.Sprintf("type the code %s %s at the hub (docent hub kiosks authorise), until %s UTC. Fingerprint of the hub: %s",
			s.Code[:3], s.Code[3:], s.CodeUntil.UTC().Format(time.TimeOnly), s.Fingerprint)
	case enrol.PhaseNone:
		return "not enrolled, the hub has not answered"
	}
	if s.Reason != "" {
		if text != "" {
			text += ". "
		}
		text += "Refused (" + s.Reason + "): " + s.Detail
	}
	return text
}
