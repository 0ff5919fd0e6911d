package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"docent/sync/wire"
)

// maxCommands is how many commands of a kiosk are kept, the newest.
const maxCommands = 100

// Command is what a kiosk was asked to do, and its answer.
type Command struct {
	wire.Command
	Kiosk  wire.Address
	Result *wire.Result // nil until there is one; its At is by the hub's clock
}

// AddCommand stores a command, and forgets the oldest of the kiosk beyond 100.
func (s *Store) AddCommand(ctx context.Context, to wire.Address, c wire.Command) error {
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO commands (id, site, kiosk_id, name, value, issued_at, expires_at) VALUES (?,?,?,?,?,?,?)`,
			c.ID, to.Site, to.Kiosk, string(c.Name), c.Value, formatTime(c.IssuedAt), formatTime(c.ExpiresAt))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM commands WHERE site = ? AND kiosk_id = ? AND id NOT IN
			(SELECT id FROM commands WHERE site = ? AND kiosk_id = ? ORDER BY id DESC LIMIT ?)`, to.Site, to.Kiosk, to.Site, to.Kiosk, maxCommands)
		return err
	})
	if err != nil {
		return fmt.Errorf("store command: %w", err)
	}
	return nil
}

// SetResult stores the answer to a command of this kiosk. The first answer stands; one to a command that is not known
// is passed over.
func (s *Store) SetResult(ctx context.Context, from wire.Address, r wire.Result, at time.Time) error {
	_, err := s.write.ExecContext(ctx, `UPDATE commands SET status = ?, detail = ?, at = ?, type = ?, data = ?
		WHERE id = ? AND site = ? AND kiosk_id = ? AND status = ''`,
		string(r.Status), r.Detail, formatTime(at), r.Type, r.Data, r.ID, from.Site, from.Kiosk)
	if err != nil {
		return fmt.Errorf("store result: %w", err)
	}
	return nil
}

// OpenCommands returns a kiosk's commands that have no answer yet and have not run out, in their order.
func (s *Store) OpenCommands(ctx context.Context, kiosk wire.Address, now time.Time) ([]Command, error) {
	return s.commands(ctx, `WHERE site = ? AND kiosk_id = ? AND status = '' AND expires_at > ? ORDER BY id`, kiosk.Site, kiosk.Kiosk, formatTime(now))
}

// Commands returns a kiosk's newest commands, the newest first.
func (s *Store) Commands(ctx context.Context, kiosk wire.Address, limit int) ([]Command, error) {
	return s.commands(ctx, `WHERE site = ? AND kiosk_id = ? ORDER BY id DESC LIMIT ?`, kiosk.Site, kiosk.Kiosk, limit)
}

// Command returns a command by its id with the data of its answer, or ErrNotFound.
func (s *Store) Command(ctx context.Context, id string) (Command, error) {
	found, err := s.commands(ctx, `WHERE id = ?`, id)
	if err != nil {
		return Command{}, err
	}
	if len(found) == 0 {
		return Command{}, fmt.Errorf("read command: %w", ErrNotFound)
	}
	c := found[0]
	if c.Result == nil {
		return c, nil
	}
	if err := s.read.QueryRowContext(ctx, `SELECT data FROM commands WHERE id = ?`, id).Scan(&c.Result.Data); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Command{}, fmt.Errorf("read command: %w", err)
	}
	return c, nil
}

func (s *Store) commands(ctx context.Context, where string, args ...any) ([]Command, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT id, site, kiosk_id, name, value, issued_at, expires_at, status, detail, at, type FROM commands `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read commands: %w", err)
	}
	defer rows.Close()
	out := []Command{}
	for rows.Next() {
		var c Command
		var r wire.Result
		var issued, expires, at string
		if err := rows.Scan(&c.ID, &c.Kiosk.Site, &c.Kiosk.Kiosk, &c.Name, &c.Value, &issued, &expires, &r.Status, &r.Detail, &at, &r.Type); err != nil {
			return nil, fmt.Errorf("read commands: %w", err)
		}
		c.IssuedAt, c.ExpiresAt = parseTime(issued), parseTime(expires)
		if r.Status != "" {
			r.ID, r.At = c.ID, parseTime(at)
			c.Result = &r
		}
		out = append(out, c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read commands: %w", err)
	}
	return out, nil
}
