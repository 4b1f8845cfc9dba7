package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/suggest"
)

// An AccumulatorLayer describes the accumulators of one layer, and the width in bits that the user asks of them.
type AccumulatorLayer struct {
	Node *dataflow.Node
	of   dataflow.LayerDescription
	Sums *frontend.LayerDotProducts // nil if no product of the model corresponds to this layer alone
	Bits int                        // the asked width; 0: none
}

// matrix reports whether the layer only adds up products with weights. It returns false for recurrences, which compute
// more than that.
func (l *AccumulatorLayer) matrix() bool { return l.of.ChannelSums != nil }

// labels returns the names by which a user may refer to the layer: its own name and those of its ONNX nodes.
func (l *AccumulatorLayer) labels() []string { return append([]string{l.Node.Name}, l.Node.Origin...) }

// ListAccumulatorLayers returns the layers of g that have accumulators, in order, with the width asked of each layer.
// It adds an error to d for each asked layer that does not exist, and if hidden layers are asked for but missing. Then
// ok is false, but the list is complete. sums may be nil.
func ListAccumulatorLayers(a options.AskedAccBits, g *dataflow.Graph, sums []*frontend.LayerDotProducts,
	d *diag.List) (list []*AccumulatorLayer,
	ok bool) {
	var matrices []*AccumulatorLayer
	var known []string
	for _, n := range g.Nodes {
		of := n.Op.Describe()
		if of.Accumulators == nil {
			continue
		}
		l := &AccumulatorLayer{Node: n, of: of, Bits: a.All}
		if i := slices.IndexFunc(sums, func(s *frontend.LayerDotProducts) bool { return s.Layer == n.Name }); i >= 0 {
			l.Sums = sums[i]
		}
		list, known = append(list, l), append(known, n.Name)
		if l.matrix() {
			matrices = append(matrices, l)
		}
	}
	ok = true
	none := func(name, hint string) {
		ok = false
		d.AddError(diag.AccBitsFlagUnfit, name, "--acc-bits asks for the bits of a layer that the model does not have",
			hint)
	}
	switch {
	case a.Hidden > 0 && len(matrices) <= 2:
		none(options.HiddenLayersWord,
			fmt.Sprintf("of %d matrix layers none is hidden: ask for the bits of all, or by layer",
				len(matrices)))
	case a.Hidden > 0:
		for _, l := range matrices[1 : len(matrices)-1] {
			l.Bits = a.Hidden
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Layers)) {
		at := slices.IndexFunc(list, func(l *AccumulatorLayer) bool { return slices.Contains(l.labels(), name) })
		if at < 0 {
			none(name, "accumulators are in "+strings.Join(known, ", ")+suggest.DidYouMeanSuffix(name, append(known,
				options.HiddenLayersWord)))
			continue
		}
		list[at].Bits = a.Layers[name]
	}
	return list, ok
}

// A LayerAccumulatorReport describes the accumulators of one layer. Declared counts with the integers that the model
// declares, over all values that its quantisers can give. Built describes the hardware, after common divisors are taken
// out, signs moved and ranges narrowed.
type LayerAccumulatorReport struct {
	Layer    string                 `json:"layer"`
	Node     string                 `json:"node,omitempty"`
	Asked    int                    `json:"asked_bits,omitempty"`
	Declared *DeclaredAccumulators  `json:"declared,omitempty"`
	Why      string                 `json:"not_declared,omitempty"` // why the model declares no integers for it
	Built    LayerBuiltAccumulators `json:"built"`
	// channels that need more than Asked bits: as declared, else as built
	Over []int                     `json:"channels_over"`
	Seen *AccumulatorSumsOnSamples `json:"samples,omitempty"`
}

// DeclaredAccumulators describes a layer's accumulators in the model's own integers, as signed numbers.
type DeclaredAccumulators struct {
	Products   int  `json:"products"` // per sum
	InBits     int  `json:"input_bits"`
	InSigned   bool `json:"input_signed"`
	WeightBits int  `json:"weight_bits"`
	DataType   int  `json:"data_type_bound_bits"`
	L1         int  `json:"l1_bound_bits"`
	// largest bound of the channels whose weights sum to zero
	ZeroCentred int                          `json:"zero_centred_bound_bits,omitempty"`
	ZeroSums    int                          `json:"channels_that_sum_to_zero"`
	Exact       int                          `json:"exact_bits"`
	L1Cap       int64                        `json:"l1_cap,omitempty"` // the largest l1 norm with a bound of Asked bits
	Slack       *int                         `json:"slack_bits,omitempty"`
	Channels    []ChannelSumsInModelIntegers `json:"channels"`
}

