package kiosk

import "errors"

// Unattended tells whether nobody is there: no visit is under way. A visit that its page left behind counts until it
// runs out.
func (k *Kiosk) Unattended() bool { return k.visits.Len() == 0 }

// ErrAttended says that a visit is under way.
var ErrAttended = errors.New("a visit is under way")

// WhileUnattended does what no visitor may be part of. Its error is [ErrAttended] where a visit is under way, and also where one
// began while f ran, even if it has ended again: then what f has must be thrown away.
func (k *Kiosk) WhileUnattended(f func() error) error {
	begun := k.visits.Begun()
	if !k.Unattended() {
		return ErrAttended
	}
	if err := f(); err != nil {
		return err
	}
	if k.visits.Begun() != begun {
		return ErrAttended
	}
	return nil
}
