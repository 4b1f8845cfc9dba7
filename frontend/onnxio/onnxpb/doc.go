// Package onnxpb holds the generated Go bindings of the ONNX model format. They keep everything that a model file says;
// what it means is the business of frontend/onnxio, the only package that reads them.
//
// The committed hlsgen_onnx.pb.go is what is built. Regenerating it takes protoc 3.21 or later and protoc-gen-go
// v1.36.11 on the path; the header of the .proto becomes the header of the .pb.go.
//
// In come the bytes of a file; out come the messages in it, as Go values.
package onnxpb

//go:generate protoc --go_out=. --go_opt=paths=source_relative hlsgen_onnx.proto
