package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is set by the linker (-X main.release=v1.2.3) where a version is built without its repository.
var release string

// version is the release, the version that the go command noted, or dev.
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

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
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetVersionTemplate("hlsgen {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.AddGroup(&cobra.Group{ID: "model", Title: "On a model:"}, &cobra.Group{ID: "know", Title: "On hlsgen:"})
	for _, c := range []*cobra.Command{a.buildCommand(), a.checkCommand(), a.simulateCommand(), a.sweepCommand()} {
		c.GroupID = "model"
		c.Flags().String("config", "", "configuration `FILE` (default hlsgen.yaml, if there is one)")
		c.Flags().SortFlags = false
		root.AddCommand(c)
	}
	for _, c := range []*cobra.Command{a.boardsCommand(), a.layersCommand(), a.passesCommand(), a.explainCommand(), a.examplesCommand(), a.versionCommand(), a.completionCommand()} {
		c.GroupID = "know"
		root.AddCommand(c)
	}
	root.SetHelpCommandGroupID("know")
	return root
}
