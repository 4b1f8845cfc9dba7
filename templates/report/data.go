package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// A Page holds everything that the page of a build shows. It is the content of report/page.json, and the page is made
// of it alone. Texts need no escaping.
type Page struct {
	Version int     `json:"version"` // of hlsgen's JSON
	Model   string  `json:"model"`
	Board   string  `json:"board"`
	Part    string  `json:"part"`      // part and clock
	Clock   float64 `json:"clock_mhz"` // that the design reaches
	// clocks from frame to frame, simulated
	Interval float64 `json:"interval_clocks"`
	Tool     string  `json:"tool"`
	// the device's name for a block RAM
	Block     string             `json:"block_ram"`
	Facts     Facts              `json:"facts"`              // the large figures at the top
	Warnings  []DiagnosticNotice `json:"warnings,omitempty"` // of the build
	Resources []ResourceUse      `json:"resources"`
	Mean      string             `json:"mean"`  // what all hard blocks take together
	Parts     []ResourceAmounts  `json:"parts"` // resources by layers, FIFOs and host's port
	Layers    []LayerRow         `json:"layers"`
	// lines of the proof
	Certificate []string        `json:"certificate"`
	Network     *NetworkPicture `json:"network,omitempty"`
	Series      []string        `json:"series"` // the clocks of many frames, and the reasons
	Bars        []ClockBar      `json:"bars"`   // clocks per frame
	// nil if a frame has too many words
	Timeline     *Timeline `json:"timeline,omitempty"`
	TimelineNote string    `json:"timeline_note"`
	WhatIf       *WhatIf   `json:"what_if,omitempty"`
	FIFOs        []FIFORow `json:"fifos"`
	Sums         []SumsRow `json:"sums,omitempty"`   // of the given samples
	Ends         []FIFORow `json:"ends,omitempty"`   // FIFOs that tell where sequences end, without measurements
	Before       []string  `json:"before,omitempty"` // nodes on the host, in front of the accelerator
	After        []string  `json:"after,omitempty"`  // nodes on the host, behind it
	Checks       Facts     `json:"checks"`           // the verifications
	Given        Facts     `json:"given"`            // the model and the options
}

// A Fact is a named value with a remark, which may be empty.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Note  string `json:"note,omitempty"`
}

// Facts are facts in the order in which the page shows them.
type Facts []Fact

// AddFact appends a fact. The note may be empty.
func (f *Facts) AddFact(name, value, note string) { *f = append(*f, Fact{name, value, note}) }

// A DiagnosticNotice is a warning or a note about the build, with its code, a hint, and further notes.
type DiagnosticNotice struct {
	Severity string   `json:"severity"`
	Code     string   `json:"code"`
	Text     string   `json:"text"`
	Hint     string   `json:"hint,omitempty"`
	Notes    []string `json:"notes,omitempty"`
}

// A ResourceUse compares how much of a resource the design uses with the budget, and with all that the board has.
type ResourceUse struct {
	Name   string `json:"name"`
	Used   int    `json:"used"`
	Budget int    `json:"budget"`
	Board  int    `json:"board"`
}

// Percent returns which share part is of the board's amount, in percent from 0 to 100. It returns 0 if the board has
// none.
func (r ResourceUse) Percent(part int) float64 {
	if r.Board <= 0 {
		return 0
	}
	return min(100, max(0, 100*float64(part)/float64(r.Board)))
}

// Over reports whether the design uses more of the resource than the budget.
func (r ResourceUse) Over() bool { return r.Used > r.Budget }

// ResourceAmounts lists how much a named part of the design takes of every resource.
type ResourceAmounts struct {
	Name string `json:"name"`
	LUT  int    `json:"lut"`
	FF   int    `json:"ff"`
	BRAM int    `json:"bram"`
	URAM int    `json:"uram"`
	DSP  int    `json:"dsp"`
}

