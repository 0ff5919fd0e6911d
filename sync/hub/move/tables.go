package move

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strings"

	"docent/sync/hub/postgres"
	"docent/sync/hub/store"
)

// table is a table as PostgreSQL has it.
type table struct {
	name    string
	columns []column
}

type column struct{ name, typ string }

// derived are columns of PostgreSQL that SQLite works out by itself.
func derived(table, column string) bool { return table == "events" && column == "visit" }

// catalogue lists the tables, without those that stand for files.
func catalogue(ctx context.Context, tx *sql.Tx) ([]table, error) {
	rows, err := tx.QueryContext(ctx, `SELECT table_name::text, column_name::text, data_type::text FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name NOT IN ('goose_db_version', 'objects', 'documents') ORDER BY table_name, ordinal_position`)
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	defer rows.Close()
	var out []table
	for rows.Next() {
		var name string
		var c column
		if err := rows.Scan(&name, &c.name, &c.typ); err != nil {
			return nil, fmt.Errorf("list tables: %w", err)
		}
		if len(out) == 0 || out[len(out)-1].name != name {
			out = append(out, table{name: name})
		}
		if !derived(name, c.name) {
			t := &out[len(out)-1]
			t.columns = append(t.columns, c)
		}
	}
	return out, rows.Err()
}

// empty refuses a database that has something.
func empty(ctx context.Context, tx *sql.Tx, tables []table) error {
	for _, name := range append([]table{{name: "objects"}}, tables...) {
		var some bool
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM `+name.name+`)`).Scan(&some); err != nil {
			return fmt.Errorf("look into table %s: %w", name.name, err)
		}
		if some {
			return fmt.Errorf("table %s: %w", name.name, ErrNotEmpty)
		}
	}
	return nil
}

// reader is a database or a transaction.
type reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (t table) names() string {
	var names []string
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

// each calls f with every row, as values of PostgreSQL's types. f must not keep the slice.
func (t table) each(ctx context.Context, from reader, f func(row []any) error) error {
	rows, err := from.QueryContext(ctx, `SELECT `+t.names()+` FROM `+t.name)
	if err != nil {
		return err
	}
	defer rows.Close()
	row, into := make([]any, len(t.columns)), make([]any, len(t.columns))
	for i := range row {
		into[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i, c := range t.columns {
			if row[i], err = value(c, row[i]); err != nil {
				return err
			}
		}
		if err := f(row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// value is what a database gives, in the type of the column.
func value(c column, v any) (any, error) {
	switch c.typ {
	case "bigint":
		if n, ok := v.(int64); ok {
			return n, nil
		}
	case "boolean":
		switch b := v.(type) {
		case bool:
			return b, nil
		case int64:
			return b != 0, nil
		}
	case "text":
		switch s := v.(type) {
		case string:
			return postgres.Storable(s), nil
		case []byte:
			return postgres.Storable(string(s)), nil
		}
	case "bytea":
		switch b := v.(type) {
		case nil:
			return nil, nil
		case []byte:
			return b, nil
		case string:
			return []byte(b), nil
		}
	}
	return nil, fmt.Errorf("column %s of type %s holds a %T", c.name, c.typ, v)
}

// sum adds up the hashes of rows, so that their order does not matter.
type sum struct {
	rows  int64
	words [4]uint64
}

func (s *sum) add(row []any) {
	h := sha256.New()
	part := func(kind byte, b []byte) {
		var head [9]byte
		head[0] = kind
		binary.BigEndian.PutUint64(head[1:], uint64(len(b)))
		h.Write(head[:])
		h.Write(b)
	}
	for _, v := range row {
		switch v := v.(type) {
		case nil:
			part('0', nil)
		case int64:
			part('i', binary.BigEndian.AppendUint64(nil, uint64(v)))
		case bool:
			part('b', fmt.Append(nil, v))
		case string:
			part('s', []byte(v))
		case []byte:
			part('x', v)
		}
	}
	digest := h.Sum(nil)
	var carry uint64
	for i := range s.words {
		s.words[i], carry = bits.Add64(s.words[i], binary.LittleEndian.Uint64(digest[8*i:]), carry)
	}
	s.rows++
}

func (s *sum) String() string {
	var b []byte
	for _, w := range s.words {
		b = binary.BigEndian.AppendUint64(b, w)
	}
	return hex.EncodeToString(b[:16])
}

// inserter stores rows, some at a time.
type inserter interface {
	most(t table) int // rows at a time
	insert(ctx context.Context, tx *sql.Tx, t table, rows [][]any) error
}

// copyTable copies a table's rows, reads the copy and compares it.
func copyTable(ctx context.Context, t table, from reader, into *sql.Tx, in inserter) (Table, error) {
	var sent, got sum
	var some [][]any
	bytes := 0
	flush := func() error {
		if len(some) == 0 {
			return nil
		}
		err := in.insert(ctx, into, t, some)
		some, bytes = some[:0], 0
		return err
	}
	err := t.each(ctx, from, func(row []any) error {
		sent.add(row)
		kept := append([]any(nil), row...)
		for i, v := range kept {
			switch v := v.(type) {
			case []byte: // the driver uses it again
				kept[i] = append([]byte{}, v...)
				bytes += len(v)
			case string:
				bytes += len(v)
			}
		}
		if some = append(some, kept); len(some) >= in.most(t) || bytes > 8<<20 {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return Table{}, err
	}
	err = t.each(ctx, into, func(row []any) error { got.add(row); return nil })
	if err != nil {
		return Table{}, fmt.Errorf("read the copy: %w", err)
	}
	if sent != got {
		return Table{}, fmt.Errorf("%d rows (%s), %d in the copy (%s): %w", sent.rows, &sent, got.rows, &got, ErrDiffers)
	}
	return Table{Name: t.name, Rows: sent.rows, Sum: sent.String()}, nil
}

// insertMany stores many rows with one statement of PostgreSQL.
type insertMany struct{}

func (insertMany) most(t table) int { return 30_000 / (len(t.columns) + 1) } // a statement may have 65,535 values

func (insertMany) insert(ctx context.Context, tx *sql.Tx, t table, rows [][]any) error {
	names, n := t.names(), len(t.columns)
	worded := t.name == "events"
	if worded {
		names, n = names+", visit", n+1
	}
	one := "(?" + strings.Repeat(",?", n-1) + ")"
	args := make([]any, 0, n*len(rows))
	for _, row := range rows {
		args = append(args, row...)
		if worded {
			args = append(args, visitOf(t, row))
		}
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO `+t.name+` (`+names+`) VALUES `+one+strings.Repeat(","+one, len(rows)-1), args...)
	return err
}

// visitOf is the visit whose words an event holds.
func visitOf(t table, row []any) string {
	var typ, data string
	for i, c := range t.columns {
		switch c.name {
		case "type":
			typ, _ = row[i].(string)
		case "data":
			data, _ = row[i].(string)
		}
	}
	return store.Worded(typ, []byte(data))
}

// insertEach stores rows one by one, which is the fastest way in SQLite.
type insertEach struct{}

func (insertEach) most(table) int { return 500 }

func (insertEach) insert(ctx context.Context, tx *sql.Tx, t table, rows [][]any) error {
	stmt, err := tx.PrepareContext(ctx, `INSERT INTO `+t.name+` (`+t.names()+`) VALUES (?`+strings.Repeat(",?", len(t.columns)-1)+`)`)
	if err != nil {
		return err
	}
	defer stmt.Close()
	for _, row := range rows {
		if _, err := stmt.ExecContext(ctx, row...); err != nil {
			return err
		}
	}
	return nil
}
