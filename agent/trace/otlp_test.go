package trace

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestOTLP reads back what a collector would, and holds the times against the turn's.
func TestOTLP(t *testing.T) {
	turn := full().Bare()
	turn.Tools[0].At, turn.Tools[0].Millis = 1, 2
	var out strings.Builder
	if err := WriteOTLP(&out, turn, turn); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || lines[0] == lines[1] || strings.Contains(out.String(), secret) {
		t.Errorf("%s", out.String())
	}
	var r struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					TraceID, SpanID, ParentSpanID, Name, StartTimeUnixNano, EndTimeUnixNano string
					Kind                                                                    int
					Status                                                                  struct{ Code int }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(lines[0]), &r); err != nil {
		t.Fatal(err)
	}
	spans := r.ResourceSpans[0].ScopeSpans[0].Spans
	if len(spans) != 4 || spans[0].Name != "turn" || len(spans[0].TraceID) != 32 || len(spans[0].SpanID) != 16 || spans[0].ParentSpanID != "" ||
		spans[0].StartTimeUnixNano != "1800000000000000000" || spans[0].EndTimeUnixNano != "1800000000005000000" {
		t.Errorf("%+v", spans)
	}
	if s := spans[1]; s.Name != "execute_tool recall" || s.ParentSpanID != spans[0].SpanID || s.Status.Code != otlpError || s.StartTimeUnixNano != "1800000000001000000" || s.EndTimeUnixNano != "1800000000003000000" {
		t.Errorf("%+v", s)
	}
	if s := spans[3]; s.Name != "chat write" || s.Kind != otlpClient || s.SpanID == spans[1].SpanID {
		t.Errorf("%+v", s)
	}
}