// A LayerRow is a row of the table of layers: the layer's names, its fold, its clocks per frame, its waits and its
// resources.
type LayerRow struct {
	ResourceAmounts
	Kind    string   `json:"kind"`
	Nodes   []string `json:"nodes,omitempty"`   // ONNX nodes
	Modules []string `json:"modules,omitempty"` // modules of the network that contain these
	In      []string `json:"in"`                // element types and shapes
	Out     []string `json:"out"`
	PE      int      `json:"pe"`
	SIMD    int      `json:"simd"`
	Memory  string   `json:"memory,omitempty"`
	Compute string   `json:"compute,omitempty"`
	Steps   string   `json:"steps,omitempty"` // serial, parallel, or none if there is no choice
	Cycles  int      `json:"clocks"`
	// delay in ns; 0 if there is none
	Path       float64 `json:"path_ns,omitempty"`
	Bottleneck bool    `json:"bottleneck,omitempty"`
	// shares of the simulated clocks in percent
	Busy        float64            `json:"busy"`
	Starved     float64            `json:"starved"`
	Blocked     float64            `json:"blocked"`
	Accumulator *AccumulatorWidths `json:"accumulator,omitempty"`
	Latency     int                `json:"pipeline_latency"` // clocks
	Costs       []ResourceAmounts  `json:"costs,omitempty"`  // by part
	Memories    []LayerMemory      `json:"memories,omitempty"`
	Into        []int              `json:"fifos_in"` // indices of Page.FIFOs
	From        []int              `json:"fifos_out"`
	Sources     []LayerSource      `json:"sources,omitempty"`
}

// A LayerMemory is a table or an array of a layer, such as its weights or its thresholds.
type LayerMemory struct {
	Name  string `json:"name"`
	Rows  int    `json:"rows"`
	Bits  int    `json:"bits"`  // of a row
	Banks int    `json:"banks"` // arrays of as many rows, each read at an address of its own
	In    string `json:"in"`    // the memory; empty if synthesis chooses it
}

// A LayerSource is a generated file of a layer, with its beginning.
type LayerSource struct {
	File string `json:"file"` // below the folder of the build
	Text string `json:"text"`
	More int    `json:"more,omitempty"` // bytes that are left out
}

// A NetworkPicture is the picture of a design: boxes joined by arrows. Positions count from the upper left corner.
type NetworkPicture struct {
	Width  float64        `json:"width"`
	Height float64        `json:"height"`
	Nodes  []PictureNode  `json:"nodes"` // the layers, in order, and then the ports
	Arrows []PictureArrow `json:"arrows"`
}

// A PictureNode is a box, with the position of its upper left corner.
type PictureNode struct {
	Name   string   `json:"name"`
	Lines  []string `json:"lines"`
	Port   bool     `json:"port,omitempty"`  // an input or an output
	Added  bool     `json:"added,omitempty"` // of no ONNX node
	X      float64  `json:"x"`
	Y      float64  `json:"y"`
	Width  float64  `json:"width"`
	Height float64  `json:"height"`
}

// A PictureArrow is a stream, in the order of Page.FIFOs, by the indices of its nodes.
type PictureArrow struct {
	From   int          `json:"from"`
	To     int          `json:"to"`
	Label  string       `json:"label"`
	Points [][2]float64 `json:"points"` // empty for an arrow to the same box
}

// An AccumulatorWidths holds an accumulator's width in bits by each of four rules, and the width and type that are
// used. ZeroCentred is 0 if that rule does not apply.
type AccumulatorWidths struct {
	DataType    int    `json:"data_type_bound_bits"`
	L1          int    `json:"l1_bound_bits"`
	ZeroCentred int    `json:"zero_centred_bound_bits,omitempty"`
	Exact       int    `json:"exact_bits"`
	Used        int    `json:"used_bits"`
	Type        string `json:"type"`
}

