//go:build !amd64 && !arm64

package fast

// machines are the processors that this one is, the best first. The last is any.
func machines() []*kernels { return []*kernels{anywhere()} }
