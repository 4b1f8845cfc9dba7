package dataflow

// Turns say how a frame holds several samples, that take turns in recurrent layers: a sample is a number of equal
// parts, and the frame has the first part of every sample, then the second of every sample, and so on.
type Turns struct {
	Samples int
	Streams []int // parts of a sample, by stream of the model's graph
	In, Out []int // the same by input and output of the graph
}

// PerFrame is how many samples a frame holds.
func (t *Turns) PerFrame() int {
	if t == nil {
		return 1
	}
	return t.Samples
}

// At is where element i of a sample, one of size elements in so many parts, lies in the frame.
func (t *Turns) At(size, parts, sample, i int) int {
	part := size / parts
	return (i/part*t.Samples+sample)*part + i%part
}

// Shape is that of a frame of samples, each of a shape and in so many parts: what is left of a sample's axes within a
// part stays as it is.
func (t *Turns) Shape(one Shape, parts int) Shape {
	part, k, size := one.Size()/parts, len(one), 1
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

// Frames makes frames of the inputs of samples. The last frame is filled up with its last sample.
func (t *Turns) Frames(samples [][]Tensor) [][]Tensor {
	if t == nil {
		return samples
	}
	var frames [][]Tensor
	for first := 0; first < len(samples); first += t.Samples {
		frame := make([]Tensor, len(t.In))
		for k, parts := range t.In {
			one := samples[first][k]
			frame[k] = Tensor{Shape: t.Shape(one.Shape, parts), Data: make([]int64, len(one.Data)*t.Samples)}
			for s := range t.Samples {
				for i, v := range samples[min(first+s, len(samples)-1)][k].Data {
					frame[k].Data[t.At(len(one.Data), parts, s, i)] = v
				}
			}
		}
		frames = append(frames, frame)
	}
	return frames
}

// Apart takes n samples out of frames, whose tensors lie in so many parts each: In, Out or Streams.
func (t *Turns) Apart(parts func(*Turns) []int, frames [][]Tensor, n int) [][]Tensor {
	if t == nil {
		return frames
	}
	samples := make([][]Tensor, n)
	for i := range samples {
		for k, x := range frames[i/t.Samples] {
			size := len(x.Data) / t.Samples
			y := Tensor{Shape: Shape{size}, Data: make([]int64, size)}
			for j := range y.Data {
				y.Data[j] = x.Data[t.At(size, parts(t)[k], i%t.Samples, j)]
			}
			samples[i] = append(samples[i], y)
		}
	}
	return samples
}