// A ChannelSumsInModelIntegers describes the sums of one output channel in the model's own integers.
type ChannelSumsInModelIntegers struct {
	L1          int64 `json:"l1"`
	Sum         int64 `json:"sum"`
	Min         int64 `json:"min"`
	Max         int64 `json:"max"`
	Exact       int   `json:"exact_bits"`
	L1Bits      int   `json:"l1_bound_bits"`
	ZeroCentred int   `json:"zero_centred_bound_bits,omitempty"` // only if the weights sum to zero
	Slack       *int  `json:"slack_bits,omitempty"`              // asked bits minus exact bits
}

// LayerBuiltAccumulators describes a layer's accumulators in the hardware. They are unsigned if no sum is negative.
type LayerBuiltAccumulators struct {
	Exact    int                `json:"exact_bits"`
	Type     string             `json:"type"` // holds the sums of all channels
	Slack    *int               `json:"slack_bits,omitempty"`
	Channels []BuiltChannelSums `json:"channels"`
}

// A BuiltChannelSums describes the sums of one output channel in the hardware.
type BuiltChannelSums struct {
	Weights *ChannelWeightSums `json:"weights,omitempty"` // only for layers with weights
	Exact   int                `json:"exact_bits"`
	Slack   *int               `json:"slack_bits,omitempty"`
}

// ChannelWeightSums holds the l1 norm and the total of a channel's weights, and the smallest and the largest sum that
// can occur.
type ChannelWeightSums struct {
	L1  int64 `json:"l1"`
	Sum int64 `json:"sum"`
	Min int64 `json:"min"`
	Max int64 `json:"max"`
}

// NewReport returns the report on the layer's accumulators, without the sums that samples produce.
func (l *AccumulatorLayer) NewReport() *LayerAccumulatorReport {
	r := &LayerAccumulatorReport{Layer: l.Node.Name, Asked: l.Bits, Over: []int{}, Built: l.built()}
	switch s := l.Sums; {
	case s == nil:
		r.Why = "no product of the model is computed by it alone"
	case s.Why != "":
		r.Node, r.Why = s.Node, s.Why
	default:
		r.Node, r.Declared = s.Node, l.declared()
	}
	if l.Bits == 0 {
		return r
	}
	if d := r.Declared; d != nil {
		for c, x := range d.Channels {
			if x.Exact > l.Bits {
				r.Over = append(r.Over, c)
			}
		}
		return r
	}
	for c, x := range r.Built.Channels {
		if x.Exact > l.Bits {
			r.Over = append(r.Over, c)
		}
	}
	return r
}

// slack returns the asked width minus the given needed bits, or nil if no width is asked. A negative value means that
// the asked width is too small.
func (l *AccumulatorLayer) slack(bits int) *int {
	if l.Bits == 0 {
		return nil
	}
	n := l.Bits - bits
	return &n
}

// built returns the widths of the layer's accumulators in the hardware.
func (l *AccumulatorLayer) built() LayerBuiltAccumulators {
	b := l.of.Accumulators()
	r := LayerBuiltAccumulators{Exact: b.Exact, Type: b.Type.String(), Slack: l.slack(b.Exact)}
	var sums []dataflow.ChannelSumBounds
	if l.matrix() {
		sums = l.of.ChannelSums()
	}
	for c, bits := range b.Channels {
		x := BuiltChannelSums{Exact: bits, Slack: l.slack(bits)}
		if sums != nil {
			s := sums[c]
			x.Weights = &ChannelWeightSums{s.L1, s.Total, s.Range.Lo, s.Range.Hi}
		}
		r.Channels = append(r.Channels, x)
	}
	return r
}

