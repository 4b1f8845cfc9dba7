package outputdir

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// exchange swaps what is at two paths in one step. The error is errors.ErrUnsupported if the kernel or the file system
// cannot do that.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return err
}
