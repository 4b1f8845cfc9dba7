package onnxtest

import (
	"google.golang.org/protobuf/proto"

	"hlsgen/frontend/onnxio/onnxpb"
)

// MakeAxisDynamic makes an axis dynamic, with the given name: in each input and output the first axis that has the
// given size.
func MakeAxisDynamic(model []byte, size int64, name string) ([]byte, error) {
	m := &onnxpb.ModelProto{}
	if err := proto.Unmarshal(model, m); err != nil {
		return nil, err
	}
	m.Graph.ValueInfo = nil // they have the size as well
	for _, list := range [][]*onnxpb.ValueInfoProto{m.Graph.Input, m.Graph.Output} {
		for _, v := range list {
			for _, d := range v.GetType().GetTensorType().GetShape().GetDim() {
				if d.GetDimValue() == size {
					d.Value = &onnxpb.TensorShapeProto_Dimension_DimParam{DimParam: name}
					break
				}
			}
		}
	}
	return proto.Marshal(m)
}