// A SumsRow compares the sums that the given samples produced in a layer with all sums that can occur, in the model's
// own integers.
type SumsRow struct {
	Layer    string `json:"layer"`
	Min      int64  `json:"min"`
	Max      int64  `json:"max"`
	Bits     int    `json:"bits"`
	SeenMin  int64  `json:"seen_min"`
	SeenMax  int64  `json:"seen_max"`
	SeenBits int    `json:"seen_bits"`
	Samples  int    `json:"samples"`
}

// Left returns where a number lies between Min and Max, in percent.
func (r SumsRow) Left(n int64) float64 {
	return 100 * float64(n-r.Min) / max(1, float64(r.Max)-float64(r.Min))
}

// Wide returns the share of the range that was seen, in percent, but no less than can be seen.
func (r SumsRow) Wide() float64 { return max(0.4, r.Left(r.SeenMax)-r.Left(r.SeenMin)) }

// A FIFORow is a row of the table of FIFOs: one FIFO with its size, its memory, and how full it became.
type FIFORow struct {
	Stream string `json:"stream"`
	From   string `json:"from"`
	To     string `json:"to"`
	Memory string `json:"memory"`
	Reason string `json:"reason,omitempty"`
	Width  int    `json:"word_bits"`
	Depth  int    `json:"depth"`
	Most   int    `json:"most_words"`
	// clocks that its reader and its writer waited
	Empty int `json:"reader_waited"`
	Full  int `json:"writer_waited"`
}

// A ClockBar is a row of the picture of clocks per frame.
type ClockBar struct {
	Name   string  `json:"name"`
	Clocks float64 `json:"clocks"`
	Text   string  `json:"text"`
}

// A Timeline says what every layer did in the first frames. Its columns have Bin clocks each.
type Timeline struct {
	Clocks int           `json:"clocks"`
	Frames int           `json:"frames"`
	Bin    int           `json:"clocks_in_a_column"`
	Rows   []TimelineRow `json:"rows"`
}

// A TimelineRow is the row of a layer: stretches of columns that are alike.
type TimelineRow struct {
	Name string `json:"name"`
	// per stretch: its columns; clocks of a column in which the layer was busy, starved and blocked; and the frame
	Runs [][5]int `json:"runs"`
}

// A WhatIf holds the folds that layers could have instead, with the figures by which a build chooses.
type WhatIf struct {
	Resources []string `json:"resources"` // names of the six kinds, in the order of all amounts
	Budget    []int    `json:"budget"`
	Device    []int    `json:"device"` // all that there is
	// the largest mean share of block RAM, UltraRAM and DSP slices, in millionths
	Mean       int      `json:"mean_budget"`
	Host       []int    `json:"host"`  // what the host's port takes, whatever the folds
	FIFOs      []int    `json:"fifos"` // what FIFOs take as built
	Interval   float64  `json:"interval"`
	HostClocks int      `json:"host_clocks"` // per frame at the host's port, as built
	Memories   []string `json:"ram_styles"`
	Computes   []string `json:"res_types"`
	Steps      []string `json:"steps"`
	Partial    bool     `json:"partial,omitempty"` // there are more folds, which the search has not priced
	// per form of words: elements of a word, and channels of a tile or 0
	Forms   [][2]int       `json:"forms"`
	Layers  []WhatIfLayer  `json:"layers"`
	Streams []WhatIfStream `json:"streams"`
	// class, form in, form out, clocks, and six amounts
	Converters [][10]int `json:"converters"`
}

// A WhatIfLayer is a layer of the model, without width converters.
type WhatIfLayer struct {
	Name   string `json:"name"`
	Chosen int    `json:"chosen"` // index of Folds
	In     []int  `json:"in"`     // indices of WhatIf.Streams
	Out    []int  `json:"out"`
	// PE, SIMD, indices of ram_styles, res_types and steps, clocks, six amounts, and a form for each input and output
	Folds [][]int `json:"folds"`
}

