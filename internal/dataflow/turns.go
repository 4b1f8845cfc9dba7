package dataflow

// Turns say how a frame holds several samples, that take turns in recurrent layers: a sample is a number of equal
// parts, and the frame has the first part of every sample, then the second of every sample, and so on.
type Turns struct {
	Samples int
	Streams []int // parts of a sample, by stream of the model's graph as it was lowered
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

// Shape is that of a frame of samples, each of a shape and in so many parts: vectors stay vectors.
func (t *Turns) Shape(one Shape, parts int) Shape {
	if len(one) < 2 {
		return Shape{t.Samples, one.Channels()}
	}
	if rows := one.Vectors() / parts; rows > 1 {
		return Shape{parts, t.Samples, rows, one.Channels()}
	}
	return Shape{parts, t.Samples, one.Channels()}
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
