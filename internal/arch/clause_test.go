package arch

import (
	"strings"
	"testing"
)

// TestPackageClauses checks that all files of a folder belong to one package, those for other systems, too. The
// compiler sees only the files for the system that it compiles for.
func TestPackageClauses(t *testing.T) {
	t.Parallel()
	all, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, s := range all {
		name := strings.TrimSuffix(s.file.Name.Name, "_test")
		if was := names[s.dir()]; was != "" && was != name {
			t.Errorf("%s is of package %s, other files of the folder of package %s", s.name, name, was)
		}
		names[s.dir()] = name
	}
}
