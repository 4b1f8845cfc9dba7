package quantise

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
)

// A fixed transform is a product that was not trained, such as a Fourier transform or the bands of a spectrum. It reads
// the inputs, and squares, magnitudes or logarithms follow it; trained layers are followed by other functions.
// Quantising its input would lose small signals. So it stays on the host, with everything after it up to the first
// trained product.

// moreOfSpectra is the number of bits that the output of a fixed transform, such as a Fourier transform, has beyond the
// recipe's. The relevant values of a spectrum lie far below its largest.
const moreOfSpectra = 4

// staysOnHost reports whether a node is a product that stays on the host, or computes there with the output of one.
// spectra reports whether the product is a fixed transform, such as a Fourier transform.
func staysOnHost(n *QuantisableNetwork, s *scope, node *graph.Node, data []string) (stays, spectra bool) {
	switch role := operators.RoleOf(node); {
	case s.loop != nil || !s.allRaw(data) || role == operators.RoleFakeQuantise ||
		role == operators.RoleQuantizeLinear ||
		role == operators.RoleScan ||
		role == operators.RoleMultiThreshold:
		return false, false
	case role != operators.RoleWeightedSum:
		some := func(of map[string]bool) bool {
			return slices.ContainsFunc(data, func(d string) bool { return of[d] })
		}
		return some(s.fixed), some(s.spectra)
	case n.lookup == LookupPlaceHost && multipliesOnes(s, node):
		return true, false
	}
	spectra = !n.replace && s.transforms(node, data)
	return spectra, spectra
}

// transforms reports whether a product is a fixed transform of the inputs, which was not trained.
func (s *scope) transforms(node *graph.Node, data []string) bool {
	uncoded := !slices.ContainsFunc(data, func(d string) bool { return s.code[d] != nil })
	return len(data) == 1 && uncoded && s.measured(node.Outputs[0])
}

// measured reports whether a tensor is only used for magnitudes and logarithms.
func (s *scope) measured(tensor string) bool {
	if slices.ContainsFunc(s.g.Outputs, func(o graph.ValueInfo) bool { return o.Name == tensor }) {
		return false
	}
	read := false
	for _, node := range s.g.Nodes {
		if !slices.Contains(node.Inputs, tensor) {
			continue
		}
		read = true
		squares := node.Op == operators.OpMul && node.InputName(0) == tensor && node.InputName(1) == tensor
		data := s.data(node)
		through := len(data) == 1 && (operators.RoleOf(node) == operators.RoleClip || node.Op == operators.OpMax ||
			operators.RoleOf(node) != operators.RoleWeightedSum && !operators.IsNonlinear(node, tensor))
		other := func(o string) bool { return !s.measured(o) }
		if !operators.ComputesSquareMagnitudeOrLog(node) && !squares && (!through || slices.ContainsFunc(node.Outputs,
			other)) {
			return false
		}
	}
	return read
}
