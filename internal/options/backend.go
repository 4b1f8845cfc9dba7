package options

import (
	"fmt"

	"hlsgen/boards"
	"hlsgen/internal/diag"
)

// A Backend selects the languages of the generated hardware: C++ for Vitis HLS, SystemVerilog, or both. The zero value
// selects by the board's vendor; see ForBoard.
type Backend string

// The back ends: C++ for Vitis HLS, SystemVerilog (RTL), or both. If RTL is generated, it decides the latencies and
// FIFOs of a design.
const (
	BackendHLS  Backend = "hls"
	BackendRTL  Backend = "rtl"
	BackendBoth Backend = "both"
)

// BackendNames lists the values of --backend.
var BackendNames = []string{string(BackendHLS), string(BackendRTL), string(BackendBoth)}

// ForBoard returns b, or the default for the board if b is empty. The default is HLS on AMD's devices, and RTL on all
// others, which Vitis HLS does not support.
func (b Backend) ForBoard(board boards.Board) Backend {
	switch {
	case b != "":
		return b
	case board.Family == boards.FamilyAMD:
		return BackendHLS
	}
	return BackendRTL
}

// CheckForBoard returns b.ForBoard(board). It adds an error to d if Vitis HLS, which that back end needs, does not
// support the board.
func (b Backend) CheckForBoard(board boards.Board, d *diag.List) Backend {
	b = b.ForBoard(board)
	if b.IncludesHLS() && board.Family != boards.FamilyAMD {
		d.AddError(diag.BackendUnfitForBoard, "", fmt.Sprintf("%s has the device %s, and Vitis HLS makes nothing for "+
			"devices that are not AMD's", board.Name, board.Part), "use --backend rtl, or leave it out")
	}
	return b
}

// IncludesHLS reports whether the back end generates C++. It returns true for the zero value.
func (b Backend) IncludesHLS() bool { return b != BackendRTL }

// IncludesRTL reports whether the back end generates SystemVerilog. It returns false for the zero value.
func (b Backend) IncludesRTL() bool { return b == BackendRTL || b == BackendBoth }
