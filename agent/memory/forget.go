package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Forget removes everything of a visit, and its key. What comes later is dropped. It needs no key, so that a visit
// which ran out while the kiosk was off can be forgotten too.
func (m *Memory) Forget(ctx context.Context, name string) error { return m.remove(ctx, name, true) }

// Forgotten says whether a visit is known to be forgotten.
func (m *Memory) Forgotten(name string) (bool, error) {
	err := m.o.Store.Scan(atGone+name, func(string, []byte) error { return ErrForgotten })
	if errors.Is(err, ErrForgotten) {
		return true, nil
	}
	return false, err
}

// Leave removes everything of a visit from this kiosk, and its key. Unlike after Forget, the visit may come back.
func (m *Memory) Leave(ctx context.Context, name string) error { return m.remove(ctx, name, false) }

func (m *Memory) remove(ctx context.Context, name string, forGood bool) error {
	m.mu.Lock()
	s := m.shelves[name]
	if s == nil {
		s = &shelf{}
		m.shelves[name] = s
	}
	m.mu.Unlock()
	s.write.Lock()
	defer s.write.Unlock()
	s.mu.Lock()
	s.forgotten, s.visit.Key = true, [32]byte{}
	s.stored, s.cache, s.queue, s.dead, s.vectors = nil, nil, nil, nil, nil
	s.mu.Unlock()
	err := m.erase(ctx, name, forGood)
	if err == nil || !forGood {
		m.mu.Lock()
		delete(m.shelves, name) // the store knows it from now on
		m.mu.Unlock()
	}
	if err != nil {
		return fmt.Errorf("forget visit: %w", err)
	}
	return nil
}

func (m *Memory) erase(ctx context.Context, name string, forGood bool) error {
	var keys []string
	for _, at := range []string{atFact, atJob, atDead} {
		err := m.o.Store.Scan(at+name+"/", func(key string, _ []byte) error {
			keys = append(keys, key)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if !forGood {
		if len(keys) == 0 {
			return nil
		}
		return m.o.Store.Commit(ctx, nil, keys, 0)
	}
	err := m.o.Store.Commit(ctx, []Record{{Key: atGone + name}}, keys, m.o.KeepForgotten)
	if errors.Is(err, ErrFull) && len(keys) > 0 { // what there is goes all the same
		err = m.o.Store.Commit(ctx, nil, keys, 0)
	}
	return err
}

// Sweep removes the visits from the store that are not open any more.
func (m *Memory) Sweep(ctx context.Context, open func(name string) bool) error {
	names := map[string]bool{}
	for _, at := range []string{atFact, atJob, atDead} {
		err := m.o.Store.Scan(at, func(key string, _ []byte) error {
			name, _, _ := strings.Cut(strings.TrimPrefix(key, at), "/")
			names[name] = true
			return nil
		})
		if err != nil {
			return fmt.Errorf("sweep memory: %w", err)
		}
	}
	for name := range names {
		if !open(name) {
			if err := m.Leave(ctx, name); err != nil {
				return err
			}
		}
	}
	return nil
}
