package link

import "time"

// Reconnecting. A kiosk that nobody hears, because its line or the hub is down, tries often: that costs the hub nothing, and
// all kiosks are back soon after, however long it took. So does one whose connection was lost. One that the hub heard and did
// not let in, because it is at its limit or will not have it, tries less and less often. Chance spreads what all kiosks do at
// once. TestReconnecting simulates it.
const (
	retryBase = time.Second
	lostCap   = 6 * time.Second
	turnedCap = 60 * time.Second
	stable    = 30 * time.Second // a connection that lasted this long starts the row of attempts anew
)

// retry counts attempts in a row.
type retry struct {
	lost   int // nobody answered, or the connection did not last
	turned int // the hub answered and did not let the kiosk in
}

// next is how long to wait after an attempt that failed, or the end of a connection. The first wait is any part of a second.
func (r *retry) next(turned bool, random func() float64) time.Duration {
	n, most := r.lost, lostCap
	if turned {
		n, most = r.turned, turnedCap
		r.turned++
	}
	if r.lost++; n == 0 {
		return time.Duration(random() * float64(retryBase))
	}
	bound := most
	if n < 10 {
		bound = min(most, retryBase<<n)
	}
	// Half of it by chance: kiosks that wait long are spread evenly, and none asks twice in a moment.
	return bound/2 + time.Duration(random()*float64(bound/2))
}
