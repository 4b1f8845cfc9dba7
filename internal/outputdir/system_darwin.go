package outputdir

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// exchange swaps what is at two paths in one step. The error is errors.ErrUnsupported if the file system cannot do
// that.
func exchange(a, b string) error {
	err := unix.RenamexNp(a, b, unix.RENAME_SWAP)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return err
}
