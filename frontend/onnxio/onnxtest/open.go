package onnxtest

import (
	"google.golang.org/protobuf/proto"

	"hlsgen/frontend/onnxio/onnxpb"
)

// Open leaves the size of an axis open, under a name: the first axis of each input and output that has the size.
func Open(model []byte, size int64, name string) ([]byte, error) {
	m := &onnxpb.ModelProto{}
	if err := proto.Unmarshal(model, m); err != nil {
		return nil, err
	}
	m.Graph.ValueInfo = nil // have the size as well
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
