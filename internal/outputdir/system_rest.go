//go:build !darwin && !linux

package outputdir

import "errors"

// exchange returns errors.ErrUnsupported, since this system cannot swap two paths in one step.
func exchange(a, b string) error { return errors.ErrUnsupported }
