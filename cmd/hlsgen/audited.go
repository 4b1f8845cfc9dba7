package main

import (
	"fmt"
	"strings"

	"hlsgen/frontend"
	"hlsgen/internal/audit"
	"hlsgen/internal/engines"
	"hlsgen/internal/simulate"
)

// audited shows the accumulators' ranges, and histograms of the sums that samples gave.
func audited(s *screen, list []*audit.LayerAccumulatorReport) {
	if len(list) == 0 {
		return
	}
	s.line("")
	showAudit(s, list)
	for _, r := range list {
		if r.Seen != nil {
			s.line("")
			histogram(s, r)
		}
	}
}

// showAudit prints two rows for every layer: its accumulators as the model declares them, and as they are built.
func showAudit(s *screen, list []*audit.LayerAccumulatorReport) {
	t := newTable("layer", "integers", ">K", ">l1", ">data types", ">l1 rule", ">zero sum", ">exact", ">asked",
		">slack", ">over")
	t.keys = 2
	for _, r := range list {
		over := fmt.Sprintf("%d of %d", len(r.Over), len(r.Built.Channels))
		if r.Asked == 0 {
			over = "-"
		}
		norm := int64(0)
		if d := r.Declared; d != nil {
			for _, c := range d.Channels {
				norm = max(norm, c.L1)
			}
			t.row(r.Layer, "declared", fmt.Sprint(d.Products), fmt.Sprint(norm), fmt.Sprint(d.DataType),
				fmt.Sprint(d.L1), bitsOr(d.ZeroCentred), fmt.Sprint(d.Exact), bitsOr(r.Asked), slack(d.Slack), over)
			over = ""
		}
		t.row(r.Layer, "built", "", "", "", "", "", fmt.Sprint(r.Built.Exact), bitsOr(r.Asked),
			slack(r.Built.Slack), over)
	}
	s.table(t)
	s.line("bits of accumulators; l1: the largest norm of a channel's weights; zero sum: of the channels that sum to zero;")
	s.line("slack: asked bits that are not needed; over: channels that need more")
	for _, r := range list {
		if r.Declared == nil {
			s.line("%s: the model declares no integers for it: %s", label(r.Layer), label(r.Why))
		}
	}
}

// bitsOr returns a number of bits as text, or a dash if it is 0.
func bitsOr(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// slack returns the asked width minus the needed width as text, or a dash if n is nil.
func slack(n *int) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

// histogram shows the sums of a layer by the bits they need, beside the bounds on these bits. The report must have Seen
// and Declared.
func histogram(s *screen, r *audit.LayerAccumulatorReport) {
	widest := 40
	if s.width > 0 {
		widest = max(8, min(widest, s.width-widest))
	}
	h := r.Seen
	s.line("%s: %s of %s, %d to %d: %d bits; exact bound %d, by l1 %d, by data types %d", label(r.Layer),
		count(h.Sums, "sum"), count(h.Samples, "sample"), h.Min, h.Max, h.Bits, r.Declared.Exact, r.Declared.L1,
		r.Declared.DataType)
	most := 0
	for _, b := range h.Histogram {
		most = max(most, b.Sums)
	}
	t := newTable(">bits", ">values", ">sums", "")
	for _, b := range h.Histogram {
		bar := strings.Repeat("#", (b.Sums*widest+most-1)/most)
		t.row(fmt.Sprint(b.Bits), b.String(), whole(b.Sums), bar)
	}
	s.table(t)
}

// maxOrders is the most random orders of addition that --acc-order runs.
const maxOrders = 1000

// overflowing returns an error if --acc-overflow excludes another flag that is given. engine says whether --engine is.
func overflowing(o simulate.Options, engine bool) error {
	switch {
	case o.Overflow == "" && o.AccBits.IsAsked():
		return usagef("--acc-bits of a simulation is for --acc-overflow wrap or saturate; " +
			"hlsgen check --acc-bits audits")
	case o.Overflow == "" && o.RandomOrders > 0 || o.Overflow == frontend.OverflowModeWrap && o.RandomOrders > 0:
		return usagef("--acc-order is for --acc-overflow saturate: other sums do not depend on the order")
	case o.Overflow == "":
		return nil
	case !o.AccBits.IsAsked():
		return usagef("--acc-overflow needs the bits of accumulators: --acc-bits 12, or hidden=10")
	case engine && o.Engine != engines.EngineReference:
		return usagef("--acc-overflow changes the model as written, and no hardware does what it does: " +
			"engine reference runs it, leave --engine out")
	case o.Compare != "" || o.Trace != "" || o.Codes != "":
		return usagef("--acc-overflow gives another model's outputs: --compare, --trace and --codes are not for it")
	}
	return nil
}

// overflowed shows how narrower accumulators changed the outputs of the samples.
func overflowed(s *screen, o simulate.Options, r *simulate.Result) {
	x := r.Overflow
	if x == nil {
		return
	}
	what := map[frontend.OverflowMode]string{frontend.OverflowModeWrap: "wrap",
		frontend.OverflowModeSaturate: "saturate"}[x.Overflow]
	s.field("overflow", "accumulators %s at --acc-bits %s: this is another model, and no hardware does it", what,
		label(o.AccBits.String()))
	for _, l := range x.Layers {
		s.field("", "%s: %s of %s overflow at %d bits; %d hold all", label(l.Layer), whole(l.Overflows),
			count(l.Sums, "sum"), l.Bits, l.Exact)
	}
	s.field("changed", "the outputs of %d of %s", x.Changed, count(r.Samples, "sample"))
	if x.Accuracy != nil {
		s.field("accuracy", "%v with them", x.Accuracy)
	}
	if len(x.Orders) > 0 {
		s.field("orders", "of %s: %s", count(len(x.Orders), "random order"), x.DescribeOrderSpread())
	}
}
