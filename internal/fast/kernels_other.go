//go:build !amd64 && !arm64

package fast

// machines returns the sets of kernels that this processor supports, the fastest first. The last one runs on any
// processor.
func machines() []*kernels { return []*kernels{anywhere()} }
