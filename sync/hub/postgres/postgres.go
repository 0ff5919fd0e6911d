// Package postgres opens the hub's database on a PostgreSQL server. Queries are written as for SQLite, with ? for values.
package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// ErrNotDurable refuses a server that would tell of a commit before it is on the disk.
var ErrNotDurable = errors.New("the server does not bring commits to the disk before it answers")

const (
	connections = 8                // of one hub process
	lifetime    = 15 * time.Minute // of a connection; a new one is checked anew
	minVersion  = 140000           // the oldest that is tested is Debian 12's, 15
)

// settings of each connection. A hub whose machine vanishes in the middle of a transaction holds the others up for as
// long as the server takes to notice: without these that is hours.
var settings = map[string]string{
	"application_name":                    "docent-hub",
	"idle_in_transaction_session_timeout": "10s",
	"statement_timeout":                   "60s",
	"tcp_keepalives_idle":                 "10",
	"tcp_keepalives_interval":             "5",
	"tcp_keepalives_count":                "3",
	// Tables begin empty and grow by thousands of rows a second; a plan made for the empty one would read all of them.
	"plan_cache_mode": "force_custom_plan",
}

// Open connects to the database that a URL or a list of keywords names, as libpq understands them. Of several hosts it
// takes the one that can be written to. Every connection is checked: a server that is not durable is refused with
// ErrNotDurable. The schema is brought up to date.
func Open(ctx context.Context, name string) (*sql.DB, error) {
	config, err := pgx.ParseConfig(name)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL: %w", err) // pgx leaves the password out
	}
	for key, value := range settings {
		if _, set := config.RuntimeParams[key]; !set {
			config.RuntimeParams[key] = value
		}
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	if config.ValidateConnect == nil {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	db := sql.OpenDB(connector{stdlib.GetConnector(*config)})
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxLifetime(lifetime)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open PostgreSQL: %w", err), db.Close())
	}
	if err := migrate(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("open PostgreSQL: %w", err), db.Close())
	}
	return db, nil
}

// connector makes connections that are checked and take ? for values.
type connector struct{ driver.Connector }

// Connect opens a connection.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	pg, ok := opened.(*stdlib.Conn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("unexpected connection %T", opened), opened.Close())
	}
	if err := check(ctx, pg.Conn()); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return conn{pg}, nil
}

// check refuses a server on which what is confirmed can be lost, or on which text would be stored as something else.
func check(ctx context.Context, c *pgx.Conn) error {
	var version int
	var fsync, commit, encoding string
	err := c.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, current_setting('fsync'), current_setting('synchronous_commit'),
		current_setting('server_encoding')`).Scan(&version, &fsync, &commit, &encoding)
	if err != nil {
		return fmt.Errorf("read the server's settings: %w", err)
	}
	const why = "kiosks delete an event when the hub says it is stored, so that a loss of power at the server would lose it"
	switch {
	case version < minVersion:
		return fmt.Errorf("the server's version is %d, at least %d is needed", version/10000, minVersion/10000)
	case fsync != "on":
		return fmt.Errorf("%w: fsync is %s; %s", ErrNotDurable, fsync, why)
	case commit == "off":
		return fmt.Errorf("%w: synchronous_commit is off; %s", ErrNotDurable, why)
	case encoding != "UTF8":
		return fmt.Errorf("the database's encoding is %s, it has to be UTF8", encoding)
	}
	return nil
}

// migrate brings the database's schema up to date. Of several hubs that start at once one does it and the others wait.
func migrate(ctx context.Context, db *sql.DB) error {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 120), lock.WithUnlockTimeout(1, 10))
	if err != nil {
		return fmt.Errorf("lock for migrations: %w", err)
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, dir, goose.WithVerbose(false), goose.WithSessionLocker(locker))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// Conflict says whether a transaction was undone because of another one, so that it can be run again as it is.
func Conflict(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == "40001" || e.Code == "40P01") // serialization_failure, deadlock_detected
}
