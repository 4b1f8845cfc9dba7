//go:build !unix

package regular

import "os"

// endless reports whether a file without a size has something to read all the same: no file here.
func endless(*os.File) bool { return false }
