package compiler

import (
	"context"
	"errors"
	"path/filepath"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/diag"
	"hlsgen/internal/safefile"
	"hlsgen/rtlsim"
)

// modelError adds an error to d for a failure that the model or its data cause at run time: a division by zero, an
// undecidable rounding, or data that are not numbers. It returns all other errors.
func modelError(err error, model string, d *diag.List) error {
	var internal *InternalError
	var mismatch *MismatchError
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
	if errors.Is(err, graph.ErrRoundingTooCostly) {
		hint = "use --engine float, which computes in float64: without --engine it is what runs such a model"
	}
	d.Fail(diag.DataInvalid, model, err.Error(), hint)
	return nil
}

// errTold ends work after an error whose reason is already in the diagnostics.
var errTold = errors.New("the diagnostics say why")

// toldOf converts an error of samples or of the model to diagnostics in d. It returns all other errors.
func toldOf(err error, f *dataFile, model string, d *diag.List) error {
	var bad unfit
	var fault faulty
	switch {
	case err == nil, errors.Is(err, errTold):
		return nil
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &bad):
		f.told(bad.error, d)
		return nil
	case errors.As(err, &fault):
		return modelError(fault.error, model, d)
	}
	return err
}

// An unfit error says that samples cannot be read or do not fit the model. A faulty error says that the model has no
// value for a sample.
type (
	unfit  struct{ error }
	faulty struct{ error }
)

func (e unfit) Unwrap() error { return e.error }

func (e faulty) Unwrap() error { return e.error }

// unfitting adds an error to d for data that do not fit the model.
func unfitting(file string, err error, d *diag.List) {
	hint := "give data of the model's shape, or N samples of it: (N, *shape), or (N, *shape without its leading 1)"
	if u := new(samples.UnfitError); errors.As(err, &u) && u.Hint != "" {
		hint = u.Hint
	}
	d.Fail(diag.DataInvalid, filepath.Base(file), err.Error(), hint)
}

// unreadable adds an error to d. Its code tells whether the file is missing or holds invalid data.
func unreadable(path string, err error, hint string, d *diag.List) {
	code := diag.DataInvalid
	if safefile.Unreadable(err) {
		code = diag.FileUnreadable
	}
	d.Fail(code, filepath.Base(path), err.Error(), hint)
}
