package report

import (
	"fmt"
	"slices"
	"strings"

	"hlsgen/folding"
	"hlsgen/internal/backend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/options"
	"hlsgen/templates"
)

// described is the function that makes a row of the README's table of files.
var described = templates.DescribeFiles

// designFiles describes the files of every build.
var designFiles = []templates.ReadmeEntry{
	described("this page", "README.md"),
	described("everything that is known of the design, on one page for a browser", "report/report.html"),
	described("how far each layer is unrolled and where its memories lie; `--folding` reads it", "folding.json"),
	described("the same, with the depth of every FIFO", "final_hw_config.json"),
	described("what the folder was made from: hash of the model, version, options; what was verified",
		"manifest.json"),
}

// hostFiles describes the files for the host and for the board.
var hostFiles = []templates.ReadmeEntry{
	described("what samples become and what results mean: shapes, quantisers, words, scales", "deploy/host/host.json"),
	described("the same as ONNX: samples to the integers that are sent, integers to results",
		"deploy/host/pre.onnx", "deploy/host/post.onnx"),
	described("the weights that the driver loads, and what `hlsgen weights` needs for other weights",
		"deploy/host/weights.bin", "deploy/host/weights.hpp", "weights.json"),
	described("the driver in Python, for programs and as a command", "deploy/accelerator.py"),
	described("the driver in C++17, its interfaces to XRT and to boards without an operating system, and "+
		"`host.json` as its tables", "deploy/accelerator*.hpp", "deploy/host/host.hpp"),
	described("runs the steps from the IP to the board", "vivado/Makefile"),
	described("a block design with the processor and a mover per stream, and its bitstream", "vivado/block_design.tcl"),
	described("the movers, what joins their interrupts, and the script that packs them as IPs", "vivado/ip/*.sv",
		"vivado/ip/*_ip.v", "vivado/ip/hlsgen_concat_*.v", "vivado/ip/package.tcl"),
	described("the activity of the simulated streams, and what reports the power by it", "vivado/activity.saif",
		"vivado/power.tcl"),
	described("an app for the module's Linux: the overlay of the device tree, and what `xmutil` reads",
		"vivado/app/*.dts", "vivado/app/shell.json"),
	described("movers and accelerator as kernels of a card, and how they are linked",
		"vivado/package_xo.tcl", "vivado/link.cfg", "vivado/kernels/*.v", "vivado/kernels/*.xml"),
	described("what the accelerator has counted, beside what the simulation counts, in Python and in C++; the "+
		"latter's figures", "deploy/counters.py", "deploy/counters.hpp", "deploy/host/counters.json"),
}

// reportFiles describes the reports.
var reportFiles = []templates.ReadmeEntry{
	described("what the page shows; `hlsgen report` makes the page of it again", "report/page.json"),
	described("every layer: ONNX nodes, types, accumulator, fold, cost by part", "report/layers.json"),
	described("what became of every ONNX node", "report/nodes.json"),
	described("what is proved of the design", "report/certificate.json"),
	described("what hlsgen build --json prints", "report/build.json"),
	described("the model that was built", "model.onnx"),
	described("resources of layers, FIFOs and the host's port", "report/resources.json"),
	described("the simulation: interval, latency, stalls, FIFOs, deadlock", "report/cycle_simulation.json"),
	described("reports with FINN's file names and keys",
		"report/estimate_*.json", "report/op_and_param_counts.json"),
}

// describedFiles returns the rows of all files that builds may have. A file without a row is an error.
func describedFiles() []templates.ReadmeEntry {
	files := slices.Concat(designFiles, backend.All[0].Readme, hostFiles)
	for _, row := range backend.All[1:] {
		files = append(files, row.Readme...)
	}
	return append(files, reportFiles...)
}

