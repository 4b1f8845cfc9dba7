// Package backend has the table of back ends: the ways to make hardware of a design. A back end is a folder beside
// this file, and its row.
package backend

import (
	"hlsgen/boards"
	"hlsgen/internal/backend/hls"
	"hlsgen/internal/backend/rtl"
	"hlsgen/templates"
)

// All lists the back ends. Where several make the hardware of one design, the last of them decides its latencies and
// FIFOs.
var All = []*templates.Backend{
	hls.Backend(),
	rtl.Backend(),
}

// Named returns the back end with a name, or nil.
func Named(name string) *templates.Backend {
	for _, b := range All {
		if b.Name == name {
			return b
		}
	}
	return nil
}

// ForBoard returns the default back end of a board: the first that fits.
func ForBoard(board boards.Board) *templates.Backend {
	for _, b := range All {
		if b.Fits(board) == "" {
			return b
		}
	}
	panic("backend: no back end fits " + board.Name) // SystemVerilog fits every board
}
