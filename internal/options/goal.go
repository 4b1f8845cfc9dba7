package options

import (
	"hlsgen/folding"
	"hlsgen/internal/diag"
	"hlsgen/internal/safefile"
)

// ForSearch converts the options to the goal of the folding search. fixed is the folding file; it may be nil.
func (o Goal) ForSearch(fixed *folding.File) folding.Goal {
	return folding.Goal{FPS: o.FPS, Interval: o.Interval, Latency: o.Latency, Least: o.Least, SearchTime: o.SearchTime,
		MaxUse: o.MaxUse, OverBudget: o.OverBudget, Fixed: fixed, FIFO: o.FIFO, Interrupt: o.Interrupt,
		Tell: o.SearchProgress}
}

// ReadFolding reads the folding file. It returns nil if there is none, or after adding an error to d.
func (o Goal) ReadFolding(d *diag.List) *folding.File {
	if o.Folding == "" {
		return o.depths(o.FoldingFile)
	}
	b, err := safefile.ReadFile(o.Folding, safefile.MaxSettings)
	if err != nil {
		d.Fail(diag.FileUnreadable, "", err.Error(), "give the path of a folding file (JSON)")
		return nil
	}
	return o.depths(folding.ReadFile(b, d))
}

// depths returns f, without its FIFOs if the user asked for FIFOs by a flag.
func (o Goal) depths(f *folding.File) *folding.File {
	if f == nil || !o.FIFOAsked {
		return f
	}
	return f.WithoutFIFOs()
}
