package convert

import (
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
)

// A row is the rule for nodes of one operator. Its write returns the nodes that replace a node, or a refusal; if it
// returns neither, the node stays.
type row struct {
	domain, op string
	write      func(*scope, *graph.Node) ([]*graph.Node, *refusal)
}

// dialects maps each dialect to the stages that convert to it, one after the other.
var dialects = map[Dialect][]stage{
	DialectQCDQ:  {stepwise((*scope).versions, func(s *scope) { s.apply(toQCDQ) })},
	DialectQONNX: {stepwise(func(s *scope) { s.apply(toQONNX) }, (*scope).nothingLeft)},
	DialectQOperator: {
		stepwise((*scope).versions, func(s *scope) { s.apply(toQONNX) }, func(s *scope) {
			s.unsigned = true
			s.apply(toQCDQ)
		}),
		stepwise((*scope).integers),
	},
}

// toQCDQ lists the rules for quantisers that are not ONNX's own.
var toQCDQ = []row{
	{operators.QONNXDomain, "Quant", quantToQCDQ},
	{operators.QONNXDomain, "IntQuant", quantToQCDQ},
	{operators.QONNXDomain, "BipolarQuant", lacking("its codes are -1 and +1, two steps apart and none between: "+
		"QuantizeLinear has all integers of a type",
		"quantise to 2 bits with narrow_range, or keep the model in QONNX")},
	{operators.QONNXDomain, "MultiThreshold",
		lacking("its thresholds may lie at any distances, but the steps of QuantizeLinear "+
			"are equal", "convert the model from before FINN's streamlining")},
	{operators.QONNXDomain, "FloatQuant",
		lacking("it quantises to minifloats, whose steps are not equal, but the steps of "+
			"QuantizeLinear are", "keep the model in QONNX")},
	{operators.QONNXDomain, "QuantLSTMCell", lacking("it is a quantised LSTM cell in one operator: ONNX's LSTM has no "+
		"quantisers at its gates", "export the cell as a Scan of plain operators, or keep the model in QONNX")},
	{operators.QONNXDomain, "Trunc", truncToQCDQ},
}

// toQONNX lists the rule for ONNX's own quantisers. Each DequantizeLinear becomes a Quant. A QuantizeLinear is removed
// with the last node that reads its integers.
var toQONNX = []row{
	{"", "DequantizeLinear", dequantToQuant},
}

// lacking returns a rule that refuses every node of an operator, for which the dialect has no equivalent.
func lacking(msg, hint string) func(*scope, *graph.Node) ([]*graph.Node, *refusal) {
	return func(*scope, *graph.Node) ([]*graph.Node, *refusal) { return nil, &refusal{msg, hint} }
}

// truncToQCDQ refuses a Trunc node, with a message that names its rounding.
func truncToQCDQ(_ *scope, n *graph.Node) ([]*graph.Node, *refusal) {
	return nil, refuse("export the average pool with a quantiser behind it instead of TruncAvgPool, or keep the model "+
		"in QONNX", "it drops low bits of codes and rounds by %q (towards minus infinity where that is floor): "+
		"QuantizeLinear rounds to the nearest, ties to even", n.StringAttrOr("rounding_mode", "FLOOR"))
}

// domains removes the imports of unused domains, and adds the import of QONNX's domain if that is used.
func (s *scope) domains() {
	used := map[string]bool{}
	each(s.g, func(n *graph.Node) { used[n.Domain] = true })
	for domain := range s.g.Opsets {
		if operators.IsQuantisationDomain(domain) && !used[domain] {
			delete(s.g.Opsets, domain)
		}
	}
	for domain := range used { // some files omit domains that they use
		if domain != "" && s.g.Opsets[domain] == 0 {
			s.g.Opsets[domain] = 1
			if domain == operators.QONNXDomain {
				s.g.Opsets[domain] = 2
			}
		}
	}
}

// microsoft is the domain of onnxruntime's own operators.
const microsoft = "com.microsoft"
