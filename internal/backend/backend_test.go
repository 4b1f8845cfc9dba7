package backend

import (
	"strings"
	"testing"

	"hlsgen/boards"
)

// TestTable checks that every row has what a build reads, and a name of its own.
func TestTable(t *testing.T) {
	t.Parallel()
	for _, b := range All {
		if Named(b.Name) != b || b.Name != strings.ToLower(b.Name) || b.Name == "both" {
			t.Errorf("%q is not the name of one back end", b.Name)
		}
		if b.Language == "" || b.Product == "" || b.Fits == nil || b.Files == nil || b.Readme == nil {
			t.Errorf("%s lacks a field: %+v", b.Name, b)
		}
		if (b.Verify == nil) != (b.Engine == "") {
			t.Errorf("%s verifies with engine %q", b.Name, b.Engine)
		}
	}
	if Named("vhdl") != nil {
		t.Error("there is a back end vhdl")
	}
}

// TestForBoard checks the default back end of every board.
func TestForBoard(t *testing.T) {
	t.Parallel()
	for _, board := range boards.AllBoards() {
		want := "rtl"
		if board.Family == boards.FamilyAMD {
			want = "hls"
		}
		if got := ForBoard(board).Name; got != want {
			t.Errorf("%s is built by %s, want %s", board.Name, got, want)
		}
	}
}
