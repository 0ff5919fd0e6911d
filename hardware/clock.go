package hardware

import (
	"fmt"
	"syscall"
)

// ClockSynced says whether something, such as systemd-timesyncd, has set the clock by the network's time and keeps it
// so. The kernel knows: adjtimex(2).
func ClockSynced() (bool, error) {
	const (
		unsynced   = 0x40 // STA_UNSYNC
		clockError = 5    // TIME_ERROR
	)
	var t syscall.Timex
	state, err := syscall.Adjtimex(&t)
	if err != nil {
		return false, fmt.Errorf("ask the kernel about its clock: %w", err)
	}
	return state != clockError && t.Status&unsynced == 0, nil
}
