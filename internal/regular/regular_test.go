package regular

import (
	"os"
	"strings"
	"testing"
)

// refused are files that are not read, below the test's folder, with the end of what is said.
var refused = map[string]string{
	"large":   "large has more than 5 bytes",
	".":       " is no regular file",
	"missing": "no such file or directory",
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/"
	for name, text := range map[string]string{"small": "12345", "large": "123456"} {
		if err := os.WriteFile(dir+name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := ReadFile(dir+"small", 5); err != nil || string(b) != "12345" {
		t.Errorf("%q, %v", b, err)
	}
	for name, want := range refused {
		if b, err := ReadFile(dir+name, 5); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}
