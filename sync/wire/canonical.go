package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// MaxDepth is how deep an event's data may be nested, itself included: whoever shows it puts it into more JSON, and JSON
// readers have their own limits.
const MaxDepth = 64

// ReadEvent is DecodeEvent that also returns the canonical bytes, which share memory with b where b is canonical already, as
// what our kiosks send is.
func ReadEvent(b []byte) (Event, []byte, error) {
	if e, ok := readCanonical(b); ok {
		return e, b, nil
	}
	e, err := DecodeEvent(b)
	if err != nil {
		return Event{}, nil, err
	}
	canonical, err := e.Encode()
	return e, canonical, err
}

// appendCanonical writes a valid event. No field but data has a character that JSON would escape.
func (e Event) appendCanonical(b []byte) ([]byte, error) {
	b = append(b, `{"schema":`...)
	b = strconv.AppendInt(b, int64(e.Schema), 10)
	b = append(append(b, `,"kiosk_id":"`...), e.KioskID...)
	b = append(append(b, `","stream_id":"`...), e.StreamID...)
	b = strconv.AppendUint(append(b, `","seq":`...), e.Seq, 10)
	b = append(append(b, `,"event_id":"`...), e.EventID...)
	b = e.TSWall.AppendFormat(append(b, `","ts_wall":"`...), time.RFC3339Nano)
	b = strconv.AppendInt(append(b, `","ts_mono_ms":`...), e.TSMonoMS, 10)
	b = append(append(b, `,"boot_id":"`...), e.BootID...)
	b = strconv.AppendBool(append(b, `","clock_synced":`...), e.ClockSynced)
	b = append(append(b, `,"type":"`...), e.Type...)
	b = append(b, `","data":`...)
	data := bytes.NewBuffer(b)
	if err := json.Compact(data, e.Data); err != nil {
		return nil, fmt.Errorf("encode event %d: %w", e.Seq, err)
	}
	b = append(append(data.Bytes(), `,"prev_hash":"`...), e.PrevHash...)
	return append(b, `"}`...), nil
}

// readCanonical reads an event from canonical bytes. It is false for all others, also for those of good events that are
// spelled another way. The event shares memory with b.
func readCanonical(b []byte) (e Event, ok bool) {
	if len(b) > MaxEvent || !utf8.Valid(b) {
		return Event{}, false
	}
	const lastField, end = `,"prev_hash":"`, `"}`
	last := bytes.LastIndex(b, []byte(lastField))
	if last < 0 || !bytes.HasSuffix(b, []byte(end)) || last+len(lastField)+len(end) > len(b) {
		return Event{}, false
	}
	r := canonicalReader{rest: string(b[:last]), ok: true}
	var seq, mono, wall string
	r.skip(`{"schema":1,"kiosk_id":"`)
	e.KioskID = r.until(`","stream_id":"`)
	e.StreamID = r.until(`","seq":`)
	seq = r.until(`,"event_id":"`)
	e.EventID = r.until(`","ts_wall":"`)
	wall = r.until(`","ts_mono_ms":`)
	mono = r.until(`,"boot_id":"`)
	e.BootID = r.until(`","clock_synced":`)
	synced := r.until(`,"type":"`)
	e.Type = r.until(`","data":`)
	if !r.ok {
		return Event{}, false
	}
	e.Schema, e.ClockSynced = Schema, synced == "true"
	e.Data = json.RawMessage(b[last-len(r.rest) : last])
	e.PrevHash = string(b[last+len(lastField) : len(b)-len(end)])
	var errs [3]error
	e.Seq, errs[0] = strconv.ParseUint(seq, 10, 64)
	e.TSMonoMS, errs[1] = strconv.ParseInt(mono, 10, 64)
	e.TSWall, errs[2] = time.Parse(time.RFC3339Nano, wall)
	if errs != [3]error{} || (synced != "true" && synced != "false") || !compact(e.Data) || e.Validate() != nil {
		return Event{}, false
	}
	e.TSWall = e.TSWall.UTC()
	if strconv.FormatUint(e.Seq, 10) != seq || strconv.FormatInt(e.TSMonoMS, 10) != mono || e.TSWall.Format(time.RFC3339Nano) != wall {
		return Event{}, false
	}
	return e, true
}

// canonicalReader takes text apart at the names of fields. What is between them is checked by Event.Validate, which allows no
// quotation mark in any.
type canonicalReader struct {
	rest string
	ok   bool
}

func (r *canonicalReader) skip(s string) {
	if len(r.rest) < len(s) || r.rest[:len(s)] != s {
		r.ok = false
		return
	}
	r.rest = r.rest[len(s):]
}

// maxField is the length of the longest field but data.
const maxField = 64

func (r *canonicalReader) until(s string) string {
	i := 0
	for ; i < len(r.rest) && i <= maxField && r.ok; i++ {
		if c := r.rest[i]; c == s[0] && i+len(s) <= len(r.rest) && r.rest[i:i+len(s)] == s {
			field := r.rest[:i]
			r.rest = r.rest[i+len(s):]
			return field
		}
	}
	r.ok = false
	return ""
}

// compact tells whether valid JSON has no white space between its tokens.
func compact(b []byte) bool {
	inside := false // a string
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			inside = !inside
		case c == '\\':
			i++
		case !inside && (c == ' ' || c == '\n' || c == '\t' || c == '\r'):
			return false
		}
	}
	return true
}

// depth is how deep valid JSON is nested.
func depth(b []byte) (most int) {
	n, inside := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			inside = !inside
		case c == '\\':
			i++
		case inside:
		case c == '{' || c == '[':
			n++
			most = max(most, n)
		case c == '}' || c == ']':
			n--
		}
	}
	return most
}
