package main

import (
	"os"
	"strings"
	"testing"
)

// TestVersion checks which version counts, and that the Makefile sets the existing variable.
func TestVersion(t *testing.T) {
	t.Parallel()
	for in, want := range map[[2]string]string{
		{"", ""}: "dev", {"", "(devel)"}: "dev", {"", "v1.2.3"}: "v1.2.3", {"v1-4-gabc", "v1.2.3"}: "v1-4-gabc",
	} {
		if got := versionOf(in[0], in[1]); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil || !strings.Contains(string(makefile), "-X main.release=$(VERSION)") {
		t.Errorf("the Makefile does not set main.release: %v", err)
	}
	source, err := os.ReadFile("root.go")
	if err != nil || !strings.Contains(string(source), "\nvar release string\n") {
		t.Errorf("there is no variable release: %v", err)
	}
}
