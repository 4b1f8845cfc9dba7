package layertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"hlsgen/hlslib"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
)

// A program is a fold to be compiled.
type program struct {
	*bound
	fold dataflow.Fold
}

// together is the number of folds that are compiled in one project.
const together = 100

// lint generates the C++ of all folds, which the templates lint. They check the text against the rules of Vitis HLS,
// and the bindings against the instance's memories. checkStorage compares these memories with the prices. Where tests
// are to be quick, it takes one fold of four.
func lint(programs []program) error {
	if tier.Quick() {
		var some []program
		for i := 0; i < len(programs); i += 4 {
			some = append(some, programs[i])
		}
		programs = some
	}
	for some := range slices.Chunk(programs, together) {
		if _, _, err := bench(some); err != nil {
			return err
		}
	}
	return nil
}

// bench returns the project of the programs, and their trials.
func bench(programs []program) ([]templates.LayerTestCase, templates.ProjectFiles, error) {
	trials := make([]templates.LayerTestCase, len(programs))
	var headers []hlslib.EmbeddedLibraryFile
	for i, p := range programs {
		trials[i] = p.trial(i)
		if i == 0 || p.bound != programs[i-1].bound {
			headers = append(headers, p.Headers...)
		}
	}
	files, err := templates.GenerateLayerBench(trials, headers...)
	var f *templates.LintFindingsError
	switch {
	case !errors.As(err, &f):
		err = named(checkInstance, err)
	case len(f.Text) > 0:
		err = complain(checkText, f.Text)
	default:
		err = complain(checkStorage, f.Memory)
	}
	return trials, files, err
}

// complain returns the findings of a lint as a failure of the check.
func complain(check string, findings []string) error {
	some := strings.Join(findings[:min(10, len(findings))], "\n")
	return failed(check, "%d findings in the C++, among them\n%s", len(findings), some)
}

// trial returns the fold with the frames on its ports. The leading zeros in its name keep any name from being part of
// another.
func (p program) trial(i int) templates.LayerTestCase {
	in, out := p.op.Ports(p.fold)
	return templates.LayerTestCase{
		Layer: templates.Layer{
			Name:     fmt.Sprintf("%s_%04d", p.op.Kind(), i),
			Origin:   []string{p.Name},
			Instance: p.op.Emit(p.fold, p.target()),
			In:       in, Out: out,
			Calls: slices.Repeat([]int{p.op.Loop(p.fold, p.target()).IterationsPerFrame()}, len(p.frames)),
		},
		In:  byPort(p.frames),
		Out: byPort(p.want),
	}
}

// byPort transposes [frame][port] to [port][frame].
func byPort(frames [][]dataflow.Tensor) [][]dataflow.Tensor {
	ports := make([][]dataflow.Tensor, len(frames[0]))
	for _, f := range frames {
		for i, v := range f {
			ports[i] = append(ports[i], v)
		}
	}
	return ports
}
