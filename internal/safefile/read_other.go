//go:build !unix

package safefile

import "os"

// endless reports whether a file of size 0 has content all the same. On this system none does.
func endless(*os.File) bool { return false }
