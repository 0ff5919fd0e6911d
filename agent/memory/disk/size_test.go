package disk

import "golang.org/x/sys/unix"

// blocks is what a file takes on the disk, in bytes.
func blocks(path string) (int64, error) {
	var st unix.Stat_t
	err := unix.Stat(path, &st)
	return st.Blocks * 512, err
}
