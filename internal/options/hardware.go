package options

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"hlsgen/boards"
	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/safefile"
)

// MakeTarget returns the target of a build for the board: the board, the clock nearest to the asked or default one, the
// cost formula and the calibrated delays. If it cannot read the calibration, it adds an error to d, and the target has
// none.
func (o Hardware) MakeTarget(b boards.Board, d *diag.List) dataflow.Target {
	mhz, _ := b.NearestClock(cmp.Or(o.ClockMHz, b.ClockMHz))
	t := dataflow.Target{Board: b, ClockMHz: mhz, Formula: o.Formula, IO: o.IO,
		Unroll: o.MaxUnroll, Calibration: o.LoadDelayCalibration(d), AccPerPE: o.AccPerPE}
	o.Backend.ForBoard(b).SetIn(&t)
	t.Counters = o.Counters && t.Backend.Device.Counters
	t.Loader = o.Weights.hasMover() && t.Backend.Device.Loads
	return t
}

// FindBoardOrAddDiag finds a board by its name, or by the path of a board file. ok is false after it adds an error to
// d. It adds a note if the board's resources were not compared with a data sheet.
func FindBoardOrAddDiag(nameOrPath string, d *diag.List) (b boards.Board, ok bool) {
	b, err := boards.FindBoard(nameOrPath)
	unknown, ambiguous := new(boards.UnknownNameError), new(boards.AmbiguousNameError)
	switch {
	case errors.As(err, &ambiguous):
		d.AddError(diag.BoardUnknown, "", "the board "+err.Error(), "--board "+ambiguous.Boards[0].Name+
			", or another of these")
	case errors.As(err, &unknown):
		d.AddError(diag.BoardUnknown, "", err.Error(), "`hlsgen boards` lists the boards; "+
			"a board of your own is a JSON file: --board ./mine.json")
	case err != nil:
		d.AddError(diag.BoardInvalid, "", err.Error(), "docs/boards.md shows the form of a board file")
	case b.Unverified:
		d.Add(diag.Diag{Severity: diag.SeverityNote, Code: diag.BoardResourcesUnverified,
			Msg: fmt.Sprintf("the resources of %s (%s) were not compared with a data sheet", b.Name, b.Part),
			Hint: "compare `hlsgen boards` with the data sheet; where it differs, " +
				"give a board file of your own: --board ./mine.json"})
	}
	return b, err == nil
}

// maxCalibration is the largest size of a file of latencies, in bytes.
const maxCalibration = 4 << 20

// LoadDelayCalibration reads the file that --latencies names. It returns nil without the flag, or after adding an
// error to d.
func (o Hardware) LoadDelayCalibration(d *diag.List) *delay.DelayCalibration {
	if o.Latencies == "" {
		return nil
	}
	c := &delay.DelayCalibration{}
	b, err := safefile.ReadRegularFile(o.Latencies, maxCalibration)
	if err == nil {
		in := json.NewDecoder(bytes.NewReader(b))
		in.DisallowUnknownFields()
		if err = in.Decode(c); err == nil && in.More() {
			err = errors.New("there is more behind it")
		}
	}
	if err == nil {
		err = c.Verify()
	}
	if err != nil {
		d.AddError(diag.FileUnreadable, filepath.Base(o.Latencies), safefile.SimplifyJSONError(err).Error(),
			"give a file that hlsgen latencies has written")
		return nil
	}
	return c
}

// BoardArgumentInFolder returns the argument of --board for a command that runs in the folder of the board file. A name
// stays; of a path, only the file's own name remains, after "./".
func BoardArgumentInFolder(nameOrPath string) string {
	if boards.IsBoardFilePath(nameOrPath) {
		return "./" + filepath.Base(nameOrPath)
	}
	return nameOrPath
}
