// Package space asks how much room there is on a disk. It imports nothing of the house.
package space

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Free is how many bytes an ordinary user may still write to the disk that holds a folder, which must exist.
func Free(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return st.Bavail * uint64(st.Bsize), nil
}
