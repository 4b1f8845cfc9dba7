//go:build !darwin && !linux

package owned

import "errors"

// exchange is not supported on this system.
func exchange(a, b string) error { return errors.ErrUnsupported }
