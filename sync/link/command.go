package link

import (
	"docent/sync/wire"
)

// command passes on what the hub wants done.
func (l *Link) command(payload []byte) {
	c, err := wire.DecodeCommand(payload)
	if err != nil {
		l.log.Warn("hub sent a command that cannot be read", "err", err)
		return
	}
	if l.opt.Command != nil {
		l.opt.Command(c)
	}
}

// maxUnsent is how many answers wait for a connection; the oldest go, and the hub asks again.
const maxUnsent = 16

// Answer sends the result of a command, or keeps it for the next connection. The hub may hear it more than once.
func (l *Link) Answer(r wire.Result) error {
	b, err := r.Encode()
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current == nil { // also while one begins: commands come with the subscription
		if l.unsent = append(l.unsent, b); len(l.unsent) > maxUnsent {
			l.unsent = l.unsent[1:]
		}
		return nil
	}
	l.publishResult(l.current, b)
	return nil
}

func (l *Link) publishResult(s *session, b []byte) {
	s.client.Publish(l.addr.Topic(wire.KindResult), 1, false, b)
}

// Tell sends the status soon, because something in it is another. It does not block.
func (l *Link) Tell() {
	select {
	case l.tell <- struct{}{}:
	default:
	}
}
