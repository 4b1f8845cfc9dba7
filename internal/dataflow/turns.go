package dataflow

// A SampleInterleaving says how a frame holds several samples that take turns in recurrent layers. A sample has a
// number of equal parts. The frame has the first part of every sample, then the second part of every sample, and so on.
type SampleInterleaving struct {
	Samples int
	Streams []int // per stream of the model's graph: the parts of a sample
	In, Out []int // the same per input and output of the graph
}

// SamplesPerFrame returns the number of samples that a frame holds: 1 if t is nil.
func (t *SampleInterleaving) SamplesPerFrame() int {
	if t == nil {
		return 1
	}
	return t.Samples
}

// IndexInFrame returns the index in the frame of element i of a sample with size elements in the given number of parts.
func (t *SampleInterleaving) IndexInFrame(size, parts, sample, i int) int {
	part := size / parts
	return (i/part*t.Samples+sample)*part + i%part
}

// FrameShape returns the shape of a frame of samples, each of shape one in the given number of parts. Axes of a sample
// that lie within a part stay as they are.
func (t *SampleInterleaving) FrameShape(one Shape, parts int) Shape {
	part, k, size := one.ElementCount()/parts, len(one), 1
	for k > 0 && part%(size*one[k-1]) == 0 {
		k--
		size *= one[k]
	}
	for k < len(one)-1 && one[k] == 1 {
		k++
	}
	shape := Shape{t.Samples}
	if parts > 1 {
		shape = Shape{parts, t.Samples}
	}
	if size < part || k == len(one) {
		shape = append(shape, part/size)
	}
	return append(shape, one[k:]...)
}

// MakeFrames returns frames of the inputs of samples. The last sample is repeated to fill up the last frame. If t is
// nil, it returns samples itself.
func (t *SampleInterleaving) MakeFrames(samples [][]Tensor) [][]Tensor {
	if t == nil {
		return samples
	}
	var frames [][]Tensor
	for first := 0; first < len(samples); first += t.Samples {
		frame := make([]Tensor, len(t.In))
		for k, parts := range t.In {
			one := samples[first][k]
			frame[k] = Tensor{Shape: t.FrameShape(one.Shape, parts), Data: make([]int64, len(one.Data)*t.Samples)}
			for s := range t.Samples {
				for i, v := range samples[min(first+s, len(samples)-1)][k].Data {
					frame[k].Data[t.IndexInFrame(len(one.Data), parts, s, i)] = v
				}
			}
		}
		frames = append(frames, frame)
	}
	return frames
}

// ExtractSamples returns the tensors of n samples from those of frames, each with a single axis. parts selects In, Out
// or Streams, the number of parts of each tensor. If t is nil, it returns frames itself.
func (t *SampleInterleaving) ExtractSamples(parts func(*SampleInterleaving) []int, frames [][]Tensor,
	n int) [][]Tensor {
	if t == nil {
		return frames
	}
	samples := make([][]Tensor, n)
	for i := range samples {
		for k, x := range frames[i/t.Samples] {
			size := len(x.Data) / t.Samples
			y := Tensor{Shape: Shape{size}, Data: make([]int64, size)}
			for j := range y.Data {
				y.Data[j] = x.Data[t.IndexInFrame(size, parts(t)[k], i%t.Samples, j)]
			}
			samples[i] = append(samples[i], y)
		}
	}
	return samples
}
