// Package broker is what the hub and its brokers know of each other: the messages that a broker hands to the hub, and
// what the hub is asked where a broker can ask. The adapters are mochi (within the hub's process), mosquitto and jetstream.
package broker

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"

	"docent/sync/wire"
)

// Receiver takes what kiosks send. The methods are called from several goroutines; each returns when the message is
// dealt with, and an error says that it is not: the broker gives it again.
type Receiver interface {
	// Events stores a message of events and returns when it is durable.
	Events(ctx context.Context, from wire.Address, payload []byte) error
	// Status takes a presence message, or a will.
	Status(ctx context.Context, from wire.Address, st wire.Status) error
	// Fetch is asked for content. It answers by a message of its own.
	Fetch(ctx context.Context, from wire.Address, req wire.Fetch)
	// Deploy takes a report on how far a kiosk is with a release.
	Deploy(ctx context.Context, from wire.Address, d wire.Deploy) error
	// Result takes the answer to a command.
	Result(ctx context.Context, from wire.Address, res wire.Result) error
}

// Gate is asked by a broker within the hub's process. One beyond it lets kiosks in by the files that the hub writes for
// it, and tells of no connections: there the first status of a session says that a kiosk listens.
type Gate interface {
	// Admit says why a kiosk may not connect, nil when it may.
	Admit(c Connection) error
	// Allowed says why a connection that was admitted may not go on, nil when it may.
	Allowed(c Connection) error
	// Subscribed is called when a kiosk has begun to listen for commands.
	Subscribed(ctx context.Context, kiosk wire.Address)
}

// Connection is what is known of a kiosk that connects.
type Connection struct {
	Kiosk       wire.Address
	Certificate *x509.Certificate // nil in clear
	Remote      string            // address and port
	BootID      string            // of its will; empty without one
	Session     uint64            // of its will
	Taken       bool              // a connection of that name is open
}

// ErrMessage marks a message that is none of the contract's: given again, it would be refused again.
var ErrMessage = errors.New("not a message of this contract")

// Deliver reads a message by its topic and hands it on. The payload may be used again when it has returned. A message
// that cannot be read is an ErrMessage.
func Deliver(ctx context.Context, to Receiver, topic string, payload []byte) error {
	from, kind, err := wire.ParseTopic(topic)
	if err != nil {
		return refused(err)
	}
	switch kind {
	case wire.KindEvent: // what cannot be read of it goes to the quarantine
		return to.Events(ctx, from, bytes.Clone(payload))
	case wire.KindStatus:
		st, err := wire.DecodeStatus(payload)
		if err != nil {
			return refused(err)
		}
		return to.Status(ctx, from, st)
	case wire.KindFetch:
		req, err := wire.DecodeFetch(payload)
		if err != nil {
			return refused(err)
		}
		to.Fetch(ctx, from, req)
		return nil
	case wire.KindResult:
		res, err := wire.DecodeResult(payload)
		if err != nil {
			return refused(err)
		}
		return to.Result(ctx, from, res)
	case wire.KindDeploy:
		d, err := wire.DecodeDeploy(payload)
		if err != nil {
			return refused(err)
		}
		return to.Deploy(ctx, from, d)
	}
	return refused(fmt.Errorf("kiosks send no %s", kind))
}

func refused(err error) error { return fmt.Errorf("%w: %w", ErrMessage, err) }
