package real

import "hlsgen/internal/num"

// StepFunctionOverFloats evaluates f, an integer-valued expression in variable 0, at every finite number of a format.
// It returns a step function of the format's keys, the integers that number its floats in order; otherwise it does the
// same as StepFunctionOver. A function that turns around all over the format, as a sine does, gives ErrTooManySteps at
// once. With an error, the step function is incomplete.
func (f *Func) StepFunctionOverFloats(of num.FloatFormat, limit int) (num.StepFunction, error) {
	b := &searcher{f: f.sharp(), limit: limit, endless: true, at: of.NumberAtPosition}
	if b.swings(of.FinitePositions()) {
		return num.StepFunction{}, ErrTooManySteps
	}
	err := b.run(of.FinitePositions().Lo, of.FinitePositions().Hi)
	return b.step, err
}

// swings reports whether the function turns around too often between probes that are spread over the whole format.
// Functions in models turn around a few times, mostly near zero.
func (b *searcher) swings(keys num.Range) bool {
	const (
		probes = 256
		most   = probes / 8 // the most turns allowed
	)
	turns, rises, falls := 0, false, false
	var last int64
	apart := (uint64(keys.Hi) - uint64(keys.Lo)) / (probes - 1)
	for i := range uint64(probes) {
		key := keys.Lo + int64(i*apart)
		v, ok := b.value(key, key)
		if !ok {
			var err error
			if v, err = b.exact(key); err != nil {
				return false // the search itself reports the error
			}
		}
		if i > 0 && (v > last && falls || v < last && rises) {
			turns++
		}
		if i > 0 && v != last {
			rises, falls = v > last, v < last
		}
		last = v
	}
	b.count = 0
	return turns > most
}
