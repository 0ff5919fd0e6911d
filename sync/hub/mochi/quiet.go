package mochi

import (
	"context"
	"log/slog"
)

// quiet keeps the broker library's log to its errors, and packets (with their payloads) out of it altogether.
type quiet struct{ to slog.Handler }

func (q quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelError && q.to.Enabled(ctx, l)
}

func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, "broker: "+r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "pk", "packet", "will":
		default:
			out.AddAttrs(a)
		}
		return true
	})
	return q.to.Handle(ctx, out)
}

func (q quiet) WithAttrs(as []slog.Attr) slog.Handler { return quiet{q.to.WithAttrs(as)} }
func (q quiet) WithGroup(name string) slog.Handler    { return quiet{q.to.WithGroup(name)} }