// declared returns the widths of the layer's accumulators in the model's own integers. Sums must not be nil.
func (l *AccumulatorLayer) declared() *DeclaredAccumulators {
	s := l.Sums
	r := &DeclaredAccumulators{Products: len(s.Weights[0]), InBits: s.InBits, InSigned: s.InSigned, WeightBits: s.Bits,
		DataType: s.AccumulatorBitsByDataType()}
	for c := range s.Weights {
		b := s.AccumulatorBitsOfChannel(c)
		r.Channels = append(r.Channels, ChannelSumsInModelIntegers{b.L1, b.Total, b.Range.Lo, b.Range.Hi, b.Exact,
			b.L1Bits,
			b.Centred, l.slack(b.Exact)})
		r.Exact, r.L1, r.ZeroCentred = max(r.Exact, b.Exact), max(r.L1, b.L1Bits), max(r.ZeroCentred, b.Centred)
		if b.Total == 0 {
			r.ZeroSums++
		}
	}
	if r.Slack = l.slack(r.Exact); l.Bits > 0 {
		r.L1Cap = s.MaxL1NormForBits(l.Bits)
	}
	return r
}

// audited adds an error to d if r.Over lists channels, those whose sums do not fit the asked width.
func (l *AccumulatorLayer) audited(r *LayerAccumulatorReport, d *diag.List) {
	if len(r.Over) == 0 {
		return
	}
	bits := map[int][]int{} // channels by the bits that they need
	for _, c := range r.Over {
		need := r.Built.Channels[c].Exact
		if r.Declared != nil {
			need = r.Declared.Channels[c].Exact
		}
		bits[need] = append(bits[need], c)
	}
	var notes []string
	for need := options.MaxAccBits; need > 0; need-- {
		if list := bits[need]; len(list) > 0 {
			notes = append(notes, fmt.Sprintf("%s %s", channels(list), needs(len(list), need)))
		}
	}
	if x := r.Declared; x != nil {
		norm := int64(0)
		for _, c := range x.Channels {
			norm = max(norm, c.L1)
		}
		notes = append(notes, fmt.Sprintf("the l1 norm of a channel is up to %d; A2Q caps it at %d for %d bits", norm,
			x.L1Cap, l.Bits))
		if r.Built.Exact <= l.Bits {
			notes = append(notes, fmt.Sprintf("as built they fit: %d bits, without common divisors", r.Built.Exact))
		}
	}
	d.Add(diag.Diag{Severity: diag.SeverityError, Code: diag.AskedAccBitsExceeded, Node: l.Node.Name,
		Msg: fmt.Sprintf("its accumulators do not fit %d bits: %d of %d channels need more", l.Bits, len(r.Over),
			len(r.Built.Channels)),
		Hint: "train with accumulator-aware quantisation (A2Q), or ask for more bits. Where it was trained so, the " +
			"export has lost the cap of the weights' l1 norm, as Brevitas 0.12.1 does: export with 0.12.0",
		Notes: notes})
}

// channels returns text for a sorted list of channel numbers: "channel 3", "channels 0 to 4, 7".
func channels(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1] == list[k]+1 {
			k++
		}
		switch {
		case k > i+1:
			parts = append(parts, fmt.Sprintf("%d to %d", list[i], list[k]))
		case k == i+1:
			parts = append(parts, fmt.Sprint(list[i]), fmt.Sprint(list[k]))
		default:
			parts = append(parts, fmt.Sprint(list[i]))
		}
		i = k + 1
	}
	word := "channels"
	if len(list) == 1 {
		word = "channel"
	}
	return word + " " + strings.Join(parts, ", ")
}

// needs returns the end of a message about one or several channels: "needs 9 bits" or "need 9 bits".
func needs(channels, bits int) string {
	if channels == 1 {
		return fmt.Sprintf("needs %d bits", bits)
	}
	return fmt.Sprintf("need %d bits", bits)
}

// CheckBuiltAccumulators reports whether all accumulators of the hardware fit the asked widths, and all asked layers
// exist. It adds an error to d for each layer whose accumulators do not, and for each asked layer that does not exist.
// It returns true if no width is asked.
func CheckBuiltAccumulators(g *dataflow.Graph, asked options.AskedAccBits, d *diag.List) bool {
	if !asked.IsAsked() {
		return true
	}
	list, ok := ListAccumulatorLayers(asked, g, nil, d)
	for _, l := range list {
		r := l.NewReport()
		l.audited(r, d)
		ok = ok && len(r.Over) == 0
	}
	return ok
}
