package kiosk

import (
	"errors"
	"time"
)

// Notice is what staff that stand before the kiosk must see on its waiting screen: that it waits to be let in at its hub.
type Notice struct {
	Code        string    `json:"code,omitempty"` // to be typed at the hub
	Until       time.Time `json:"until,omitzero"`
	Fingerprint string    `json:"fingerprint,omitempty"` // of the hub that answered
	Reason      string    `json:"reason,omitempty"`      // why the hub does not let the kiosk in, a stable word
}

// screen is what the house has set for all pages of this kiosk.
type screen struct {
	Asleep     bool    `json:"asleep"`
	Volume     int     `json:"volume"`     // of what is read aloud, 0 to 100
	Brightness int     `json:"brightness"` // of the picture, 0 to 100; 100 where the display itself is dimmed
	Reload     int64   `json:"reload"`     // when pages were last to be loaded anew, Unix ms; 0: never
	Notice     *Notice `json:"notice"`
}

// change changes what the house has set, and tells all pages.
func (s *signals) change(f func(*screen)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.screen)
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

func (s *signals) house() screen {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.screen
	if out.Notice != nil {
		n := *out.Notice
		out.Notice = &n
	}
	return out
}

// SetAsleep darkens all pages, or lights them again.
func (k *Kiosk) SetAsleep(asleep bool) { k.signals.change(func(s *screen) { s.Asleep = asleep }) }

// Asleep tells whether the pages are dark.
func (k *Kiosk) Asleep() bool { return k.signals.house().Asleep }

// SetVolume sets how loud texts are read, 0 to 100.
func (k *Kiosk) SetVolume(volume int) error {
	if volume < 0 || volume > 100 {
		return errors.New("set volume: it is not within 0 to 100")
	}
	k.signals.change(func(s *screen) { s.Volume = volume })
	return nil
}

// SetBrightness dims the pages, for a screen that cannot be dimmed itself, 0 to 100. An emergency message is never dimmed.
func (k *Kiosk) SetBrightness(brightness int) error {
	if brightness < 0 || brightness > 100 {
		return errors.New("set brightness: it is not within 0 to 100")
	}
	k.signals.change(func(s *screen) { s.Brightness = brightness })
	return nil
}

// ReloadPages lets all pages load themselves anew, and says how many listen.
func (k *Kiosk) ReloadPages() (pages int) {
	now := k.now().UnixMilli()
	k.signals.change(func(s *screen) { s.Reload = max(now, s.Reload+1) })
	k.signals.mu.Lock()
	defer k.signals.mu.Unlock()
	return k.signals.streams
}

// SetNotice shows staff a notice on the waiting screen; nil takes it away.
func (k *Kiosk) SetNotice(n *Notice) {
	now := k.signals.house().Notice
	if n == nil && now == nil || n != nil && now != nil && *n == *now {
		return
	}
	k.signals.change(func(s *screen) { s.Notice = n })
}
