//go:build !darwin && !linux

package owned

import "errors"

// exchange has nothing to use here.
func exchange(a, b string) error { return errors.ErrUnsupported }
