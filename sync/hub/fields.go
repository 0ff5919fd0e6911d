package hub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
)

// field is one member of an event's data as the page shows it.
type field struct {
	Name  string
	Value string
	Full  string // the whole value where Value is shortened
}

// Bounds of what the page shows of an event.
const (
	maxFields = 12
	maxValue  = 160 // characters
)

// fields reads the members of a JSON object in their order. Nested values are shown as JSON, lists of texts as a list.
func fields(data json.RawMessage) []field {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var out []field
	for dec.More() && len(out) < maxFields {
		name, err := dec.Token()
		if err != nil {
			return out
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return out
		}
		out = append(out, newField(fmt.Sprint(name), plain(raw)))
	}
	return out
}

func newField(name, value string) field {
	if _, err := uuid.Parse(value); err == nil && len(value) == 36 {
		return field{name, value[len(value)-6:], value} // the end of an id is what differs
	}
	if utf8.RuneCountInString(value) > maxValue {
		return field{name, string([]rune(value)[:maxValue-1]) + "…", ""}
	}
	return field{name, value, ""}
}

// plain turns a JSON value into text.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && string(raw) != "null" {
		return s
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil && string(raw) != "null" {
		return strings.Join(list, ", ")
	}
	var f float64 // with more decimals than anybody reads
	if json.Unmarshal(raw, &f) == nil && len(raw)-1-bytes.IndexByte(raw, '.') > 2 && bytes.ContainsRune(raw, '.') {
		return rounded(f)
	}
	return string(raw)
}

// rounded writes a number with two decimals at most, or with two digits where those would leave nothing.
func rounded(f float64) string {
	if r := math.Round(f*100) / 100; r != 0 || f == 0 {
		return strconv.FormatFloat(r, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', 2, 64)
}
