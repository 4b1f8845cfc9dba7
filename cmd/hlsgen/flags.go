package main

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/frontend/canon"
	"hlsgen/internal/compiler"
	"hlsgen/internal/ctc"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
	"hlsgen/internal/suggest"
)

// The limits of what flags take.
const (
	maxClocks  = 1 << 40
	maxSamples = 1 << 16
	maxBits    = 64
	maxAxis    = 1 << 30
)

// A value is a flag's value and its parser. Texts from the environment and from hlsgen.yaml pass through it too, so
// that one place says what is valid.
type value[T any] struct {
	to    *T
	text  string // as given last
	kind  string // of value, for the help
	parse func(string) (T, error)
}

func (v *value[T]) String() string { return v.text }
func (v *value[T]) Type() string   { return v.kind }

func (v *value[T]) Set(s string) error {
	x, err := v.parse(s)
	if err != nil {
		return err
	}
	*v.to, v.text = x, s
	return nil
}

// A path is a flag's value that names a file or a folder. Relative ones start from base.
type path struct {
	to         *string
	base, kind string
	is         func(string) bool // false for what is a name, not a path; nil for always
}

func (p *path) String() string { return *p.to }
func (p *path) Type() string   { return p.kind }

func (p *path) Set(s string) error {
	if s == "" {
		return fmt.Errorf("want a %s", p.kind)
	}
	if p.is == nil || p.is(s) {
		s = under(p.base, s)
	}
	*p.to = s
	return nil
}

// root says where a relative path starts.
func (p *path) root(dir string) { p.base = dir }

// A rooted flag holds paths.
type rooted interface{ root(dir string) }

func (a *app) path(fs *pflag.FlagSet, to *string, name, kind, usage string) *path {
	p := &path{to: to, base: a.dir, kind: kind}
	fs.Var(p, name, usage)
	return p
}

// sizes is a repeatable NAME=SIZE.
type sizes struct{ to *map[string]int }

func (s sizes) Type() string { return "AXIS=SIZE" }

func (s sizes) String() string {
	var out []string
	for name, n := range *s.to {
		out = append(out, fmt.Sprintf("%s=%d", name, n))
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

func (s sizes) Set(text string) error {
	name, number, ok := strings.Cut(text, "=")
	n, err := strconv.Atoi(number)
	if !ok || name == "" || err != nil || n < 1 || n > maxAxis {
		return fmt.Errorf("want AXIS=SIZE, such as T=520")
	}
	if old, twice := (*s.to)[name]; twice && old != n {
		return fmt.Errorf("axis %s is %d already", name, old)
	}
	if *s.to == nil {
		*s.to = map[string]int{}
	}
	(*s.to)[name] = n
	return nil
}

func positive(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f > 0) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("want a number above 0")
	}
	return f, nil
}

// clockRate is what a board file may have as its default.
func clockRate(s string) (float64, error) {
	f, err := positive(s)
	if err == nil && (f < 1 || f > 2000) {
		err = fmt.Errorf("want 1 to 2000 MHz")
	}
	return f, err
}

func integer(lo, hi int) func(string) (int, error) {
	return func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < lo || n > hi {
			return 0, fmt.Errorf("want an integer from %d to %d", lo, hi)
		}
		return n, nil
	}
}

func fifo(s string) (folding.FIFO, error) {
	switch s {
	case "throughput":
		return folding.FIFO{}, nil
	case "minimal":
		return folding.FIFO{Minimal: true}, nil
	}
	n, err := integer(1, folding.MaxDepth)(s)
	if err != nil {
		err = fmt.Errorf("want minimal, throughput or %s", strings.TrimPrefix(err.Error(), "want "))
	}
	return folding.FIFO{Words: n}, err
}

// searchTime reads a duration of up to a day.
func searchTime(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || d > 24*time.Hour {
		return 0, fmt.Errorf("want a time such as 500ms, 30s or 5m, at most 24h")
	}
	return d, nil
}

func ends(s string) (dataflow.IO, error) {
	for _, io := range []dataflow.IO{dataflow.FromMemory, dataflow.FromStream} {
		if io.String() == s {
			return io, nil
		}
	}
	return 0, fmt.Errorf("want %v or %v", dataflow.FromMemory, dataflow.FromStream)
}

