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

// Answer sends the result of a command. Without a connection nothing is sent: the hub asks again when there is one.
func (l *Link) Answer(r wire.Result) error {
	b, err := r.Encode()
	if err != nil {
		return err
	}
	l.mu.Lock()
	s := l.current
	l.mu.Unlock()
	if s == nil {
		return ErrNotConnected
	}
	s.client.Publish(l.addr.Topic(wire.KindResult), 1, false, b)
	return nil
}

// Tell sends the status soon, because something in it is another. It does not block.
func (l *Link) Tell() {
	select {
	case l.tell <- struct{}{}:
	default:
	}
}
