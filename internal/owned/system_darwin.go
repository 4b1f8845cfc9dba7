package owned

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// exchange makes each of two paths the other one, in one step; ErrUnsupported where the file system cannot.
func exchange(a, b string) error {
	err := unix.RenamexNp(a, b, unix.RENAME_SWAP)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return err
}