func costModel(s string) (dataflow.Formula, error) {
	for _, f := range []dataflow.Formula{dataflow.Fitted, dataflow.FINN} {
		if f.String() == s {
			return f, nil
		}
	}
	return 0, fmt.Errorf("want %v or %v", dataflow.Fitted, dataflow.FINN)
}

func engine(s string) (compiler.Engine, error) {
	var names []string
	for _, e := range compiler.Engines {
		if string(e.Name) == s {
			return e.Name, nil
		}
		names = append(names, string(e.Name))
	}
	return "", fmt.Errorf("engines are %s%s", strings.Join(names, ", "), suggest.Meant(s, names))
}

func method(s string) (ctc.Method, error) {
	var names []string
	for _, m := range ctc.Methods {
		if string(m.Name) == s {
			return m.Name, nil
		}
		names = append(names, string(m.Name))
	}
	return "", fmt.Errorf("methods are %s%s", strings.Join(names, ", "), suggest.Meant(s, names))
}

// designFlags adds what shapes a design.
func (a *app) designFlags(cmd *cobra.Command, o *compiler.Options) {
	fs := cmd.Flags()
	a.path(fs, &o.Board, "board", "BOARD", "a board's name (see hlsgen boards) or the path of a board file").is = boards.IsPath
	fs.Var(&value[float64]{to: &o.FPS, kind: "N", parse: positive}, "fps", "frames per second to reach with the least resources; without it, as many as fit")
	fs.Var(&value[int]{to: &o.Interval, kind: "CLOCKS", parse: integer(1, maxClocks)}, "interval", "clocks from frame to frame to reach with the least resources, instead of --fps")
	fs.BoolVar(&o.Latency, "latency", false, "look for the shortest latency of a frame that the budget allows, at the asked rate or at any, whatever it takes")
	fs.Var(&value[folding.Measure]{to: &o.Least, text: "load", kind: "KIND", parse: folding.ParseMeasure}, "least",
		"what the least resources are: load, the largest share of the budget that any kind takes; or one kind: lut, ff, bram, uram, dsp")
	fs.Var(&value[time.Duration]{to: &o.Search, kind: "TIME", parse: searchTime}, "search-time",
		"let the search for the folding take this long, such as 30s; without it, as much work as is the same on every machine")
	fs.Var(&value[dataflow.IO]{to: &o.IO, text: dataflow.FromMemory.String(), kind: "ENDS", parse: ends}, "io",
		"where frames come from: memory, through the processor's ports and its bandwidth; or stream, from inside the FPGA, a word in every clock")
	fs.Var(&value[float64]{to: &o.ClockMHz, kind: "MHZ", parse: clockRate}, "clock", "clock; without it, the board's default")
	fs.Var(&value[folding.Use]{to: &o.MaxUse, kind: "SHARE", parse: folding.ParseMaxUse}, "max-use", "budget: guideline (the default), what designs are known to close with, LUT 0.7, FF 0.5, LUT RAM 0.25, block RAM, UltraRAM and DSP 0.8, their mean 0.7; 0.8, a share of everything; or single ones, lut=0.7,bram=0.9")
	fs.BoolVar(&o.Over, "over-budget", false, "where nothing is within the budget, take what exceeds it least")
	a.path(fs, &o.Folding, "folding", "FILE", "folding file to honour, in the form of folding.json")
	fs.Var(&value[folding.FIFO]{to: &o.FIFO, text: "throughput", kind: "DEPTH", parse: fifo}, "fifo", "depth of FIFOs: throughput, the smallest that cost no speed; minimal, the smallest without deadlock; or a number of words for all")
	fs.Var(&value[dataflow.Formula]{to: &o.Cost, text: dataflow.Fitted.String(), kind: "MODEL", parse: costModel}, "cost",
		"how resources are estimated: hlsgen, fitted on synthesis, or finn, by FINN's formulas")
	a.dimFlag(cmd, o)
	a.inputFlags(cmd, o)
	must(cmd.RegisterFlagCompletionFunc("board", cobra.FixedCompletions(boardNames(), cobra.ShellCompDirectiveDefault)))
}

