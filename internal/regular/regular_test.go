package regular

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("12345"), 0o666); err != nil {
		t.Fatal(err)
	}
	if b, err := ReadFile(file, 5); err != nil || string(b) != "12345" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := ReadFile(file, 4); err == nil || err.Error() != "file has more than 4 bytes" {
		t.Errorf("one byte too many: %v", err)
	}
	if _, err := ReadFile(dir, 5); err == nil || !strings.HasSuffix(err.Error(), " is no regular file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := ReadFile(file+"s", 5); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
