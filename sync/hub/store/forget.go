package store

import (
	"context"
	"fmt"
)

// Forget takes the words of visits out of the events that have any; their numbers and hashes stay. What was refused of them
// goes altogether. It returns when they
// are gone from the database's file and from its log, unless a reader holds the log: then they go with the next call.
func (s *Store) Forget(ctx context.Context, site string, visits []string) error {
	// What is replaced is overwritten. The setting is the connection's, and there is one that writes.
	if _, err := s.write.ExecContext(ctx, `PRAGMA secure_delete = ON`); err != nil {
		return fmt.Errorf("forget visits: %w", err)
	}
	for _, v := range visits {
		_, err := s.write.ExecContext(ctx, `UPDATE events SET data = json_object('visit', json_extract(data, '$.visit'))
			WHERE site = ? AND type IN ('question.answered', 'question.unanswered') AND json_extract(data, '$.visit') = ?`, site, v)
		if err != nil {
			return fmt.Errorf("forget visit: %w", err)
		}
		if _, err := s.write.ExecContext(ctx, `DELETE FROM quarantine WHERE site = ? AND instr(CAST(payload AS TEXT), ?) > 0`, site, v); err != nil {
			return fmt.Errorf("forget visit: %w", err)
		}
	}
	if _, err := s.write.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		return fmt.Errorf("empty the log: %w", err)
	}
	return nil
}
