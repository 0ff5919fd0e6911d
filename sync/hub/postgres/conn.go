package postgres

import (
	"context"
	"database/sql/driver"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/stdlib"
)

// conn takes ? for values, and texts that PostgreSQL could not store.
type conn struct{ *stdlib.Conn }

var (
	_ driver.ConnPrepareContext = conn{}
	_ driver.ExecerContext      = conn{}
	_ driver.QueryerContext     = conn{}
	_ driver.ConnBeginTx        = conn{}
	_ driver.NamedValueChecker  = conn{}
	_ driver.SessionResetter    = conn{}
)

// Prepare prepares a query with ? for values.
func (c conn) Prepare(query string) (driver.Stmt, error) { return c.Conn.Prepare(rebind(query)) }

// PrepareContext prepares a query with ? for values.
func (c conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return c.Conn.PrepareContext(ctx, rebind(query))
}

// ExecContext runs a statement with ? for values.
func (c conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.ExecContext(ctx, rebind(query), args)
}

// QueryContext runs a query with ? for values.
func (c conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.QueryContext(ctx, rebind(query), args)
}

// CheckNamedValue replaces, in texts, the character that PostgreSQL cannot store. Kiosks may send it, escaped in JSON:
// refused by the database, such a message would come for ever.
func (c conn) CheckNamedValue(v *driver.NamedValue) error {
	switch value := v.Value.(type) {
	case string:
		v.Value = Storable(value)
	case []string:
		for i, s := range value {
			if clean := Storable(s); clean != s {
				value[i] = clean
			}
		}
	}
	return c.Conn.CheckNamedValue(v)
}

// Storable is a text as PostgreSQL can store it.
func Storable(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
}

// rebind writes a query's ? as $1, $2 …; those in quotes and comments stay.
func rebind(query string) string {
	if !strings.Contains(query, "?") {
		return query
	}
	var out strings.Builder
	out.Grow(len(query) + 32)
	for n := 0; query != ""; {
		verbatim := 0
		switch {
		case query[0] == '\'' || query[0] == '"':
			verbatim = upTo(query, 1, query[:1])
		case strings.HasPrefix(query, "--"):
			verbatim = upTo(query, 2, "\n")
		case strings.HasPrefix(query, "/*"):
			verbatim = upTo(query, 2, "*/")
		case query[0] == '?':
			n++
			out.WriteByte('$')
			out.WriteString(strconv.Itoa(n))
			query = query[1:]
			continue
		default:
			verbatim = 1
		}
		out.WriteString(query[:verbatim])
		query = query[verbatim:]
	}
	return out.String()
}

// upTo is the length of what begins a query and goes to the end of the next mark after the first from bytes.
func upTo(query string, from int, mark string) int {
	if i := strings.Index(query[from:], mark); i >= 0 {
		return from + i + len(mark)
	}
	return len(query)
}
