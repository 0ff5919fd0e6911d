package store

import (
	"context"
	"fmt"
)

// Forget takes the words of visits out of the events that have any; their numbers and hashes stay. What was refused of them
// goes altogether. No query finds them when it returns; in SQLite they are gone from the disk then, PostgreSQL overwrites
// its pages and its log when it needs the space.
func (s *Store) Forget(ctx context.Context, site string, visits []string) error {
	if err := s.sql.forget(ctx, s.write, site, visits); err != nil {
		return fmt.Errorf("forget visits: %w", err)
	}
	return nil
}
