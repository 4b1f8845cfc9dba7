package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestHelpGroups checks that the help of build shows its ten common flags, then all others in six groups, each flag
// once. It checks the same for all other commands with groups.
func TestHelpGroups(t *testing.T) {
	t.Parallel()
	got := say(t.TempDir(), nil, "build", "--help")
	at := strings.Index(got.stdout, "\nFlags:\n")
	for _, title := range []string{"Goal", "Budget", "Model", "Back end", "Verification", "Output"} {
		i := strings.Index(got.stdout, "\n"+title+":\n")
		if i <= at {
			t.Errorf("%s is missing, or not in order: %s", title, got.stdout)
		}
		at = i
	}
	flags, _, _ := strings.Cut(got.stdout[strings.Index(got.stdout, "\nFlags:\n"):], "\nGoal:\n")
	if n := strings.Count(flags, "      --"); n != 10 || !strings.Contains(flags, "--board BOARD") {
		t.Errorf("%d common flags: %s", n, flags)
	}
	if !strings.Contains(got.stdout, "      --force[=keep]   ") {
		t.Errorf("--force[=keep] is not shown: %s", got.stdout)
	}
	known := map[string]bool{}
	root := bare().root()
	for _, c := range root.Commands() {
		var all, shown []string
		c.InitDefaultHelpFlag()
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			all, known[f.Name] = append(all, f.Name), true
		})
		for _, s := range flagSections(c) {
			for _, f := range s.flags {
				shown = append(shown, f.Name)
			}
			if _, many := commonFlags[c.Name()]; many && s.title == "Flags" && len(s.flags) != 10 {
				t.Errorf("%s has %d common flags", c.Name(), len(s.flags))
			}
		}
		slices.Sort(all)
		slices.Sort(shown)
		if !slices.Equal(all, shown) {
			t.Errorf("%s shows %v, want %v", c.Name(), shown, all)
		}
	}
	seen := map[string]bool{}
	for _, g := range flagGroups {
		for _, name := range g.flags {
			if !known[name] || seen[name] {
				t.Errorf("%s: %s is no flag, or is there twice", g.title, name)
			}
			seen[name] = true
		}
	}
	for name := range commonFlags {
		c, _, err := root.Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !seen[f.Name] {
				t.Errorf("--%s of %s is in no group", f.Name, name)
			}
		})
	}
}

// TestForce checks that pages and help show the values of --force, and that it takes these.
func TestForce(t *testing.T) {
	t.Parallel()
	dir := filesIn(t, nil)
	if got := say(dir, nil, "reference", "pages"); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	for _, c := range []string{"build", "sweep"} {
		if got := say(dir, nil, "help", c); c == "build" && !strings.Contains(got.stdout, "--force[=keep]") {
			t.Errorf("%s", got.stdout)
		}
	}
	for _, name := range []string{"hlsgen-build.1", "hlsgen_build.md"} {
		text := strings.ReplaceAll(read(t, dir, "pages/"+name), `\-`, "-")
		if !strings.Contains(text, "--force") || !strings.Contains(text, "[=keep]") {
			t.Errorf("%s does not show --force[=keep]", name)
		}
	}
	build := "build " + iris + " --board pynq-z1 --no-csim --verify 0 --out a "
	for _, c := range []struct {
		flag string
		code int
	}{{"", exitOK}, {"", exitDiagnostics}, {"--force", exitOK}, {"--force=keep", exitOK},
		{"--force=false", exitDiagnostics}, {"--force=all", exitUsage}} {
		if got := say(dir, nil, strings.Fields(build+c.flag)...); got.code != c.code {
			t.Errorf("%q: %+v, want %d", c.flag, got, c.code)
		}
	}
}
