package swg

// A geometry is where the windows of a frame lie, in pixels. Of each pair the first is along the height, the second
// along the width.
type geometry struct {
	frame, windows                   [2]int
	kernel, stride, dilation, before [2]int
}

// span is the distance from a window's first tap to its last, along an axis.
func (g *geometry) span(axis int) int { return g.dilation[axis] * (g.kernel[axis] - 1) }

// reach is how many pixels a window reaches over.
func (g *geometry) reach(axis int) int { return g.span(axis) + 1 }

// corner is where window o begins along an axis; negative in front of the frame.
func (g *geometry) corner(axis, o int) int { return o*g.stride[axis] - g.before[axis] }

// last is the last pixel along an axis that window o touches, in the frame.
func (g *geometry) last(axis, o int) int {
	return min(g.corner(axis, o)+g.span(axis), g.frame[axis]-1)
}

// first is the first pixel along an axis that window o touches, in the frame.
func (g *geometry) first(axis, o int) int { return max(g.corner(axis, o), 0) }

// slides reports whether the windows of row oy need less and less of their first row of pixels: whether no later window
// touches it.
func (g *geometry) slides(oy int) bool {
	return oy == g.windows[0]-1 || g.first(0, oy+1) > g.first(0, oy)
}

// need is the pixels up to and including the last one that a window touches.
func (g *geometry) need(oy, ox int) int { return g.last(0, oy)*g.frame[1] + g.last(1, ox) + 1 }

// keep is the first pixel that a window or a later one touches.
func (g *geometry) keep(oy, ox int) int {
	at := g.first(0, oy) * g.frame[1]
	if g.slides(oy) {
		at += g.first(1, ox)
	}
	return at
}

// pixels is H*W.
func (g *geometry) pixels() int { return g.frame[0] * g.frame[1] }

// due is the raster index of the last tap of a window: t of the package's comment.
func (g *geometry) due(oy, ox int) int {
	return (g.corner(0, oy)+g.span(0))*g.frame[1] + g.corner(1, ox) + g.span(1)
}

// increasing reports whether the last taps of windows come in the windows' order.
func (g *geometry) increasing() bool {
	return g.windows[0] == 1 || (g.windows[1]-1)*g.stride[1] < g.stride[0]*g.frame[1]
}
