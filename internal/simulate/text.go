package simulate

import (
	"fmt"
	"slices"

	"hlsgen/internal/ctc"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
)

// decoderOf returns the decoder from the model's scores to text, or nil if there is none. If the metadata describe no
// usable decoder, it adds an error to d only if the user asks for a method. Otherwise the metadata may mean something
// else.
func decoderOf(m *dataflow.Model, method ctc.DecodingMethod, file string, d *diag.List) *ctc.Decoder {
	if method == ctc.MethodNone {
		return nil
	}
	decoder, err := ctc.NewDecoderFromMetadata(m.Meta, method)
	switch {
	case err == nil && decoder == nil:
		err = fmt.Errorf("there is no alphabet")
	case err == nil && decoder.Method == ctc.MethodNone:
		return nil
	case err == nil && scores(m.Out, decoder) < 0:
		err = fmt.Errorf("no output has a score for each of the %d classes", len(decoder.Alphabet))
	}
	if err == nil {
		return decoder
	}
	if method != "" {
		d.AddError(diag.InputDataInvalid, file, "text cannot be made of the outputs: "+err.Error(),
			"the model's metadata_props "+
				"name the classes: alphabet is a JSON list of a string per class, blank the index of the blank")
	}
	return nil
}

// scores returns the index of the first output that has a score per class of the decoder, or -1.
func scores(out []dataflow.RealTensorInfo, decoder *ctc.Decoder) int {
	return slices.IndexFunc(out, func(o dataflow.RealTensorInfo) bool { return decoder.CanDecodeShape(o.Shape) })
}

// decoded returns the text of each sample in outputs. of describes the model's outputs.
func decoded(of []dataflow.RealTensorInfo, decoder *ctc.Decoder, outputs []engines.ModelTensors) (texts []string) {
	k := scores(of, decoder)
	for _, out := range outputs {
		texts = append(texts, decoder.DecodeScoresToText(out[k].Data))
	}
	return texts
}
