package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hlsgen/internal/suggest"
)

// A foreign is a set of names that other tools use for one thing. The tools are FINN (its build configuration and
// command lines), hls4ml (its command line, converters and model graph) and da4ml, and hlsgen itself in the past.
// docs/other-tools.md shows both tables.
type foreign struct {
	theirs string // the names, in small letters with dashes
	ours   string // our flag without dashes, or our command line; empty where hlsgen has no such thing
	how    string // a remark on the difference, or the reason why hlsgen has no such thing
}

// foreignFlags lists the options of other tools.
var foreignFlags = []foreign{
	{"target-fps throughput-fps", "fps", ""},
	{"synth-clk-period-ns hls-clk-period-ns clk-period-ns target-clk-ns clock-period",
		"clock", "in MHz: 1000 divided by the period in ns"},
	{"clk clk-mhz frequency freq mhz fclk-mhz", "clock", "in MHz"},
	{"fpga-part part device fpga vitis-platform platform target",
		"board", "a name of hlsgen boards, or a board file with the part in it"},
	{"shell-flow-type", "board", "the flow follows from the board"},
	{"output-dir out-dir outdir output-directory project-name project", "out", ""},
	{"folding-config-file folding-config folding-file", "folding", "FINN's files are read"},
	{"reuse-factor default-reuse-factor",
		"folding", "a factor for each layer: PE and SIMD, or the rate that you need with fps"},
	{"pe simd", "folding", "a file with PE and SIMD for each layer"},
	{"specialize-layers-config-file", "folding", "what multiplies and where tables lie: resType and ram_style"},
	{"auto-fifo-depths auto-fifo-strategy fifo-opt fifo-depth fifo-depths large-fifo-mem-style split-large-fifos",
		"fifo", "depths are found by simulation in any case"},
	{"strategy latency-cutoff delay-constraint", "latency", "or fewer resources at a rate, with fps"},
	{"max-utilization utilization budget", "max-use", ""},
	{"verify-steps rtlsim-batch-size num-samples", "verify", "every engine is compared bit for bit"},
	{"verify-input-npy input-data-tb input-file inputfile input-npy", "input", "of build and simulate"},
	{"verify-expected-output-npy output-data-tb expected-output expected-output-npy",
		"compare", "of simulate; exactly, without a tolerance"},
	{"outputfile output-file output-npy", "output", "of simulate"},
	{"trace-output save-trace verify-save-full-context", "trace", "of simulate"},
	{"verify-save-rtlsim-waveforms fifosim-save-waveform vcd waveform", "trace-vcd", "of simulate"},
	{"exec-mode sim-mode", "engine", "of simulate"},
	{"save-intermediate-models intermediate-models", "dump-passes", "a folder"},
	{"stop-step start-step steps", "passes-until", "see hlsgen passes"},
	{"skip-csim no-cppsim", "no-csim", ""},
	{"overwrite reset", "force", ""},
	{"config-file cfg hls-config", "config", "hlsgen.yaml, with flags as keys"},
	{"batch-size batch batchsize",
		"", "the accelerator takes one sample after the other; data may have any number of them"},
	{"onnx model onnx-model model-file", "", "give the model behind the command: hlsgen build net.onnx"},
	{"precision default-precision granularity", "", "bit widths are the model's own"},
	{"standalone-thresholds minimize-bit-width max-multithreshold-bit-width",
		"", "thresholds and widths are chosen exactly"},
	{"mvau-wwidth-max folding-two-pass-relaxation",
		"", "the search for the folding needs no such bound; max-use and least steer it"},
	{"verification-atol atol rtol tolerance", "", "results are equal bit for bit; float32's near ties are told apart"},
	{"io-type", "", "there is one: streaming layers"},
	{"generate-outputs mode", "", "build writes everything, check and sweep only look"},
	{"csim synth vsynth cosim export csynth stitched-ip-gen-dcp synth-opt",
		"", "build writes scripts for that: see hls/ in its folder"},
	{"calibration", "latencies", "its name before; --calibrate quantises on samples"}, // ours
	{"vitis-floorplan-file vitis-opt-strategy", "", "that is left to Vitis, which takes the generated project"},
}

