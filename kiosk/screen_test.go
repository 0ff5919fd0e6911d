package kiosk

import (
	"testing"
	"time"
)

func TestScreen(t *testing.T) {
	k := &Kiosk{now: func() time.Time { return time.UnixMilli(5000) }}
	heard := func() bool {
		_, changed := k.signals.now()
		select {
		case <-changed:
			return true
		default:
			return false
		}
	}
	_, changed := k.signals.now()
	k.SetAsleep(true)
	select {
	case <-changed:
	default:
		t.Error("pages do not hear that they are to be dark")
	}
	if !k.Asleep() || heard() {
		t.Error("not asleep, or told for ever")
	}
	if err := k.SetVolume(101); err == nil {
		t.Error("a volume of 101")
	}
	if err := k.SetVolume(0); err != nil || k.signals.house().Volume != 0 {
		t.Error(err)
	}
	if err := k.SetBrightness(-1); err == nil {
		t.Error("a brightness of -1")
	}
	if err := k.SetBrightness(30); err != nil || k.signals.house().Brightness != 30 {
		t.Error(err)
	}
	k.ReloadPages()
	first := k.signals.house().Reload
	k.ReloadPages()
	if second := k.signals.house().Reload; first != 5000 || second <= first {
		t.Errorf("loaded anew at %d, then %d", first, second)
	}
	_, changed = k.signals.now()
	k.SetNotice(nil)
	k.SetNotice(&Notice{Code: "ACDEFG"})
	<-changed
	_, changed = k.signals.now()
	k.SetNotice(&Notice{Code: "ACDEFG"}) // the same
	select {
	case <-changed:
		t.Error("told of what is not another")
	default:
	}
	k.SetNotice(nil)
	<-changed
	if k.signals.house().Notice != nil {
		t.Error("the notice stays")
	}
}
