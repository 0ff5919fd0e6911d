package settings

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// Error lists everything that is wrong with a configuration, each with the path of its key.
type Error struct{ Problems []string }

func (e *Error) Error() string { return "configuration: " + strings.Join(e.Problems, "; ") }

// Problems collects what is wrong, each with its key.
type Problems []string

// Add adds what is wrong with the value of a key.
func (p *Problems) Add(key, what string) { *p = append(*p, key+": "+what) }

// Need adds a problem where a value is missing.
func (p *Problems) Need(key, value string) {
	if value == "" {
		p.Add(key, "is missing")
	}
}

// Within adds a problem where v is not within least and most.
func Within[T int | float64 | time.Duration](p *Problems, key string, v, least, most T) {
	if !(v >= least && v <= most) { // also true of NaN
		p.Add(key, fmt.Sprintf("%v is not within %v to %v", v, least, most))
	}
}

// Err is nil where there is no problem, else an [*Error].
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return &Error{Problems: p}
}

// join puts the problems of several errors into one; other errors are returned as they are.
func join(errs ...error) error {
	var all Problems
	for _, err := range errs {
		var c *Error
		switch {
		case err == nil:
		case errors.As(err, &c):
			all = append(all, c.Problems...)
		default:
			return err
		}
	}
	return all.Err()
}

// Secret is a text that is not printed.
type Secret string

// Hidden is what stands for a secret in print.
const Hidden = "(hidden)"

// String hides the secret; an empty one stays empty.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return Hidden
}

// GoString hides the secret from %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalText hides the secret from encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue hides the secret from logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }
