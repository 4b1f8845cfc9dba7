package main

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/internal/num"
	"hlsgen/internal/suggest"
)

// The limits of the values of flags.
const (
	maxClocks      = 1 << 40
	maxSamples     = 1 << 16
	maxInterleaved = 1024
	maxAxis        = 1 << 30
)

// A value is the value of a flag. Texts from the environment and from hlsgen.yaml pass through it too, so that only
// one place decides which texts are valid.
type value struct {
	text string // as given, or the default as help shows it
	kind string // the type of the value, for the help
	base string // the folder where relative paths start; for flags that take paths
	// set parses a text and returns the text to show.
	set func(v *value, text string) (shown string, err error)
}

// String returns the flag's text.
func (v *value) String() string { return v.text }

// Type returns the type of the flag's value, for the help.
func (v *value) Type() string { return v.kind }

// Set parses a text from the command line, the environment or hlsgen.yaml.
func (v *value) Set(s string) error {
	shown, err := v.set(v, s)
	if err == nil {
		v.text = shown
	}
	return err
}

// option adds a flag with a parser. text is the default that help shows, and kind names the type of the value.
func option[T any](fs *pflag.FlagSet, to *T, name, text, kind string, parse func(string) (T, error), usage string) {
	fs.Var(&value{text: text, kind: kind, set: func(_ *value, s string) (string, error) {
		x, err := parse(s)
		if err == nil {
			*to = x
		}
		return s, err
	}}, name, usage)
}

// listOption adds a flag that takes several values, separated by commas or given one by one.
func listOption[T any](fs *pflag.FlagSet, to *[]T, name, kind string, parse func(string) (T, error),
	usage string) *value {
	v := &value{kind: kind, set: func(v *value, s string) (string, error) {
		for _, part := range strings.Split(s, ",") {
			x, err := parse(strings.TrimSpace(part))
			if err != nil {
				return "", fmt.Errorf("%q: %w", part, err)
			}
			*to = append(*to, x)
		}
		return strings.TrimPrefix(v.text+","+s, ","), nil
	}}
	fs.Var(v, name, usage)
	return v
}

// sizes is the value of --dim: a repeatable NAME=SIZE. One axis may have NAME=MIN..MAX instead, the lengths of
// sequences.
type sizes struct {
	to      *map[string]int
	lengths **frontend.AxisLengthRange
}

// Type returns the form of the flag's value, for the help.
func (s sizes) Type() string { return "AXIS=SIZE" }

// String returns the sizes that are set.
func (s sizes) String() string {
	var out []string
	for name, n := range *s.to {
		out = append(out, fmt.Sprintf("%s=%d", name, n))
	}
	if l := *s.lengths; l != nil {
		out = append(out, fmt.Sprintf("%s=%d..%d", l.Axis, l.Min, l.Max))
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

// Set adds the size of an axis, or a range of lengths.
func (s sizes) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		name, size, ok := strings.Cut(part, "=")
		low, high, several := strings.Cut(size, "..")
		n, err := strconv.Atoi(low)
		m := n
		if several && err == nil {
			m, err = strconv.Atoi(high)
		}
		if !ok || name == "" || err != nil || n < 1 || m < n || m > maxAxis {
			return fmt.Errorf("want AXIS=SIZE, such as T=520, or AXIS=MIN..MAX, such as T=1..520")
		}
		old, twice := (*s.to)[name]
		l := *s.lengths
		switch {
		case n == m && l != nil && l.Axis == name:
			return fmt.Errorf("axis %s is %d to %d already", name, l.Min, l.Max)
		case twice && (old != n || n != m):
			return fmt.Errorf("axis %s is %d already", name, old)
		case n < m && l != nil && *l != (frontend.AxisLengthRange{Axis: name, Min: n, Max: m}):
			return fmt.Errorf("axis %s is %d to %d already, and one axis can have several lengths", l.Axis, l.Min,
				l.Max)
		case n < m:
			*s.lengths = &frontend.AxisLengthRange{Axis: name, Min: n, Max: m}
			continue
		}
		if *s.to == nil {
			*s.to = map[string]int{}
		}
		(*s.to)[name] = n
	}
	return nil
}

// initials is the value of --initial-state: a repeatable STATE or INPUT=STATE.
type initials struct {
	to *frontend.InitialStateModesByInput
}

// Type returns the form of the flag's value, for the help.
func (s initials) Type() string { return "[INPUT=]STATE" }

// String returns the states that are set.
func (s initials) String() string {
	return strings.Join(s.to.FlagValues(), ",")
}

// Set adds the initial state of an input, or of all inputs.
func (s initials) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		at := strings.LastIndex(part, "=") // the name of an input may contain an equals sign
		state := frontend.InitialStateMode(part[at+1:])
		input := part[:max(0, at)]
		if at == 0 || !slices.Contains(frontend.InitialStateModeNames, string(state)) {
			return fmt.Errorf("want zero or quant, or one of them for an input, such as h0=zero")
		}
		if old, twice := (*s.to)[input]; twice && old != state {
			if input == "" {
				return fmt.Errorf("initial states are %s already", old)
			}
			return fmt.Errorf("the initial state %s is %s already", input, old)
		}
		if *s.to == nil {
			*s.to = frontend.InitialStateModesByInput{}
		}
		(*s.to)[input] = state
	}
	return nil
}

// feedbacks is the value of --state: a repeatable INPUT=OUTPUT.
type feedbacks struct{ to *[]frontend.StateFeedback }

// Type returns the form of the flag's value, for the help.
func (f feedbacks) Type() string { return "INPUT=OUTPUT" }

// String returns the feedbacks that are set.
func (f feedbacks) String() string {
	var list []string
	for _, s := range *f.to {
		list = append(list, s.String())
	}
	return strings.Join(list, ",")
}

// Set adds a feedback from an output to an input.
func (f feedbacks) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		input, output, ok := strings.Cut(part, "=")
		if !ok || input == "" || output == "" {
			return fmt.Errorf("want the name of an input and that of an output, such as state=stateN")
		}
		*f.to = append(*f.to, frontend.StateFeedback{Input: input, Output: output})
	}
	return nil
}

// shapes is the value of --shape: the sizes of an input's axes, INPUT=SIZE,SIZE,...
type shapes struct{ to *frontend.GivenInputShapes }

// Type returns the form of the flag's value, for the help.
func (s shapes) Type() string { return "[INPUT=]SIZE,..." }

// String returns the shapes that are set.
func (s shapes) String() string { return strings.Join(s.to.FlagValues(), " ") }

// Set adds the shape of an input.
func (s shapes) Set(text string) error {
	at := strings.LastIndex(text, "=") // the name of an input may contain an equals sign
	var sizes []int
	elements := 1
	for part := range strings.SplitSeq(text[at+1:], ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > maxAxis/elements || at == 0 {
			return fmt.Errorf("want the size of every axis, such as x=1,3,48,192")
		}
		sizes, elements = append(sizes, n), elements*n
	}
	input := text[:max(0, at)]
	if old, twice := (*s.to)[input]; twice && !slices.Equal(old, sizes) {
		return fmt.Errorf("the shape of the input is given already, and another one")
	}
	if *s.to == nil {
		*s.to = frontend.GivenInputShapes{}
	}
	(*s.to)[input] = sizes
	return nil
}

// positive parses a number above 0.
func positive(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f > 0) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("want a number above 0")
	}
	return f, nil
}

// clockRate parses a clock in MHz, within the limits that board files keep.
func clockRate(s string) (float64, error) {
	f, err := positive(s)
	if err == nil && (f < 1 || f > 2000) {
		err = fmt.Errorf("want 1 to 2000 MHz")
	}
	return f, err
}

// integer returns a parser of integers from lo to hi.
func integer(lo, hi int) func(string) (int, error) {
	return func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < lo || n > hi {
			return 0, fmt.Errorf("want an integer from %d to %d", lo, hi)
		}
		return n, nil
	}
}

// interval parses a number of clocks per frame.
func interval(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 1) || f > maxClocks {
		return 0, fmt.Errorf("want a number from 1 to %d", maxClocks)
	}
	return f, nil
}

// turns parses a value of --interleave.
func turns(s string) (int, error) { return integer(1, maxInterleaved)(s) }

// fifo parses a value of --fifo.
func fifo(s string) (folding.FIFODepthPolicy, error) {
	switch s {
	case "throughput":
		return folding.FIFODepthPolicy{}, nil
	case "minimal":
		return folding.FIFODepthPolicy{Minimal: true}, nil
	}
	n, err := integer(1, folding.MaxFIFODepthWords)(s)
	if err != nil {
		err = fmt.Errorf("want minimal, throughput or %s", strings.TrimPrefix(err.Error(), "want "))
	}
	return folding.FIFODepthPolicy{Words: n}, err
}

// searchTime parses a duration, such as 30s or 5m, above 0 and up to a day.
func searchTime(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || d > 24*time.Hour {
		return 0, fmt.Errorf("want a time such as 500ms, 30s or 5m, at most 24h")
	}
	return d, nil
}

// either returns a parser that accepts the names of two values, as String returns them.
func either[T fmt.Stringer](a, b T) func(string) (T, error) {
	return func(s string) (T, error) {
		switch s {
		case a.String():
			return a, nil
		case b.String():
			return b, nil
		}
		return a, fmt.Errorf("want %v or %v", a, b)
	}
}

// oneOf returns a parser that accepts the given names. what names them in the error message.
func oneOf[T ~string](what string, names []string) func(string) (T, error) {
	return func(s string) (T, error) {
		if !slices.Contains(names, s) {
			return "", fmt.Errorf("%s are %s%s", what, strings.Join(names, ", "), suggest.DidYouMeanSuffix(s, names))
		}
		return T(s), nil
	}
}

// inputType parses a value of --input-type into in.
func inputType(in *frontend.IntegerInputType, s string) error {
	parts := strings.Split(s, ":")
	t, err := num.ParseType(strings.ToUpper(parts[0]))
	switch {
	case err != nil:
		return err
	case t.Kind == num.KindFloat || t.Kind == num.KindUFloat:
		return fmt.Errorf("want a type of integers, such as UINT8 or INT16")
	case t.Width > 16:
		return fmt.Errorf("inputs have at most 16 bits")
	case len(parts) > 3:
		return fmt.Errorf("want TYPE:SCALE:OFFSET at most, such as UINT8:1/255:-0.5")
	}
	in.Type, in.Scale, in.Offset = t, big.NewRat(1, 1), nil
	if len(parts) > 1 {
		if in.Scale, err = fraction(parts[1]); err != nil {
			return err
		}
	}
	if len(parts) > 2 {
		in.Offset, err = number(parts[2])
	}
	return err
}

// inputMean parses a value of --input-mean into in.
func inputMean(in *frontend.IntegerInputType, s string) error {
	return ofNormal(in, s, number, func(n *frontend.InputNormalisation) *[]*big.Rat { return &n.Mean })
}

// inputDeviation parses a value of --input-std into in.
func inputDeviation(in *frontend.IntegerInputType, s string) error {
	return ofNormal(in, s, fraction, func(n *frontend.InputNormalisation) *[]*big.Rat { return &n.Deviation })
}

// ofNormal parses numbers that apply to all inputs, or to the input that is named in front of them.
func ofNormal(in *frontend.IntegerInputType, s string, parse func(string) (*big.Rat, error),
	part func(*frontend.InputNormalisation) *[]*big.Rat) error {
	at := strings.LastIndex(s, "=") // the name of an input may contain an equals sign
	numbers, err := list(s[at+1:], parse)
	if err == nil && at == 0 {
		err = fmt.Errorf("want the name of an input in front of =")
	}
	if err != nil {
		return err
	}
	if at < 0 {
		*part(&in.InputNormalisation) = numbers
		return nil
	}
	of := in.Inputs[s[:at]]
	if *part(&of) = numbers; in.Inputs == nil {
		in.Inputs = map[string]frontend.InputNormalisation{}
	}
	in.Inputs[s[:at]] = of
	return nil
}

// list parses numbers that commas separate, each by parse. It returns the first error.
func list(s string, parse func(string) (*big.Rat, error)) (all []*big.Rat, err error) {
	for _, part := range strings.Split(s, ",") {
		r, err := parse(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("%q: %w", part, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// inputQuant parses a value of --input-quant.
func inputQuant(s string) (*frontend.AddedInputQuantiser, error) {
	name, text, ok := strings.Cut(s, ":")
	if !ok {
		return nil, fmt.Errorf("want TYPE:SCALE, such as INT8:0.0625")
	}
	t, err := num.ParseType(strings.ToUpper(name))
	if err != nil {
		return nil, err
	}
	if t.Kind != num.KindInt && t.Kind != num.KindUInt || t.Width < 2 || t.Width > 16 {
		return nil, fmt.Errorf("quantise to INT2..INT16 or UINT2..UINT16")
	}
	scale, err := fraction(text)
	if err != nil {
		return nil, err
	}
	f, _ := scale.Float32()
	if f == 0 || math.IsInf(float64(f), 0) {
		return nil, fmt.Errorf("%s is no scale of a float32", text)
	}
	return &frontend.AddedInputQuantiser{Type: t, Scale: float64(f)}, nil
}

// output accepts every name of a tensor but the empty one. Only the model can tell whether it has such a tensor.
func output(s string) (string, error) {
	if s == "" {
		return "", fmt.Errorf("want the name of a tensor")
	}
	return s, nil
}

// fraction parses a positive number such as 0.5, 9.84184371191077e-05 or 1/255.
func fraction(s string) (*big.Rat, error) {
	unlike := fmt.Errorf("want a scale above 0, such as 0.5, 1e-3 or 1/255")
	within := func(f float64) error {
		if f > 1e30 || f < 1e-30 {
			return fmt.Errorf("want a scale between 1e-30 and 1e30")
		}
		return nil
	}
	if len(s) > 64 {
		return nil, unlike
	}
	// A float64 shows whether the number is too large, before a rational allocates as many digits as its exponent
	// says.
	if f, err := strconv.ParseFloat(s, 64); err == nil && f > 0 {
		if err := within(f); err != nil {
			return nil, err
		}
	} else if strings.ContainsAny(s, "eEpP") {
		return nil, unlike
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok || r.Sign() <= 0 {
		return nil, unlike
	}
	f, _ := r.Float64()
	return r, within(f)
}

// number parses any number, such as 0, -0.5 or 1/255.
func number(s string) (*big.Rat, error) {
	if f, err := strconv.ParseFloat(s, 64); err == nil && f == 0 && !strings.ContainsAny(s, "123456789") {
		return new(big.Rat), nil
	}
	size, negative := strings.CutPrefix(s, "-")
	r, err := fraction(size)
	if err != nil {
		return nil, fmt.Errorf("want a number such as 0, -0.5 or 1/255")
	}
	if negative {
		r.Neg(r)
	}
	return r, nil
}

// boardNames returns the names of all boards that hlsgen knows.
func boardNames() (names []string) {
	for _, b := range boards.AllBoards() {
		names = append(names, b.Name)
	}
	return names
}
