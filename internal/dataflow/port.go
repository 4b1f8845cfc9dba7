package dataflow

import "hlsgen/internal/num"

// A Port is one end of a stream: words of PerWord elements, element 0 in the lowest bits. The elements of a frame come
// in row-major order, or tile by tile if Tile is set: each [K, C] of a shape [..., K, C] is sent as C/Tile blocks of
// [K, Tile]. In this order, the windows of a depthwise convolution reach PEs that take Tile channels at a time.
type Port struct {
	Elem    num.Type
	PerWord int // elements in a word
	Words   int // words in a frame
	Tile    int // channels of a tile, a divisor of C other than C; 0 for row-major order
}

// RowMajorPort returns the word format of frames of the type in words of n elements, in row-major order. n must divide
// the size of a frame.
func (t StreamType) RowMajorPort(n int) Port {
	return Port{Elem: t.Elem, PerWord: n, Words: t.Shape.ElementCount() / n}
}

// Width returns the word's width in bits.
func (p Port) Width() int { return p.PerWord * p.Elem.Width }

// PortTileFor returns the Tile of a port that sends tiles of the given channels of the shape: 0 if that is row-major
// order.
func (s Shape) PortTileFor(channels int) int {
	if channels == s.ChannelCount() || len(s) < 2 || s[len(s)-2] == 1 {
		return 0
	}
	return channels
}

// TDATABits returns the width in bits of the word on an AXI4-Stream, which carries whole bytes.
func (p Port) TDATABits() int { return (p.Width() + 7) / 8 * 8 }

// FrameBytes returns the bytes of a frame in the processor's memory, where each word has whole bytes.
func (p Port) FrameBytes() int { return p.Words * p.TDATABits() / 8 }

// place returns the index, in a row-major frame of the shape s, of the i-th element on the stream. Tile must be set.
func (p Port) place(s Shape, i int) int {
	c := s.ChannelCount()
	block := s[len(s)-2] * c
	in := i % block
	tile := s[len(s)-2] * p.Tile
	return i - in + in%tile/p.Tile*c + in/tile*p.Tile + in%p.Tile
}

// WordIndexOfElement returns the number of the word that carries element e of a row-major frame of the shape.
func (p Port) WordIndexOfElement(s Shape, e int) int {
	if p.Tile > 0 {
		c := s.ChannelCount()
		block := s[len(s)-2] * c
		in := e % block
		e += in%c/p.Tile*s[len(s)-2]*p.Tile + in/c*p.Tile + in%c%p.Tile - in
	}
	return e / p.PerWord
}

// LastElementIndexOfWord returns the index, in a row-major frame of the shape s, of the last element in the word with
// this number.
func (p Port) LastElementIndexOfWord(s Shape, word int) int {
	e := (word+1)*p.PerWord - 1
	if p.Tile > 0 {
		e = p.place(s, e)
	}
	return e
}

// ToStreamOrder returns a frame's elements in the order in which they travel. It may return the frame's own list.
func (p Port) ToStreamOrder(t Tensor) []int64 {
	if p.Tile == 0 {
		return t.Data
	}
	return p.ToStreamOrderReusingMemory(make([]int64, len(t.Data)), t)
}

// ToStreamOrderReusingMemory returns the result of ToStreamOrder. In row-major order that is the frame's own list.
// Otherwise it is in the memory of room, which must be at least as long.
func (p Port) ToStreamOrderReusingMemory(room []int64, t Tensor) []int64 {
	if p.Tile == 0 {
		return t.Data
	}
	p.tiles(t.Shape, func(travels, lies int) { copy(room[travels:][:p.Tile], t.Data[lies:]) })
	return room[:len(t.Data)]
}

// FromStreamOrder returns the frame of a shape whose elements travelled as sent; it is the inverse of ToStreamOrder. In
// row-major order the frame shares the list sent.
func (p Port) FromStreamOrder(s Shape, sent []int64) Tensor {
	if p.Tile == 0 {
		return Tensor{s, sent}
	}
	return p.FromStreamOrderReusingMemory(make([]int64, len(sent)), s, sent)
}

// FromStreamOrderReusingMemory returns the result of FromStreamOrder. In row-major order the frame shares the list
// sent. Otherwise it is in the memory of room, which must be at least as long.
func (p Port) FromStreamOrderReusingMemory(room []int64, s Shape, sent []int64) Tensor {
	if p.Tile == 0 {
		return Tensor{s, sent}
	}
	p.tiles(s, func(travels, lies int) { copy(room[lies:][:p.Tile], sent[travels:]) })
	return Tensor{s, room[:len(sent)]}
}

// tiles visits each run of Tile consecutive elements with its index in the stream and its index in a row-major frame.
func (p Port) tiles(s Shape, visit func(travels, lies int)) {
	c := s.ChannelCount()
	block := s[len(s)-2] * c
	travels := 0
	for from := 0; from < s.ElementCount(); from += block {
		for tile := 0; tile < c; tile += p.Tile {
			for at := from + tile; at < from+block; at += c {
				visit(travels, at)
				travels += p.Tile
			}
		}
	}
}
