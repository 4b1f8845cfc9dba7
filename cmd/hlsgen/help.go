package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroups lists the groups in which help shows the flags of commands with many flags. Each flag is in one group.
var flagGroups = []struct {
	title string
	flags []string
}{
	{"Goal", []string{"fps", "interval", "latency", "max-latency", "least", "pareto", "points", "bound", "search-time",
		"on-interrupt"}},
	{"Budget", []string{"board", "max-use", "over-budget", "clock", "io", "cost", "latencies"}},
	{"Model", []string{"dim", "shape", "lengths", "input-type", "input-mean", "input-std", "input-quant",
		"initial-state", "state", "stateful", "outputs", "lstm-config", "cell-config", "calibrate", "quantize",
		"requantize", "keep", "scales", "equalize", "correct-bias", "lookup",
		"save-model", "interleave"}},
	{"Back end", []string{"backend", "folding", "fifo", "memory", "compute", "max-unroll", "acc-per-pe", "weights",
		"counters", "ila", "saif"}},
	{"Verification", []string{"input", "labels", "verify", "no-csim", "engine", "compare", "acc-bits", "acc-overflow",
		"acc-order", "strict"}},
	{"Output", []string{"out", "output", "force", "with-model", "explain", "json", "decode", "codes", "trace",
		"trace-vcd", "timeline", "jobs", "collect", "dump-passes", "passes-until", "config", "quiet", "verbose",
		"log-format", "help"}},
}

// commonFlags lists, by command, the ten flags that most users need. Help shows them before its groups. A command that
// is not listed has few flags, and help shows them in the order of their definition.
var commonFlags = map[string][]string{
	"build": {"board", "fps", "clock", "max-use", "input", "backend", "folding", "explain", "out", "force"},
	"simulate": {"input", "output", "engine", "compare", "labels", "board", "fps", "folding", "trace",
		"json"},
	"sweep": {"board", "clock", "fps", "interval", "max-use", "pareto", "bound", "requantize", "out", "jobs"},
}

// A flagSection is a list of flags below a title.
type flagSection struct {
	title string
	flags []*pflag.Flag
}

// flagSections returns the flags of a command in the sections of its help.
func flagSections(cmd *cobra.Command) []flagSection {
	first := flagSection{title: "Flags"}
	common, many := commonFlags[cmd.Name()]
	for _, name := range common {
		first.flags = append(first.flags, cmd.Flags().Lookup(name))
	}
	sections := []flagSection{first}
	group := map[string]int{}
	for i, g := range flagGroups {
		sections = append(sections, flagSection{title: g.title})
		for _, name := range g.flags {
			group[name] = i + 1
		}
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if i := group[f.Name]; f.Hidden || slices.Contains(common, f.Name) {
			return
		} else if many {
			sections[i].flags = append(sections[i].flags, f)
		} else {
			sections[0].flags = append(sections[0].flags, f)
		}
	})
	return slices.DeleteFunc(sections, func(s flagSection) bool { return len(s.flags) == 0 })
}

// bareValue is an annotation of flags that need no value. It holds the text that help shows for the value.
const bareValue = "value"

// showValues makes help show the values of flags that need none. The flags cannot be parsed afterwards.
func showValues(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if v := f.Annotations[bareValue]; v != nil {
			f.NoOptDefVal = v[0]
		}
	})
}

// help prints the description and the usage of a command.
func help(a *app, cmd *cobra.Command) {
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	if a.screen.width > 0 {
		text = rewrapped(text, prose(&a.screen))
	}
	a.screen.line("%s\n", strings.TrimSpace(text))
	a.screen.WriteString(usageOf(a, cmd))
}

// usageOf returns the usage of a command: its subcommands, examples and flags.
func usageOf(a *app, cmd *cobra.Command) string {
	var b strings.Builder
	width := a.screen.width
	b.WriteString("Usage:\n")
	if cmd.Runnable() {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s [command]\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		b.WriteString("\nExamples:\n")
		for line := range strings.Lines(cmd.Example) {
			line = strings.TrimSuffix(line, "\n")
			if width > 0 {
				line = shellFold(line, width)
			}
			b.WriteString(line + "\n")
		}
	}
	for _, g := range cmd.Groups() {
		fmt.Fprintf(&b, "\n%s\n", g.Title)
		for _, c := range cmd.Commands() {
			if c.GroupID == g.ID && (c.IsAvailableCommand() || c.Name() == "help") {
				line := fmt.Sprintf("  %-*s ", cmd.Commands()[0].NamePadding(), c.Name())
				if hang := len(line); width > 0 {
					line += strings.TrimSpace(wrap(c.Short, strings.Repeat(" ", hang), width))
				} else {
					line += c.Short
				}
				b.WriteString(line + "\n")
			}
		}
	}
	if cmd.HasAvailableLocalFlags() {
		showValues(cmd.Flags())
		for _, s := range flagSections(cmd) {
			set := pflag.NewFlagSet(s.title, pflag.ContinueOnError)
			set.SortFlags = false
			for _, f := range s.flags {
				set.AddFlag(f)
			}
			fmt.Fprintf(&b, "\n%s:\n%s", s.title, set.FlagUsagesWrapped(width))
		}
	}
	if cmd.HasAvailableSubCommands() {
		line := fmt.Sprintf("Use \"%s [command] --help\" for more information about a command.", cmd.CommandPath())
		if width > 0 {
			line = fold(line, width, 0)
		}
		b.WriteString("\n" + line + "\n")
	}
	return b.String()
}
