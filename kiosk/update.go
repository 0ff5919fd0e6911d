package kiosk

// Unattended tells whether nobody is there: no visit is under way. A visit that its page left behind counts until it
// runs out.
func (k *Kiosk) Unattended() bool { return k.visits.Len() == 0 }
