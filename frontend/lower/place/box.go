package place

// A StridedPixelBox is a set of pixels in a frame: those in the rows Y0, Y0+DY ... Y1 and the columns X0, X0+DX ... X1.
type StridedPixelBox struct{ Y0, Y1, DY, X0, X1, DX int }

// RowCount returns the number of rows that have pixels in the box.
func (b StridedPixelBox) RowCount() int { return (b.Y1-b.Y0)/b.DY + 1 }

// ColumnCount returns the number of columns that have pixels in the box.
func (b StridedPixelBox) ColumnCount() int { return (b.X1-b.X0)/b.DX + 1 }

// inside returns the box of the pixels that are not constants, in a frame of h rows of w pixels with c channels. from
// holds the wire of each element, ConstantWireIndex for constants. ok is false if all pixels are constants, or the
// others form no box.
func inside(h, w, c int, from []int16) (b StridedPixelBox, ok bool) {
	var ys, xs []int
	data := func(y, x int) bool { return from[(y*w+x)*c] != ConstantWireIndex }
	for y := range h {
		for x := range w {
			if data(y, x) {
				ys = append(ys, y)
				break
			}
		}
	}
	if len(ys) == 0 {
		return b, false
	}
	for x := range w {
		if data(ys[0], x) {
			xs = append(xs, x)
		}
	}
	step := func(v []int) int {
		if len(v) == 1 {
			return 1
		}
		return v[1] - v[0]
	}
	b = StridedPixelBox{ys[0], ys[len(ys)-1], step(ys), xs[0], xs[len(xs)-1], step(xs)}
	if (b.Y1-b.Y0)%b.DY != 0 || (b.X1-b.X0)%b.DX != 0 {
		return b, false
	}
	for y := range h {
		for x := range w {
			in := y >= b.Y0 && y <= b.Y1 && (y-b.Y0)%b.DY == 0 && x >= b.X0 && x <= b.X1 && (x-b.X0)%b.DX == 0
			for _, f := range from[(y*w+x)*c : (y*w+x+1)*c] {
				if f != ConstantWireIndex != in {
					return b, false
				}
			}
		}
	}
	return b, true
}

// cut returns those entries of from and at that belong to elements in the box. They hold the wire and the position of
// each element of a frame. The frame's rows have w pixels of c channels.
func (b StridedPixelBox) cut(w, c int, from []int16, at []int32) ([]int16, []int32) {
	n := b.RowCount() * b.ColumnCount() * c
	f, a := make([]int16, 0, n), make([]int32, 0, n)
	for y := b.Y0; y <= b.Y1; y += b.DY {
		for x := b.X0; x <= b.X1; x += b.DX {
			i := (y*w + x) * c
			f, a = append(f, from[i:i+c]...), append(a, at[i:i+c]...)
		}
	}
	return f, a
}
