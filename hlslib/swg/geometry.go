package swg

// A geometry says where a frame's windows lie, in pixels. The first number of each pair is along the height, the second
// along the width.
type geometry struct {
	frame, windows                   [2]int
	kernel, stride, dilation, before [2]int
}

// span returns the distance from a window's first tap to its last along an axis.
func (g *geometry) span(axis int) int { return g.dilation[axis] * (g.kernel[axis] - 1) }

// reach returns the number of pixels that a window covers along an axis.
func (g *geometry) reach(axis int) int { return g.span(axis) + 1 }

// corner returns the first position of window o along an axis. It is negative in front of the frame.
func (g *geometry) corner(axis, o int) int { return o*g.stride[axis] - g.before[axis] }

// last returns the last pixel of the frame that window o touches along an axis.
func (g *geometry) last(axis, o int) int {
	return min(g.corner(axis, o)+g.span(axis), g.frame[axis]-1)
}

// first returns the first pixel of the frame that window o touches along an axis.
func (g *geometry) first(axis, o int) int { return max(g.corner(axis, o), 0) }

// slides reports whether no window below the row oy of windows touches the first row of pixels that this row touches.
// Then the windows of the row release those pixels one by one.
func (g *geometry) slides(oy int) bool {
	return oy == g.windows[0]-1 || g.first(0, oy+1) > g.first(0, oy)
}

// need returns the number of pixels in row-major order up to the last one that the window in row oy and column ox
// touches, included.
func (g *geometry) need(oy, ox int) int { return g.last(0, oy)*g.frame[1] + g.last(1, ox) + 1 }

// keep returns the row-major index of the first pixel that the window in row oy and column ox, or a later window,
// touches.
func (g *geometry) keep(oy, ox int) int {
	at := g.first(0, oy) * g.frame[1]
	if g.slides(oy) {
		at += g.first(1, ox)
	}
	return at
}

// pixels returns the number of pixels in a frame, H*W.
func (g *geometry) pixels() int { return g.frame[0] * g.frame[1] }

// due returns the row-major index of the last tap of the window in row oy and column ox. The tap may lie in the
// padding.
func (g *geometry) due(oy, ox int) int {
	return (g.corner(0, oy)+g.span(0))*g.frame[1] + g.corner(1, ox) + g.span(1)
}

// increasing reports whether the windows' last taps arrive in the order of the windows.
func (g *geometry) increasing() bool {
	return g.windows[0] == 1 || (g.windows[1]-1)*g.stride[1] < g.stride[0]*g.frame[1]
}
