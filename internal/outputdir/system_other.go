//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package outputdir

import "os"

// open opens a file for reading and writing that another process of hlsgen made.
func open(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR, 0) }

// ours returns true, and so does changeable: they assume the best, since this system gives no answer.
func ours(os.FileInfo) bool { return true }

func changeable(string) bool { return true }

// lock does nothing on this system.
func lock(*os.File) error { return nil }

// hold does nothing on this system, so no folder is known to be abandoned.
func hold(string) (*os.File, bool) { return nil, false }
