package safefile

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

// refused lists files that are not read, in the test's folder or with an absolute path, with the end of the error.
var refused = map[string]string{
	"large":            "large has 6 bytes; at most 5 are read",
	"sparse":           "sparse has 1099511627776 bytes; at most 5 are read",
	"empty":            "empty " + ErrEmptyFile.(*FileRefusedError).Reason,
	".":                " is no regular file but a folder",
	"missing":          "no such file or directory",
	"pipe":             "pipe is no regular file but a pipe",
	"link to a pipe":   "link to a pipe is no regular file but a pipe",
	"link to a device": "link to a device is no regular file but a device",
	"link to itself":   "too many levels of symbolic links",
	"/dev/zero":        "zero is no regular file but a device",
	"/proc/cpuinfo":    "cpuinfo is a file of the system, which has no size before it is read",
	"/proc/self/maps":  "maps is a file of the system, which has no size before it is read",
	"/proc/kmsg":       "", // reading it waits; not everybody may open it
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/"
	for name, text := range map[string]string{"small": "12345", "large": "123456", "empty": "", "sparse": ""} {
		if err := os.WriteFile(dir+name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(os.Truncate(dir+"sparse", 1<<40), syscall.Mkfifo(dir+"pipe", 0o666),
		os.Symlink("pipe", dir+"link to a pipe"), os.Symlink("/dev/zero", dir+"link to a device"),
		os.Symlink("link to itself", dir+"link to itself"))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := ReadRegularFile(dir+"small", 5); err != nil || string(b) != "12345" {
		t.Errorf("%q, %v", b, err)
	}
	for name, want := range refused {
		path := name
		if !strings.HasPrefix(path, "/") {
			path = dir + name
		} else if _, err := os.Lstat(path); err != nil {
			continue // this system does not have it
		}
		if b, err := ReadRegularFile(path, 5); err == nil || !strings.HasSuffix(err.Error(), want) ||
			!IsReadFailure(err) {
			t.Errorf("%s: %q, %v", name, b, err)
		} else if errors.Is(err, ErrEmptyFile) != (name == "empty") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCut checks that a file which becomes shorter while it is read is refused, and that a file which becomes
// longer is read up to its original size.
func TestCut(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/file"
	for text, want := range map[string]string{"123": "", "1234567": "12345"} {
		if err := os.WriteFile(path, []byte("12345"), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := OpenRegularFile(path, 10)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if b, err := f.ReadAll(); string(b) != want || (err == nil) != (want != "") {
			t.Errorf("%q, %v, want %q", b, err, want)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