// foreignVerbs lists the commands of other tools.
var foreignVerbs = []foreign{
	{"build-dataflow build-dataflow-directory build-custom compile generate gen codegen " +
		"synthesize synthesise make hls create translate",
		"hlsgen build MODEL.onnx --board BOARD", ""},
	{"export ipgen hls-synth synthesis cosim vsynth bitfile",
		"hlsgen build MODEL.onnx --board BOARD", "then run Vitis with the scripts in its hls folder"},
	{"estimate estimates dse explore optimize optimise search",
		"hlsgen sweep MODEL.onnx --board BOARD", "or build, which reports on one design"},
	{"fold folding set-folding parallelize pareto", "hlsgen build MODEL.onnx --board BOARD --pareto", ""},
	{"predict infer inference run execute exec eval sim", "hlsgen simulate MODEL.onnx --input x.npy", ""},
	{"cppsim csim csimulate", "hlsgen simulate MODEL.onnx --input x.npy --engine csim", ""},
	{"rtlsim", "hlsgen simulate MODEL.onnx --input x.npy --engine cycle", ""},
	{"trace profile profiling numerical", "hlsgen simulate MODEL.onnx --input x.npy --trace DIR", ""},
	{"compare verify test validate-output", "hlsgen simulate MODEL.onnx --input x.npy --compare y.npy", ""},
	{"analyze analyse analysis inspect info show summary validate import streamline lint",
		"hlsgen check MODEL.onnx", ""},
	{"inference-cost qonnx-inference-cost bops macs flops statistics sparsity", "hlsgen stats MODEL.onnx", ""},
	{"transform", "hlsgen check MODEL.onnx --dump-passes DIR", ""},
	{"config", "hlsgen build MODEL.onnx --board BOARD", "configuration stands in hlsgen.yaml, with flags as keys"},
	{"devices parts platforms targets", "hlsgen boards", ""},
	{"ops operators kinds", "hlsgen layers", ""},
	{"calibrate calibration", "hlsgen latencies DIR", "its name before"}, // ours
	{"demo example init fetch-example-model", "hlsgen examples", ""},
}

// normal returns a name as the tables of foreign names spell it: in small letters, with dashes instead of underscores.
func normal(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "-")) }

// lookup returns the row of the table that has the name, or nil if there is none.
func lookup(table []foreign, name string) *foreign {
	for i := range table {
		if slices.Contains(strings.Fields(table[i].theirs), normal(name)) {
			return &table[i]
		}
	}
	return nil
}

// foreignFlag returns the row about another tool's flag, or nil if there is none.
func foreignFlag(name string) *foreign { return lookup(foreignFlags, name) }

// meaning returns the end of a message about a foreign name. spell writes our flag in the spelling of the place where
// the name stood.
func (f *foreign) meaning(spell func(flag string) string) string {
	switch {
	case f.ours == "":
		return ": " + f.how
	case f.how == "":
		return ", which is " + spell(f.ours) + " here"
	}
	return ", which is " + spell(f.ours) + " here: " + f.how
}

// dashed returns a flag as it is written on a command line.
func dashed(flag string) string { return "--" + flag }

// flagError returns the error for a flag that does not exist, with the flag that the user may have meant.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return &usage{err.Error()}
	}
	name := unknown.GetSpecifiedName()
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		name, _, _ = strings.Cut(short, "=") // -board
	}
	if len(name) < 2 {
		return &usage{err.Error()}
	}
	if f := cmd.Flags().Lookup(normal(name)); f != nil {
		return usagef("%v, did you mean --%s?", err, f.Name)
	}
	if f := foreignFlag(name); f != nil {
		return usagef("%v%s%s", err, f.meaning(dashed), elsewhere(cmd, f.ours))
	}
	if where := elsewhere(cmd, normal(name)); where != "" {
		return usagef("%v%s", err, where)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if n := suggest.NearestWord(name, names); n != "" {
		return usagef("%v, did you mean --%s?", err, n)
	}
	return &usage{err.Error()}
}

// elsewhere returns a remark that names the commands with a flag that cmd lacks. It is empty if cmd has the flag, or
// no command has it.
func elsewhere(cmd *cobra.Command, flag string) string {
	if flag == "" || cmd.Flags().Lookup(flag) != nil {
		return ""
	}
	var having []string
	for _, c := range cmd.Root().Commands() {
		if c.Flags().Lookup(flag) != nil && c != cmd {
			having = append(having, c.Name())
		}
	}
	switch n := len(having); n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" (--%s belongs to %s)", flag, having[0])
	default:
		return fmt.Sprintf(" (--%s belongs to %s and %s)", flag, strings.Join(having[:n-1], ", "), having[n-1])
	}
}

// unknownCommand matches cobra's message about a command that does not exist.
var unknownCommand = regexp.MustCompile(`(?s)^unknown command ("(?:[^"\\]|\\.)*") for "hlsgen"$`)

// commandError adds to such a message the command that the user may have meant.
func commandError(root *cobra.Command, msg string) string {
	m := unknownCommand.FindStringSubmatch(msg)
	if m == nil {
		return msg
	}
	name, err := strconv.Unquote(m[1])
	if err != nil {
		return msg
	}
	if f := lookup(foreignVerbs, name); f != nil {
		return msg + f.meaning(func(command string) string { return command })
	}
	if strings.HasSuffix(name, ".onnx") {
		return msg + ": a command comes first, as in hlsgen check MODEL.onnx"
	}
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return msg + suggest.DidYouMeanSuffix(name, names)
}