// excluding tells of goals that exclude each other.
func excluding(o *compiler.Options) error {
	if o.FPS > 0 && o.Interval > 0 {
		return usagef("--fps and --interval exclude each other: both say how fast the design has to be")
	}
	return nil
}

func (a *app) dimFlag(cmd *cobra.Command, o *compiler.Options) {
	cmd.Flags().Var(sizes{&o.Dims}, "dim", "size of a dynamic axis, such as T=520 (may be repeated)")
}

// inputFlags adds what the user may say of the model's inputs.
func (a *app) inputFlags(cmd *cobra.Command, o *compiler.Options) {
	fs := cmd.Flags()
	fs.Var(&value[*frontend.InputType]{to: &o.Arrives, kind: "TYPE[:SCALE]", parse: inputType}, "input-type",
		"inputs arrive as integers of this type whose value is SCALE times the integer: UINT8, UINT8:1/255 (default scale 1); at most 16 bits; the model's own scaling then becomes thresholds on the device")
	fs.Var(&value[*frontend.InputQuant]{to: &o.Quantise, kind: "TYPE:SCALE", parse: inputQuant}, "input-quant",
		"put a quantiser behind real inputs that have none: INT8:0.0625; this changes the model")
	a.path(fs, &o.LSTM, "lstm-config", "FILE", "JSON file with the formats of the gates of ONNX LSTM nodes, whose gates are real numbers; this changes the model")
}

func inputType(s string) (*frontend.InputType, error) {
	name, scale, scaled := strings.Cut(s, ":")
	t, err := num.ParseType(strings.ToUpper(name))
	if err != nil {
		return nil, err
	}
	if t.Width > 16 {
		return nil, fmt.Errorf("inputs have at most 16 bits")
	}
	in := &frontend.InputType{Type: t, Scale: big.NewRat(1, 1)}
	if scaled {
		if in.Scale, err = fraction(scale); err != nil {
			return nil, err
		}
	}
	return in, nil
}

func inputQuant(s string) (*frontend.InputQuant, error) {
	name, text, ok := strings.Cut(s, ":")
	if !ok {
		return nil, fmt.Errorf("want TYPE:SCALE, such as INT8:0.0625")
	}
	t, err := num.ParseType(strings.ToUpper(name))
	if err != nil {
		return nil, err
	}
	if t.Kind != num.Int && t.Kind != num.UInt || t.Width < 2 || t.Width > 16 {
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
	return &frontend.InputQuant{Type: t, Scale: float64(f)}, nil
}

// fraction reads a positive number: 0.5, 1e-3 or 1/255.
func fraction(s string) (*big.Rat, error) {
	r, ok := new(big.Rat).SetString(s)
	if len(s) > 40 || !ok || r.Sign() <= 0 || strings.ContainsAny(s, "eE") && len(s) > 12 {
		return nil, fmt.Errorf("want a scale above 0, such as 0.5 or 1/255")
	}
	if f, _ := r.Float64(); f > 1e30 || f < 1e-30 {
		return nil, fmt.Errorf("want a scale between 1e-30 and 1e30")
	}
	return r, nil
}

// strictFlag lets warnings count as errors.
func strictFlag(cmd *cobra.Command, d *diag.List) {
	cmd.Flags().BoolVar(&d.Strict, "strict", false, "take every warning for an error: nothing is written then")
}

func accFlag(cmd *cobra.Command, o *compiler.Options) {
	cmd.Flags().Var(&value[int]{to: &o.AccBits, kind: "BITS", parse: integer(1, maxBits)}, "acc-bits", "report every accumulator that needs more bits as an error")
}

func (a *app) passFlags(cmd *cobra.Command, o *compiler.Options) {
	a.path(cmd.Flags(), &o.Dump, "dump-passes", "DIR", "write the graph after every pass to this folder")
	cmd.Flags().Var(&value[int]{to: &o.Passes, kind: "N", parse: integer(1, len(canon.Passes))}, "passes-until", "run only the first N passes (see hlsgen passes)")
}

func boardNames() (names []string) {
	for _, b := range boards.All() {
		names = append(names, b.Name)
	}
	return names
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
