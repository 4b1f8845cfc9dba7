package options

import (
	"slices"

	"hlsgen/boards"
	"hlsgen/internal/backend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/templates"
)

// A Backend is a value of --backend: the name of a row in the table of back ends, or BackendBoth. The zero value
// selects by the board; see ForBoard.
type Backend string

// Back ends that the program itself names: C++ for Vitis HLS, SystemVerilog (RTL), and both of them for one design.
const (
	BackendHLS  Backend = "hls"
	BackendRTL  Backend = "rtl"
	BackendBoth Backend = "both"
)

// BackendNames lists the values of --backend.
var BackendNames = backendNames()

func backendNames() (names []string) {
	for _, row := range backend.All {
		names = append(names, row.Name)
	}
	return append(names, string(BackendBoth))
}

// BackendNamed returns the option that selects the back end with a name. It is the zero value for the first one.
func BackendNamed(name string) Backend {
	if name == backend.All[0].Name {
		return ""
	}
	return Backend(name)
}

// ForBoard returns b, or the default for the board if b is empty. The default is HLS on AMD's devices, and RTL on all
// others, which Vitis HLS does not support.
func (b Backend) ForBoard(board boards.Board) Backend {
	if b != "" {
		return b
	}
	return Backend(backend.ForBoard(board).Name)
}

// CheckForBoard returns b.ForBoard(board). It adds an error to d if a back end makes nothing for the board.
func (b Backend) CheckForBoard(board boards.Board, d *diag.List) Backend {
	b = b.ForBoard(board)
	for _, row := range b.Rows() {
		if why := row.Fits(board); why != "" {
			d.AddError(diag.BackendUnfitForBoard, "", why, "use --backend "+backend.ForBoard(board).Name+
				", or leave it out")
		}
	}
	return b
}

// Rows returns the back ends that make files, in the order of the table. For the zero value it returns the first one.
func (b Backend) Rows() []*templates.Backend {
	switch b {
	case "":
		return backend.All[:1]
	case BackendBoth:
		return []*templates.Backend{backend.Named(string(BackendHLS)), backend.Named(string(BackendRTL))}
	}
	return []*templates.Backend{backend.Named(string(b))}
}

// Decides returns the back end that decides the latencies and FIFOs of a design: the last of the rows.
func (b Backend) Decides() *templates.Backend {
	rows := b.Rows()
	return rows[len(rows)-1]
}

// Some reports whether one of the rows has a property.
func (b Backend) Some(has func(*templates.Backend) bool) bool {
	return slices.ContainsFunc(b.Rows(), has)
}

// IncludesHLS reports whether a project for Vitis HLS is generated. It returns true for the zero value.
func (b Backend) IncludesHLS() bool {
	return b.Some(func(row *templates.Backend) bool { return row.VitisHLS })
}

// limits returns the limits of a process. One for a back end that counts added bits must also be within the default
// limits if it is built by others, too, which count products.
func (b Backend) limits(asked dataflow.UnrollLimits) dataflow.UnrollLimits {
	if b.Decides().Device.MaxAddedBits > 0 &&
		b.Some(func(row *templates.Backend) bool { return row.Device.MaxAddedBits == 0 }) {
		return asked.OrDefault()
	}
	return asked
}

// SetIn sets the back end of a target, and limits of processes that suit all back ends.
func (b Backend) SetIn(t *dataflow.Target) {
	t.Backend, t.Unroll = b.Decides().Backend, b.limits(t.Unroll)
}
