package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestReference holds docs/cli.md and README.md against the commands: no flag is missing, none is made up.
func TestReference(t *testing.T) {
	t.Parallel()
	reference, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"--help": true, "--mode": true, "--tcl": true} // the last two are options of AMD's tools
	for _, c := range bare().root().Commands() {
		if !strings.Contains(string(reference), "hlsgen "+c.Name()) && c.Name() != "help" {
			t.Errorf("docs/cli.md does not have the command %s", c.Name())
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			known["--"+f.Name] = true
			if !strings.Contains(string(reference), "`--"+f.Name) {
				t.Errorf("docs/cli.md does not have %s --%s", c.Name(), f.Name)
			}
		})
	}
	for _, flag := range regexp.MustCompile(`--[a-z][a-z-]*`).FindAllString(string(reference)+string(readme), -1) {
		if !known[flag] {
			t.Errorf("there is no flag %s", flag)
		}
	}
}
