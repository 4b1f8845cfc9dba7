package report

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A Page holds everything that the page of a build shows. It is the content of report/page.json, and the page is made
// of it alone. Texts need no escaping.
type Page struct {
	Version int    `json:"version"` // of hlsgen's JSON
	Model   string `json:"model"`
	Board   string `json:"board"`
	Part    string `json:"part"` // part and clock
	Tool    string `json:"tool"`
	// the device's name for a block RAM
	Block     string             `json:"block_ram"`
	Facts     Facts              `json:"facts"`              // the large figures at the top
	Warnings  []DiagnosticNotice `json:"warnings,omitempty"` // of the build
	Resources []ResourceUse      `json:"resources"`
	Parts     []ResourceAmounts  `json:"parts"` // resources by layers, FIFOs and host's port
	Layers    []LayerRow         `json:"layers"`
	// lines of the proof
	Certificate []string `json:"certificate"`
	Series      []string `json:"series"` // the clocks of many frames, and the reasons
	Bars        []Bar    `json:"bars"`   // clocks per frame
	// nil if a frame has too many words
	Timeline     *Timeline `json:"timeline,omitempty"`
	TimelineNote string    `json:"timeline_note"`
	FIFOs        []FIFORow `json:"fifos"`
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

// A FIFORow is a row of the table of FIFOs: one FIFO with its size, its memory, and how full it became.
type FIFORow struct {
	Stream string `json:"stream"`
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

// A Bar is a row of the picture of clocks per frame.
type Bar struct {
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

// ErrNoPage says that data are not those of a page.
var ErrNoPage = errors.New("these are no data of a page")

// ParsePage reads the content of report/page.json, of the given version. Other content is an error that wraps ErrNoPage.
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
