package outbox

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"
)

// free is how much room there is on the disk, with what is held of it.
func (o *Outbox) free() (uint64, error) {
	free, err := o.opt.Free(o.dir)
	return free + o.room.size(), err
}

// checkFree is ErrDiskFull where there is less room than limit, with what is held of it.
func (o *Outbox) checkFree(limit uint64) error {
	free, err := o.free()
	return enough(free, limit, err)
}

// spare is ErrDiskFull where there is less room than limit beside what is held.
func (o *Outbox) spare(limit uint64) error {
	free, err := o.opt.Free(o.dir)
	return enough(free, limit, err)
}

func enough(free, limit uint64, err error) error {
	if err != nil {
		return err
	}
	if free < limit {
		return fmt.Errorf("%d MiB free, %d MiB needed: %w", free>>20, limit>>20, ErrDiskFull)
	}
	return nil
}

// uptime is the time since boot, sleep included.
func uptime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// clockSynced asks the kernel whether a time service keeps the wall clock (adjtimex(2): state other than TIME_ERROR).
func clockSynced() bool {
	state, err := unix.Adjtimex(&unix.Timex{})
	return err == nil && state != unix.TIME_ERROR
}

// bootID is the kernel's random id of the present run; where there is none, one of this process.
func bootID(random io.Reader) (string, error) {
	if b, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		if id, err := uuid.Parse(strings.TrimSpace(string(b))); err == nil {
			return id.String(), nil
		}
	}
	id, err := uuid.NewRandomFromReader(random)
	if err != nil {
		return "", fmt.Errorf("boot id: %w", err)
	}
	return id.String(), nil
}
