package main

import (
	"cmp"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is the version that git reports for the source. The Makefile has the linker set it.
var release string

// version returns the version of this program.
func version() string {
	noted := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		noted = info.Main.Version
	}
	return versionOf(release, noted)
}

// versionOf returns the release, or the version that the go command noted, or "dev".
func versionOf(release, noted string) string {
	if noted == "(devel)" {
		noted = ""
	}
	return cmp.Or(release, noted, "dev")
}

// The groups of commands.
const (
	onModel  = "model"
	onBuild  = "build"
	onHlsgen = "know"
)

// root returns hlsgen's command with all its subcommands.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "hlsgen",
		Short: "Turn a quantised ONNX network into a streaming FPGA accelerator",
		Long: `hlsgen turns a quantised ONNX network (QONNX or QCDQ, as Brevitas and others
write it) into a streaming FPGA accelerator: a Vitis HLS project that computes
what the model means, checked bit for bit.`,
		Example: `  hlsgen build --board zcu104                      # the embedded example
  hlsgen check net.onnx                            # does my model map?
  hlsgen build net.onnx --board zcu104
  hlsgen simulate net.onnx --input x.npy --compare y.npy`,
		Version:            version(),
		SilenceErrors:      true,
		SilenceUsage:       true,
		DisableSuggestions: true, // commandError has better ones
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetVersionTemplate("hlsgen {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { help(a, cmd) })
	root.AddGroup(&cobra.Group{ID: onModel, Title: "On a model:"},
		&cobra.Group{ID: onBuild, Title: "On what was built:"}, &cobra.Group{ID: onHlsgen, Title: "On hlsgen:"})
	root.AddCommand(a.buildCommand(), a.checkCommand(), statsCommand(a), a.simulateCommand(), a.sweepCommand(),
		convertCommand(a), graphCommand(a))
	for _, c := range []*cobra.Command{a.synthCommand(), a.collectCommand(), weightsCommand(a),
		reportCommand(a)} {
		c.GroupID = onBuild
		root.AddCommand(c)
	}
	for _, c := range []*cobra.Command{a.boardsCommand(), a.layersCommand(), a.passesCommand(), a.explainCommand(),
		a.latenciesCommand(), a.examplesCommand(), formatsCommand(a), a.versionCommand(), a.completionCommand(),
		a.referenceCommand(), serveCommand(a)} {
		c.GroupID = onHlsgen
		root.AddCommand(c)
	}
	root.SetHelpCommandGroupID(onHlsgen)
	return root
}
