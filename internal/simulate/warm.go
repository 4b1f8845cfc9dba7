package simulate

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/options"
	"hlsgen/internal/source"
)

// read reads the model and quantises it on request, as source.ReadAndQuantiseModel does, or returns what was read
// before.
func (w *Warm) read(ctx context.Context, o options.Source, d *diag.List) (*source.ModelSource, options.Source, error) {
	if w == nil {
		return source.ReadAndQuantiseModel(ctx, o, d)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.source == nil {
		var told diag.List
		src, made, err := source.ReadAndQuantiseModel(ctx, o, &told)
		if d.AddMissing(told.Diags); src == nil || err != nil {
			return nil, o, err
		}
		w.source, w.made, w.told = src, made, told.Diags
	} else {
		d.AddMissing(w.told)
	}
	made := w.made
	made.SampleFiles, made.Progress = o.SampleFiles, o.Progress
	return w.source, made, nil
}

// imported imports the model as importFor does, or returns what was imported before for the same engine and for data of
// the same shapes.
func (w *Warm) imported(o Options, src *source.ModelSource, shapes map[string][]int, d *diag.List) (*warmImport,
	error) {
	if w == nil {
		engine, im, err := o.importFor(src, shapes, d)
		return &warmImport{engine: engine, im: im}, err
	}
	key := fmt.Sprintf("%q %q %t %v", o.Engine, o.Overflow, o.traces(), shapes) // fmt sorts the keys of maps
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.IndexFunc(w.kept, func(k *warmImport) bool { return k.key == key }); i >= 0 {
		k := w.kept[i]
		w.kept = append(slices.Delete(w.kept, i, i+1), k)
		d.AddMissing(k.told)
		return k, nil
	}
	var told diag.List
	engine, im, err := o.importFor(src, shapes, &told)
	k := &warmImport{key: key, engine: engine, im: im, told: told.Diags}
	if d.AddMissing(told.Diags); err == nil && im != nil && im.Model != nil && !told.HasErrors() {
		w.kept = append(w.kept[max(0, len(w.kept)+1-maxWarm):], k)
	}
	return k, err
}

// predictor returns a maker of predictors for the model and the number of samples that they compute at a time. The
// maker is nil if engine fast leaves the model to engine eval.
func (k *warmImport) predictor(m *dataflow.Model) (make func() *engines.FastPredictor, batch int) {
	k.compile.Do(func() {
		if p := engines.CompileLayers(m); p != nil && m.Stream == nil {
			k.program, k.batch = engines.NewFastPredictorMaker(m, p), cmp.Or(p.Batch, 1)
		}
	})
	return k.program, k.batch
}

// importFor chooses the engine, and imports the model as far as the engine needs. The imported model has no Model after
// it adds an error to d. The default is engine fast. Traces need another engine, because engine fast has no tensors
// between layers. Overflow needs engine reference, and models without quantisers engine float.
func (o Options) importFor(src *source.ModelSource, shapes map[string][]int, d *diag.List) (engines.EngineName,
	*frontend.ImportedModel,
	error) {
	opt, ok := o.ToImportOptions(d)
	if !ok {
		return o.Engine, nil, nil
	}
	opt.Data = shapes
	engine := cmp.Or(o.Engine, engines.EngineFast)
	switch {
	case o.Overflow != "":
		engine = engines.EngineReference
	case engine == engines.EngineFast && o.traces():
		engine = engines.EngineEval
	case engine == engines.EngineReference, engine == engines.EngineFloat:
		im := frontend.ImportForReference(src.File, src.ONNX, opt, d)
		if engine == engines.EngineFloat && im.Model != nil && im.Model.Float == nil {
			d.AddError(diag.EngineUnfitForModel, src.File,
				"engine float rounds, and here a rounded value would become another "+
					"code, order or state", "leave --engine out, or use --engine reference")
		}
		return engine, im, nil
	}
	if im, told := src.ReusableImport(shapes); im != nil {
		d.AddMissing(told)
		return engine, im, nil
	}
	var told diag.List
	im, err := frontend.Import(src.File, src.ONNX, opt, &told)
	if im == nil {
		d.AddMissing(told.Diags)
		return engine, nil, err
	}
	if im.Model == nil && o.Engine == "" && o.Overflow == "" {
		var quiet diag.List
		as := frontend.ImportForReferenceReusing(im, src.File, src.ONNX, opt, &quiet)
		if as.Model != nil && as.Model.Float != nil {
			d.AddMissing(quiet.Diags)
			return engines.EngineFloat, as, nil
		}
	}
	if d.AddMissing(told.Diags); im.Model == nil {
		source.AddCutHint(o.Source, im.Fates, opt, d)
	}
	return engine, im, err
}
