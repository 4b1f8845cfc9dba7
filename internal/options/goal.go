package options

import (
	"hlsgen/folding"
	"hlsgen/internal/diag"
	"hlsgen/internal/safefile"
)

// ToSearchGoal converts the options to the goal of the folding search. fixed holds the contents of a folding file, and
// may be nil.
func (o Goal) ToSearchGoal(fixed *folding.FoldingFile) folding.Goal {
	return folding.Goal{FPS: o.FPS, Interval: o.Interval, Latency: o.Latency, MaxLatency: o.MaxLatency,
		Least: o.Least, SearchTime: o.SearchTime,
		MaxUse: o.MaxUse, OverBudget: o.OverBudget, Fixed: fixed, FIFO: o.FIFO, Interrupt: o.Interrupt,
		Tell: o.SearchProgress}
}

// ReadFoldingFile reads the folding file whose path the options give. Without a path it returns o.FoldingFile, which
// may be nil. If the user asked for FIFOs by a flag, those of the file are left out. It returns nil after adding an
// error to d.
func (o Goal) ReadFoldingFile(d *diag.List) *folding.FoldingFile {
	if o.Folding == "" {
		return o.depths(o.FoldingFile)
	}
	b, err := safefile.ReadRegularFile(o.Folding, safefile.MaxSettingsFileBytes)
	if err != nil {
		d.AddError(diag.FileUnreadable, "", err.Error(), "give the path of a folding file (JSON)")
		return nil
	}
	return o.depths(folding.ParseFoldingFile(b, d))
}

// depths returns f, or f without its FIFOs if the user asked for FIFOs by a flag. f may be nil.
func (o Goal) depths(f *folding.FoldingFile) *folding.FoldingFile {
	if f == nil || !o.FIFOAsked {
		return f
	}
	return f.WithoutFIFOs()
}
