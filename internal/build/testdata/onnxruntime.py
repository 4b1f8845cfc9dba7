"""Stands in for onnxruntime, and for onnx.reference: a few operators, by ONNX's definitions."""

import numpy as np
import onnx
from onnx import helper, numpy_helper


def softmax(x, axis=-1):
    e = np.exp(x.astype(np.float64) - x.max(axis=axis, keepdims=True))
    return (e / e.sum(axis=axis, keepdims=True)).astype(x.dtype)


OPERATORS = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Min": np.minimum, "Max": np.maximum, "MatMul": np.matmul,
    "Where": np.where, "GreaterOrEqual": np.greater_equal, "Equal": np.equal, "Identity": lambda x: x, "Softmax": softmax,
    "Gather": lambda x, at, axis=0: np.take(x, at, axis=axis), "Transpose": lambda x, perm: np.transpose(x, perm),
    "Concat": lambda *x, axis: np.concatenate(x, axis=axis),
    "Cast": lambda x, to: x.astype(onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[to]),
    "Reshape": lambda x, to: x.reshape([x.shape[k] if n == 0 else n for k, n in enumerate(to)]),
}


class ReferenceEvaluator:
    def __init__(self, path):
        self.model = onnx.load(path)
        onnx.checker.check_model(self.model, full_check=True)
        self.constants = {t.name: numpy_helper.to_array(t) for t in self.model.graph.initializer}
        self.input_names = [i.name for i in self.model.graph.input]

    def run(self, outputs, feeds):
        assert outputs is None and set(feeds) == set(self.input_names), (outputs, feeds)
        known = dict(self.constants)
        for tensors in (self.model.graph.input, self.model.graph.output):
            for t in tensors:
                want = [d.dim_value or None for d in t.type.tensor_type.shape.dim]
                if t.name in feeds:
                    have = feeds[t.name]
                    kind = onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[t.type.tensor_type.elem_type]
                    assert have.dtype == kind and len(want) == have.ndim, (t.name, have.dtype, have.shape)
                    assert all(w in (None, n) for w, n in zip(want, have.shape)), (t.name, have.shape, want)
                    known[t.name] = have
        for node in self.model.graph.node:
            attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            known[node.output[0]] = OPERATORS[node.op_type](*[known[name] for name in node.input], **attributes)
        return [known[o.name] for o in self.model.graph.output]


class InferenceSession(ReferenceEvaluator):
    def __init__(self, path, providers):
        super().__init__(path)

    def get_inputs(self):
        return list(self.model.graph.input)
