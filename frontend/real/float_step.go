package real

import "hlsgen/internal/num"

// StepOverFloats evaluates f, an integer-valued expression in variable 0, at every finite number of a format, as
// StepOver does at integers: the step function is one of the format's keys.
func (f *Func) StepOverFloats(of num.Format, limit int) (num.Step, error) {
	b := &searcher{f: f.sharp(), limit: limit, endless: true, at: of.At}
	err := b.run(of.Keys().Lo, of.Keys().Hi)
	return b.step, err
}
