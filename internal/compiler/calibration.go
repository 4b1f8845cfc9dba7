package compiler

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"

	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/diag"
	"hlsgen/internal/safefile"
)

// maxCalibration is the largest size of a calibration file, in bytes.
const maxCalibration = 4 << 20

// LoadDelayCalibration reads the calibration file of --calibration. It returns nil without the flag, or after adding an
// error to d.
func (o Hardware) LoadDelayCalibration(d *diag.List) *delay.DelayCalibration {
	if o.Calibration == "" {
		return nil
	}
	c := &delay.DelayCalibration{}
	b, err := safefile.ReadFile(o.Calibration, maxCalibration)
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
		d.Fail(diag.FileUnreadable, filepath.Base(o.Calibration), safefile.JSONMessage(err).Error(),
			"give a file that hlsgen calibrate has written")
		return nil
	}
	return c
}
