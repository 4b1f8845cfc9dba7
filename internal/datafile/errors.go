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

// AddModelFaultDiag adds err to d as a fault of the model or its data, such as a division by zero, and returns nil. It
// returns err unchanged if err is nil, the error of a context, an InternalError, a MismatchError or a Deadlock.
func AddModelFaultDiag(err error, model string, d *diag.List) error {
	var internal *crash.InternalError
	var mismatch *engines.MismatchError
	var deadlock *rtlsim.Deadlock
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &internal) || errors.As(err, &mismatch) || errors.As(err, &deadlock) {
		return err
	}
	hint := "the model has no exact value for this sample"
	if off := new(frontend.InputValueOffGridError); errors.As(err, &off) {
		hint = "inputs are integers here: give their scale with --input-type TYPE:SCALE, or data that were rounded " +
			"to it"
	}
	if errors.Is(err, execution.ErrRoundingTooCostly) {
		hint = "use --engine float, which computes in float64: without --engine it is what runs such a model"
	}
	d.AddError(diag.InputDataInvalid, model, err.Error(), hint)
	return nil
}

// ErrAlreadyReported is the error of functions that have already added the reason to the diagnostics.
var ErrAlreadyReported = errors.New("the diagnostics say why")

// AddSampleOrModelDiag adds an UnusableSamplesError or a ModelFaultError to d and returns nil. It also returns nil for
// ErrAlreadyReported and for nil; it returns all other errors and context.Canceled. Of a ModelFaultError it passes the
// wrapped error to AddModelFaultDiag, and returns its result.
func AddSampleOrModelDiag(err error, f *ArrayFile, model string, d *diag.List) error {
	var bad UnusableSamplesError
	var fault ModelFaultError
	switch {
	case err == nil, errors.Is(err, ErrAlreadyReported):
		return nil
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &bad):
		f.told(bad.Err, d)
		return nil
	case errors.As(err, &fault):
		return AddModelFaultDiag(fault.Err, model, d)
	}
	return err
}

// An UnusableSamplesError says that samples cannot be read or do not fit the model.
type UnusableSamplesError struct{ Err error }

// Error returns the message of the wrapped error.
func (e UnusableSamplesError) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e UnusableSamplesError) Unwrap() error { return e.Err }

// A ModelFaultError says that the model has no value for a sample.
type ModelFaultError struct{ Err error }

// Error returns the message of the wrapped error.
func (e ModelFaultError) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e ModelFaultError) Unwrap() error { return e.Err }

// AddUnfitDataDiag adds an error to d that says why the data in the file do not fit the model.
func AddUnfitDataDiag(file string, err error, d *diag.List) {
	hint := "give data of the model's shape, or N samples of it: (N, *shape), or (N, *shape without its leading 1)"
	if u := new(samples.UnfitDataError); errors.As(err, &u) && u.Hint != "" {
		hint = u.Hint
	}
	d.AddError(diag.InputDataInvalid, filepath.Base(file), err.Error(), hint)
}

// AddUnreadableFileDiag adds err to d as an error about a file, with the given hint. The diagnostic's code tells
// whether the file cannot be read or holds invalid data.
func AddUnreadableFileDiag(path string, err error, hint string, d *diag.List) {
	code := diag.InputDataInvalid
	if safefile.IsReadFailure(err) {
		code = diag.FileUnreadable
	}
	d.AddError(code, filepath.Base(path), err.Error(), hint)
}
