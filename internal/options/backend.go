package options

import (
	"fmt"

	"hlsgen/boards"
	"hlsgen/internal/diag"
)

// A Backend selects the generated languages. The zero value selects by the board's vendor; see ForBoard.
type Backend string

// The back ends. If RTL is generated, the latencies and FIFOs of a design are those of the RTL.
const (
	BackendHLS  Backend = "hls"
	BackendRTL  Backend = "rtl"
	BackendBoth Backend = "both"
)

// Backends lists the values of Backend.
var Backends = []string{string(BackendHLS), string(BackendRTL), string(BackendBoth)}

// ForBoard returns the back end for a board. The default is HLS on AMD's devices, because Vitis HLS
// knows no others, and else RTL.
func (b Backend) ForBoard(board boards.Board) Backend {
	switch {
	case b != "":
		return b
	case board.Family == boards.AMD:
		return BackendHLS
	}
	return BackendRTL
}

// CheckedForBoard returns b.On(board), and adds an error to d if the board cannot use that back end.
func (b Backend) CheckedForBoard(board boards.Board, d *diag.List) Backend {
	b = b.ForBoard(board)
	if b.IncludesHLS() && board.Family != boards.AMD {
		d.Fail(diag.BackendUnfit, "", fmt.Sprintf("%s has the device %s, and Vitis HLS makes nothing for "+
			"devices that are not AMD's", board.Name, board.Part), "use --backend rtl, or leave it out")
	}
	return b
}

// IncludesHLS reports whether C++ is generated.
func (b Backend) IncludesHLS() bool { return b != BackendRTL }

// IncludesRTL reports whether SystemVerilog is generated.
func (b Backend) IncludesRTL() bool { return b == BackendRTL || b == BackendBoth }