// ReadmeMarkdown returns the README.md of the build. paths lists the files of the build.
func (r *Build) ReadmeMarkdown(paths []string) ([]byte, error) {
	t := r.Design.Target
	_, every := r.Design.SamplesPerSecondAndInterval()
	name := templates.FormatMarkdownCodeSpan(r.Source.Name)
	about := fmt.Sprintf("A streaming accelerator of the model %s for the board %s (%s) at %s MHz:\n"+
		"%s, made by hlsgen %s. By simulation it takes %s every %s clocks,\n"+
		"and %d clocks from the first word of a frame to its last result.\n",
		templates.FormatMarkdownCodeSpan(r.Source.File), templates.FormatMarkdownCodeSpan(t.Board.Name),
		templates.FormatMarkdownCodeSpan(t.Board.Part), FormatDecimal(t.ClockMHz),
		productOf(r.Backend), r.Version, r.frame(), FormatDecimal(every), r.Design.Clocks.Latency)
	if v := r.Verified; v.Samples > 0 {
		were := "were"
		if v.Samples == 1 {
			were = "was"
		}
		about += fmt.Sprintf("%s %s compared with the model, bit for bit (%s).", samplesText(v.Samples), were,
			strings.Join(v.Engines, ", "))
	} else {
		about += "It was not compared with the model: no samples were asked for."
	}
	if r.Design.Over {
		about += "\nIt takes more than the budget allows: `report/report.html` says of what."
	}
	model := "The model is the file " + templates.FormatMarkdownCodeSpan(r.Source.File)
	if r.Source.Example {
		model = "The model is the example that hlsgen carries,"
	}
	model += " with the SHA-256\n" + templates.FormatMarkdownCodeSpan(r.Source.SHA256()) +
		". This command makes the same design:"
	if r.Design.Certificate.Interrupted {
		model = strings.TrimSuffix(model, " This command makes the same design:") + " The search for this design was " +
			"interrupted,\nso that without `--folding` another one may come of it. This makes the same one, its " +
			"FIFOs included:"
	}
	steps := []templates.ReadmeStep{
		{Title: "Look at it", Text: "Open `report/report.html` in a browser."},
		{Title: "Run the test bench",
			Text: "It runs the generated C++ on the recorded frames and compares every\n" +
				"stream of every layer. A C++ compiler and make are all it needs.",
			Commands: []string{"make -C hls csim"}},
		driver(r),
		{Title: "Synthesise it", Text: "In the folder `hls`; the first line is for Vitis HLS up to 2024.1,\n" +
			"the second one for Vitis 2024.2 and later.",
			Commands: []string{"vitis_hls -f run_hls.tcl", "vitis-run --mode hls --tcl run_hls_unified.tcl"}},
		{Title: "Synthesise it layer by layer", Text: "Several layers at a time, and after a change only those " +
			"that are others now, by the contents of\ntheir files. `make package` joins them to one IP for Vivado in " +
			"`hls/build.ip`, `make xsim` simulates\nthem against the recorded streams. It takes, " +
			r.SynthesisTimeText() +
			".\nThat is what one public machine took for two layers, HLS and Vivado together, and a guess for others.",
			Commands: []string{"make -C hls -j4 ip", "make -C hls package", "make -C hls xsim"}},
		{Title: "Make it again", Text: model, Commands: []string{r.again()}},
	}
	if !r.Backend.IncludesHLS() {
		steps = slices.Delete(steps, 1, 5)
	}
	for _, row := range r.Backend.Rows() {
		steps = slices.Insert(steps, 1, row.Steps...)
	}
	steps = slices.Insert(steps, len(steps)-1, toBitstream(r)...)
	if s := NewSequenceRatesReport(r.Design); s != nil {
		steps = slices.Insert(steps, 1, templates.ReadmeStep{Title: "Send sequences", Text: s.sent()})
	}
	return templates.ReadmeContents{Title: name + " on " + templates.FormatMarkdownCodeSpan(t.Board.Name), About: about,
		Files: describedFiles(),
		Steps: steps}.RenderReadme(paths)
}

// driver returns the README's step about getting results from a program, or about the missing driver.
func driver(r *Build) templates.ReadmeStep {
	step := templates.ReadmeStep{Title: "Run it from Python"}
	if r.NoDriver != "" {
		step.Text = "There is no driver for this design: " + r.NoDriver + "."
		return step
	}
	step.Text = "The generated C++ as a library stands in for the board. `deploy/accelerator.py` needs numpy,\n" +
		"and takes and gives what the model does; in a program, `Accelerator(library).predict(x)` does the same." +
		beside(r)
	top, err := templates.IPInterfaceOf(r.Design.Design, templates.Options{})
	if err != nil {
		panic(err) // the project was made
	}
	step.Commands = []string{"make -C hls lib",
		"python3 deploy/accelerator.py hls/build/lib" + top.Top + ".so x.npy y.npy"}
	return step
}

// beside returns text about the parts of the model that the host's tables do not cover, and who computes them. It is
// empty if there are none.
func beside(r *Build) (text string) {
	m := r.Design.Model
	for _, side := range []struct {
		of     []dataflow.RealTensorInfo
		out    dataflow.RemainingHostPart
		format string
	}{
		{m.Host().Begins, m.Host().Before, "\nThe accelerator takes %s instead of the model's inputs: what is in " +
			"front of that, %s, %s."},
		{m.Host().Ends, m.Host().After, "\nThe accelerator gives %s instead of the model's outputs: what is behind " +
			"that, %s, %s."},
	} {
		var names, nodes []string
		for _, t := range side.of {
			names = append(names, templates.FormatMarkdownCodeSpan(t.Name))
		}
		for _, n := range side.out.Nodes {
			nodes = append(nodes, templates.FormatMarkdownCodeSpan(n))
		}
		if names != nil {
			who := "a program computes itself"
			if side.out.ONNX != nil {
				who = "the driver runs with onnxruntime, or with onnx 1.13 or later"
			}
			text += fmt.Sprintf(side.format, strings.Join(names, ", "), strings.Join(nodes, ", "), who)
		}
	}
	for _, f := range m.Feedback {
		text += fmt.Sprintf("\nWhat it gives as %s is %s of the next sample: give it back, one sample at a time.",
			templates.FormatMarkdownCodeSpan(m.Out[f.Out].Name), templates.FormatMarkdownCodeSpan(m.In[f.In].Name))
	}
	return text
}

// HasFIFOsNotFromFolds reports whether the folds alone do not determine the FIFOs of a design. That is so if depths
// were given, or if the search was interrupted.
func HasFIFOsNotFromFolds(d *folding.Design) bool {
	return d.Certificate.Interrupted || slices.ContainsFunc(d.Given, func(words int) bool { return words > 0 })
}

// again returns the command that makes the same design once more, to be run in the folder of the build.
func (r *Build) again() string {
	file := "folding.json"
	if HasFIFOsNotFromFolds(r.Design) {
		file = "final_hw_config.json" // this file also holds the FIFOs
	}
	words := append(r.Source.CommandWords("build"), "--board", options.BoardArgumentInFolder(r.Board), "--clock",
		FormatDecimal(r.Design.Target.ClockMHz), "--folding", file)
	return templates.QuoteShellCommand(append(append(words, r.Flags...), "--out", "again"))
}