// A WhatIfStream is a stream of the model. Class says which converters it may have.
type WhatIfStream struct {
	Class int `json:"class"`
	From  int `json:"from"` // a layer; -1 for the host
	To    int `json:"to"`
	// at the host: pairs of a layer's form and the host's, where they differ
	Host [][2]int `json:"host,omitempty"`
}

// verify returns an error if an index of w is of nothing.
func (w *WhatIf) verify() error {
	sizes := []int{len(w.Resources), len(w.Budget), len(w.Device), len(w.Host), len(w.FIFOs)}
	if slices.Min(sizes) != 6 || slices.Max(sizes) != 6 {
		return errors.New("what if: there are six kinds of resources")
	}
	in := func(i, n int) bool { return 0 <= i && i < n }
	for _, l := range w.Layers {
		ok := in(l.Chosen, len(l.Folds))
		for _, s := range slices.Concat(l.In, l.Out) {
			ok = ok && in(s, len(w.Streams))
		}
		for _, f := range l.Folds {
			ok = ok && len(f) == 12+len(l.In)+len(l.Out) && in(f[2], len(w.Memories)) && in(f[3], len(w.Computes)) &&
				in(f[4], len(w.Steps)) && !slices.ContainsFunc(f[12:], func(i int) bool { return !in(i, len(w.Forms)) })
		}
		if !ok {
			return fmt.Errorf("what if: %q has an impossible fold", l.Name)
		}
	}
	for _, s := range w.Streams {
		if !in(s.From+1, len(w.Layers)+1) || !in(s.To+1, len(w.Layers)+1) {
			return errors.New("what if: a stream leads nowhere")
		}
	}
	return nil
}

// ErrNoPage says that data are not those of a page.
var ErrNoPage = errors.New("these are no data of a page")

// ParsePage reads the content of report/page.json, of the given version. Other content is an error that wraps
// ErrNoPage.
func ParsePage(text []byte, version int) (*Page, error) {
	p := new(Page)
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoPage, err)
	}
	if p.Version != version {
		return nil, fmt.Errorf("%w: they have version %d, not %d", ErrNoPage, p.Version, version)
	}
	if err := p.verify(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoPage, err)
	}
	return p, nil
}

// verify returns an error if a page cannot be drawn.
func (p *Page) verify() error {
	if p.Model == "" || p.Board == "" {
		return errors.New("model or board has no name")
	}
	for _, l := range p.Layers {
		for _, f := range slices.Concat(l.Into, l.From) {
			if f < 0 || f >= len(p.FIFOs) {
				return fmt.Errorf("%q has a FIFO that is not there", l.Name)
			}
		}
	}
	if n := p.Network; n != nil {
		if len(n.Arrows) != len(p.FIFOs) || len(n.Nodes) < len(p.Layers) {
			return errors.New("the network has other parts than the design")
		}
		for _, a := range n.Arrows {
			if min(a.From, a.To) < 0 || max(a.From, a.To) >= len(n.Nodes) {
				return errors.New("the network has an impossible arrow")
			}
		}
	}
	if p.WhatIf != nil {
		if err := p.WhatIf.verify(); err != nil {
			return err
		}
	}
	if t := p.Timeline; t != nil {
		const mostColumns = 1 << 14
		if t.Bin < 1 || t.Clocks < 1 || t.Clocks/t.Bin > mostColumns || t.Frames < 1 {
			return errors.New("the timeline has impossible columns")
		}
		for _, row := range t.Rows {
			columns := 0
			for _, run := range row.Runs {
				if run[0] < 1 || run[0] > mostColumns || min(run[1], run[2], run[3], run[4]) < 0 ||
					max(run[1], run[2], run[3]) > t.Bin {
					return fmt.Errorf("the timeline of %q has an impossible stretch", row.Name)
				}
				columns += run[0]
			}
			if (columns-1)*t.Bin >= t.Clocks {
				return fmt.Errorf("the timeline of %q is too long", row.Name)
			}
		}
	}
	return nil
}
