package datafile

import (
	"context"
	"errors"
	"path/filepath"

	"hlsgen/frontend"
	"hlsgen/frontend/execution"
	"hlsgen/internal/crash"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/safefile"
	"hlsgen/internal/samples"
	"hlsgen/rtlsim"
)

// AddModelFault adds an error to d for a failure that the model or its data cause at run time: a division by zero, an
// undecidable rounding, or data that are not numbers. It returns all other errors.
func AddModelFault(err error, model string, d *diag.List) error {
	var internal *crash.InternalError
	var mismatch *engines.MismatchError
	var deadlock *rtlsim.Deadlock
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &internal) || errors.As(err, &mismatch) || errors.As(err, &deadlock) {
		return err
	}
	hint := "the model has no exact value for this sample"
	if off := new(frontend.NotOnGridError); errors.As(err, &off) {
		hint = "inputs are integers here: give their scale with --input-type TYPE:SCALE, or data that were rounded " +
			"to it"
	}
	if errors.Is(err, execution.ErrRoundingTooCostly) {
		hint = "use --engine float, which computes in float64: without --engine it is what runs such a model"
	}
	d.Fail(diag.DataInvalid, model, err.Error(), hint)
	return nil
}

// ErrReported ends work after an error whose reason is already in the diagnostics.
var ErrReported = errors.New("the diagnostics say why")

// AddError converts an error of samples or of the model to diagnostics in d. It returns all other errors.
func AddError(err error, f *Arrays, model string, d *diag.List) error {
	var bad UnfitSamplesError
	var fault ModelFaultError
	switch {
	case err == nil, errors.Is(err, ErrReported):
		return nil
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &bad):
		f.told(bad.Err, d)
		return nil
	case errors.As(err, &fault):
		return AddModelFault(fault.Err, model, d)
	}
	return err
}

// An UnfitSamplesError error says that samples cannot be read or do not fit the model.
type UnfitSamplesError struct{ Err error }

func (e UnfitSamplesError) Error() string { return e.Err.Error() }
func (e UnfitSamplesError) Unwrap() error { return e.Err }

// A ModelFaultError error says that the model has no value for a sample.
type ModelFaultError struct{ Err error }

func (e ModelFaultError) Error() string { return e.Err.Error() }
func (e ModelFaultError) Unwrap() error { return e.Err }

// AddUnfit adds an error to d for data that do not fit the model.
func AddUnfit(file string, err error, d *diag.List) {
	hint := "give data of the model's shape, or N samples of it: (N, *shape), or (N, *shape without its leading 1)"
	if u := new(samples.UnfitError); errors.As(err, &u) && u.Hint != "" {
		hint = u.Hint
	}
	d.Fail(diag.DataInvalid, filepath.Base(file), err.Error(), hint)
}

// AddUnreadable adds an error to d. Its code tells whether the file is missing or holds invalid data.
func AddUnreadable(path string, err error, hint string, d *diag.List) {
	code := diag.DataInvalid
	if safefile.Unreadable(err) {
		code = diag.FileUnreadable
	}
	d.Fail(code, filepath.Base(path), err.Error(), hint)
}
