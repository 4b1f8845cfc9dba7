package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hlsgen/boards"
	"hlsgen/docs"
	"hlsgen/frontend/canon"
	"hlsgen/frontend/lower"
	"hlsgen/hlslib"
	"hlsgen/internal/diag"
	"hlsgen/internal/examples"
	"hlsgen/internal/suggest"
)

// list returns a command without arguments that calls print.
func (a *app) list(use, short, long string, print func() error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Long: long, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			a.running = true
			return print()
		}}
}

// boardsCommand returns the command boards.
func (a *app) boardsCommand() *cobra.Command {
	var asJSON bool
	cmd := a.list("boards", "List the boards", `Boards lists the boards that hlsgen knows: the part and what it has, then the
clock of a build without --clock, the port to the processor's memory, and that
memory's bandwidth. A board of your own is a JSON file of the form that --json
shows: hlsgen build --board ./mine.json.`, func() error {
		if asJSON {
			return a.json(boards.AllBoards())
		}
		a.screen.boards(boards.AllBoards())
		return nil
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array of boards")
	return cmd
}

// boards prints two tables: the resources of the devices, and the clocks and memories of the boards.
func (s *screen) boards(list []boards.Board) {
	devices := newTable("board", "part", ">LUT", ">LUTRAM", ">FF", ">BRAM36", ">URAM", ">DSP")
	around := newTable("board", "grade", ">clock MHz", ">port bits", ">memory GB/s", "also called")
	unverified := false
	for _, b := range list {
		name := b.Name
		if b.Unverified {
			name, unverified = name+" *", true
		}
		blocks := whole(b.BRAM36)
		if b.Family != boards.FamilyAMD {
			blocks = fmt.Sprintf("%s of %dK", whole(b.BRAM), b.BRAMKbit)
		}
		devices.row(name, b.Part, whole(b.LUT), whole(b.LUTRAM), whole(b.FF), blocks, whole(b.URAM), whole(b.DSP))
		port, memory := "-", "-"
		if b.HostPortBits > 0 {
			port = whole(b.HostPortBits)
		}
		if b.MemoryGBps > 0 {
			memory = figure(b.MemoryGBps)
		}
		around.row(b.Name, b.SpeedGrade, megahertz(b.ClockMHz), port, memory, strings.Join(b.Aliases, ", "))
	}
	s.table(devices)
	if unverified {
		s.line("\n* resources not compared with a data sheet: hlsgen explain board-unverified")
	}
	s.line("")
	s.table(around)
}

// layersCommand returns the command layers.
func (a *app) layersCommand() *cobra.Command {
	return a.list("layers", "List the kinds of layers that a design is made of", "", func() error {
		t := newTable("layer", "what it does")
		for _, k := range hlslib.LayerKinds {
			t.row(k.Name, k.Doc)
		}
		a.screen.table(t)
		return nil
	})
}

// passesCommand returns the command passes.
func (a *app) passesCommand() *cobra.Command {
	return a.list("passes", "List what happens to a model: passes, then rules", "", func() error {
		s := &a.screen
		width := min(96, prose(s))
		s.title("Passes normalise the model, in this order:")
		for i, p := range canon.Passes {
			after := ""
			if p.After != nil {
				after = " (after " + strings.Join(p.After, ", ") + ")"
			}
			s.line("\n%2d  %s%s\n%s", i+1, p.Name, after, strings.TrimSuffix(wrap(p.Doc, "    ", width), "\n"))
		}
		s.line("")
		s.title("Rules say what becomes of each node; the first that answers decides:")
		for _, r := range lower.Rules {
			s.line("\n    %s\n%s", r.Name, strings.TrimSuffix(wrap(r.Doc, "    ", width), "\n"))
		}
		return nil
	})
}

// codes returns the codes of all diagnostics.
func codes() (names []string) {
	for _, c := range slices.Sorted(maps.Keys(diag.CodeMeanings)) {
		names = append(names, string(c))
	}
	return names
}

// explainCommand returns the command explain.
func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Explain a diagnostic; without a code, list them",
		Example: `  hlsgen explain fps-unreachable
  hlsgen explain`,
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: codes(),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				t := newTable("code", "what it means")
				for _, c := range codes() {
					t.row(c, diag.CodeMeanings[diag.Code(c)])
				}
				a.screen.table(t)
				a.running = true
				return nil
			}
			code := strings.Trim(args[0], "[]")
			page, ok := docs.PageOfDiagnosticCode(code)
			if _, known := diag.CodeMeanings[diag.Code(code)]; !known || !ok {
				return usagef("no diagnostic has the code %q%s", code, suggest.DidYouMeanSuffix(code, codes()))
			}
			a.running = true
			if a.screen.width > 0 {
				page = []byte(rewrapped(string(page), prose(&a.screen)))
			}
			a.screen.Write(page)
			return nil
		},
	}
}

// examplesCommand returns the command examples.
func (a *app) examplesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "examples [DIR]",
		Short: "List the embedded example models, or write them to a folder",
		Example: `  hlsgen examples
  hlsgen examples .
  hlsgen simulate digits-mlp-w2a2/model.onnx --input digits-mlp-w2a2/inputs.npy`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			a.running = true
			if len(args) == 0 {
				t := newTable("example", "what it is")
				for _, e := range examples.NamesAndDocs {
					t.row(e.Name, e.Doc)
				}
				a.screen.table(t)
				a.screen.line("\nhlsgen examples DIR writes them, with inputs and labels")
				return nil
			}
			var d diag.List
			written, err := examples.WriteAll(under(a.dir, args[0]), &d)
			if err != nil || d.HasErrors() {
				return a.without(false, &d, err)
			}
			for _, dir := range written {
				a.screen.line("%s", dir)
			}
			return nil
		},
	}
}

// versionCommand returns the command version.
func (a *app) versionCommand() *cobra.Command {
	return a.list("version", "Print the version", "", func() error {
		a.screen.line("hlsgen %s", version())
		return nil
	})
}

// completionCommand returns the command completion.
func (a *app) completionCommand() *cobra.Command {
	shells := map[string]func(*cobra.Command) error{
		"bash":       func(root *cobra.Command) error { return root.GenBashCompletionV2(&a.screen, true) },
		"fish":       func(root *cobra.Command) error { return root.GenFishCompletion(&a.screen, true) },
		"powershell": func(root *cobra.Command) error { return root.GenPowerShellCompletionWithDesc(&a.screen) },
		"zsh":        func(root *cobra.Command) error { return root.GenZshCompletion(&a.screen) },
	}
	names := slices.Sorted(maps.Keys(shells))
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the script that completes hlsgen's commands in a shell",
		Long:  "Completion prints a script for " + strings.Join(names, ", ") + ".",
		Example: `  source <(hlsgen completion bash)
  hlsgen completion fish > ~/.config/fish/completions/hlsgen.fish`,
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || shells[args[0]] == nil {
				return usagef("which shell? %s", strings.Join(names, ", "))
			}
			a.running = true
			return shells[args[0]](cmd.Root())
		},
	}
}
