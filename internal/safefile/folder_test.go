package safefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestFolder checks that paths and links cannot leave a folder, and that only regular files are read in it.
func TestFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/"
	err := errors.Join(os.MkdirAll(dir+"model/sub", 0o777), os.WriteFile(dir+"model/sub/w", []byte("12345"), 0o666),
		os.WriteFile(dir+"outside", nil, 0o666), syscall.Mkfifo(dir+"model/pipe", 0o666),
		os.Symlink("sub/w", dir+"model/link"), os.Symlink("sub", dir+"model/folder link"),
		os.Symlink("../outside", dir+"model/leaves"), os.Symlink("../../outside", dir+"model/sub/leaves"),
		os.Symlink("..", dir+"model/up"), os.Symlink(dir+"outside", dir+"model/absolute"),
		os.Symlink("/dev/zero", dir+"model/zeros"), os.Symlink("nowhere", dir+"model/dangles"))
	if err != nil {
		t.Fatal(err)
	}
	folder := FolderFS(dir + "model")
	for name, want := range map[string]string{
		"sub/w": "", "link": "", "folder link/w": "",
		"leaves": "leads out of the folder", "sub/leaves": "leads out of the folder",
		"up/outside": "leads out of the folder", "up/model/sub/w": "leads out of the folder",
		"absolute": "leads out of the folder", "zeros": "leads out of the folder",
		"pipe": "no regular file but a pipe", "sub": "no regular file but a folder", "dangles": "no such file",
		"missing": "no such file", "../outside": "invalid argument", "/etc/passwd": "invalid argument",
	} {
		info, described := folder.Stat(name)
		f, err := folder.Open(name)
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) || described == nil ||
				!strings.Contains(described.Error(), want) {
				t.Errorf("%s: %v; %v", name, err, described)
			}
			continue
		}
		if err != nil || described != nil || info.Size() != 5 {
			t.Errorf("%s: %v, %v", name, err, described)
			continue
		}
		if b, err := io.ReadAll(f); string(b) != "12345" || err != nil {
			t.Errorf("%s: %q, %v", name, b, err)
		}
		f.Close()
	}
	if _, err := fs.Stat(FolderFS(dir+"none"), "w"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
