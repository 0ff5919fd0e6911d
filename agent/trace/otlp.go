package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"
)

// WriteOTLP writes turns in the JSON form of OpenTelemetry's protocol (OTLP 1.x, ExportTraceServiceRequest), a line each:
// a span for the turn, and one for each call of a tool and of a model. It needs no library, and any collector reads it.
func WriteOTLP(w io.Writer, turns ...Turn) error {
	e := json.NewEncoder(w)
	for i, t := range turns {
		if err := e.Encode(otlpOf(t, i)); err != nil {
			return fmt.Errorf("write the trace of a turn: %w", err)
		}
	}
	return nil
}

type otlpRequest struct {
	ResourceSpans []otlpResource `json:"resourceSpans"`
}

type otlpResource struct {
	Resource   otlpAttributes `json:"resource"`
	ScopeSpans []otlpScope    `json:"scopeSpans"`
}

type otlpAttributes struct {
	Attributes []otlpAttribute `json:"attributes"`
}

type otlpScope struct {
	Scope struct {
		Name string `json:"name"`
	} `json:"scope"`
	Spans []otlpSpan `json:"spans"`
}

type otlpSpan struct {
	TraceID    string          `json:"traceId"`
	SpanID     string          `json:"spanId"`
	ParentID   string          `json:"parentSpanId,omitempty"`
	Name       string          `json:"name"`
	Kind       int             `json:"kind"`
	Start      string          `json:"startTimeUnixNano"`
	End        string          `json:"endTimeUnixNano"`
	Attributes []otlpAttribute `json:"attributes,omitempty"`
	Events     []otlpEvent     `json:"events,omitempty"`
	Status     struct {
		Code int `json:"code,omitempty"` // 2 is an error
	} `json:"status"`
}

type otlpEvent struct {
	Time string `json:"timeUnixNano"`
	Name string `json:"name"`
}

type otlpAttribute struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
}

func text(key, v string) otlpAttribute {
	return otlpAttribute{key, map[string]string{"stringValue": v}}
}
func number(key string, v int) otlpAttribute {
	return otlpAttribute{key, map[string]string{"intValue": strconv.Itoa(v)}} // 64 bits are strings in its JSON
}

const (
	otlpInternal = 1
	otlpClient   = 3
	otlpError    = 2
)

func otlpOf(t Turn, n int) otlpRequest {
	at := func(ms float64) string {
		return strconv.FormatInt(t.Began.Add(time.Duration(ms*float64(time.Millisecond))).UnixNano(), 10)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", t.Visit, t.Began.UnixNano(), n))
	traceID := hex.EncodeToString(sum[:16])
	spanID := func(i int) string {
		s := sha256.Sum256(fmt.Appendf(nil, "%s %d", traceID, i))
		return hex.EncodeToString(s[:8])
	}
	root := otlpSpan{
		TraceID: traceID, SpanID: spanID(0), Name: "turn", Kind: otlpInternal, Start: at(0), End: at(t.Millis),
		Attributes: []otlpAttribute{text("docent.outcome", t.Outcome), text("docent.written_by", t.By), text("docent.release", t.Release), text("docent.exhibit", t.Exhibit),
			number("docent.searches", len(t.Searches)), number("docent.checks", len(t.Checks)), number("docent.limits", len(t.Limits))},
	}
	if t.Question != "" {
		root.Attributes = append(root.Attributes, text("docent.question", t.Question))
	}
	if t.Outcome == "failed" {
		root.Status.Code = otlpError
	}
	for _, s := range t.Stages {
		root.Events = append(root.Events, otlpEvent{at(s.Millis), s.Name})
	}
	spans := []otlpSpan{root}
	add := func(name string, kind int, began, ms float64, failed bool, attributes ...otlpAttribute) {
		s := otlpSpan{TraceID: traceID, SpanID: spanID(len(spans)), ParentID: root.SpanID, Name: name, Kind: kind, Start: at(began), End: at(began + ms), Attributes: attributes}
		if failed {
			s.Status.Code = otlpError
		}
		spans = append(spans, s)
	}
	for _, c := range t.Tools {
		add("execute_tool "+c.Tool, otlpInternal, c.At, c.Millis, !c.Success, text("gen_ai.tool.name", c.Tool), number("docent.tries", c.Tries))
	}
	for _, m := range t.Models {
		add("chat "+m.Purpose, otlpClient, m.At, m.Millis, m.Error != "", number("gen_ai.usage.input_tokens", m.TokensIn), number("gen_ai.usage.output_tokens", m.Tokens), number("docent.tries", m.Tries))
	}
	scope := otlpScope{Spans: spans}
	scope.Scope.Name = "docent/agent"
	return otlpRequest{[]otlpResource{{otlpAttributes{[]otlpAttribute{text("service.name", "docent")}}, []otlpScope{scope}}}}
}
