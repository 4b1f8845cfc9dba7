"""Tests hlsgen's functions that take networks of PyTorch and Brevitas. The first argument is the folder of the digits."""

import os
import sys
import unittest
import warnings

import numpy as np

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import torch
    import brevitas.nn as qnn
    from brevitas.quant import Int32Bias
from torch import nn

import hlsgen

DIGITS = sys.argv.pop(1)
X = np.load(os.path.join(DIGITS, "inputs.npy"))  # the last ones are no digits, but edges of the numbers' range
LABELS = np.load(os.path.join(DIGITS, "labels.npy"))


class MLP(nn.Module):
    shape = (64,)

    def __init__(self, first=None):
        super().__init__()
        self.first = first or qnn.QuantIdentity(bit_width=8, return_quant_tensor=True)
        self.body = nn.Sequential(qnn.QuantLinear(64, 32, bias=True, weight_bit_width=4), nn.BatchNorm1d(32),
                                  qnn.QuantReLU(bit_width=4, return_quant_tensor=True))
        self.last = qnn.QuantLinear(32, 10, bias=True, weight_bit_width=4)

    def forward(self, x):
        return self.last(self.body(self.first(x)))


class CNN(nn.Module):
    shape = (1, 8, 8)

    def __init__(self, first=None):
        super().__init__()
        self.first = first or qnn.QuantIdentity(bit_width=8, return_quant_tensor=True)
        self.conv1 = qnn.QuantConv2d(1, 8, 3, padding=1, bias=False, weight_bit_width=4)
        self.body = nn.Sequential(nn.BatchNorm2d(8), qnn.QuantReLU(bit_width=4, return_quant_tensor=True), nn.MaxPool2d(2),
                                  qnn.QuantConv2d(8, 16, 3, bias=False, weight_bit_width=4), nn.BatchNorm2d(16),
                                  qnn.QuantReLU(bit_width=4, return_quant_tensor=True))
        self.last = qnn.QuantLinear(64, 10, bias=True, weight_bit_width=4)

    def forward(self, x):
        return self.last(torch.flatten(self.body(self.conv1(self.first(x))), 1))


class LSTM(nn.Module):
    shape = (8, 8)

    def __init__(self):
        super().__init__()
        self.first = qnn.QuantIdentity(bit_width=8, return_quant_tensor=True)
        self.lstm = qnn.QuantLSTM(8, 16, batch_first=True, weight_bit_width=8)
        self.last = qnn.QuantLinear(16, 10, bias=True, weight_bit_width=8)

    def forward(self, x):
        states, _ = self.lstm(self.first(x))
        return self.last(states[:, -1])


def train(net, x, labels, epochs):
    optimiser = torch.optim.Adam(net.parameters(), lr=0.01)
    net.train()
    for _ in range(epochs):
        for i in torch.randperm(len(x)).split(32):
            optimiser.zero_grad()
            nn.functional.cross_entropy(net(x[i]), labels[i]).backward()
            optimiser.step()
    net.eval()


def modes(net):
    return {name: module.training for name, module in net.named_modules() if "export_handler" not in name}


class Trained(unittest.TestCase):
    """What torch gives for a trained network is what predict gives, for every sample."""

    def setUp(self):
        warnings.simplefilter("error", UserWarning)
        warnings.filterwarnings("ignore", "Named tensors")  # torch, of its own doings
        torch.manual_seed(0)

    def equal(self, net, epochs):
        x = torch.tensor(X.reshape(-1, *net.shape))
        digits = LABELS >= 0
        train(net, x[digits], torch.tensor(LABELS[digits]), epochs)
        with torch.no_grad():
            y = net(x).numpy()
        net.train()
        net.first.eval()  # one module has another mode than the rest
        was = modes(net)
        m = hlsgen.from_brevitas(net, x[:1])
        self.assertEqual(modes(net), was)
        self.assertTrue(m.check().ok)
        said = m.simulate(x, compare=y).compare
        print("%s: of %d samples %d equal, %d ties" % (type(net).__name__, said.samples, said.equal, said.near_ties), flush=True)
        self.assertEqual((said.samples, said.equal + said.near_ties, said.differ), (len(X), len(X), 0))
        self.assertGreater(m.accuracy(x[digits], LABELS[digits]).value, 0.4)  # it has learnt something
        y[3, 2] += 0.5
        with self.assertRaises(hlsgen.Mismatch):
            m.simulate(x, compare=y)

    def test_mlp(self):
        self.equal(MLP(), 20)

    def test_cnn(self):
        self.equal(CNN(), 10)

    def test_lstm(self):
        self.equal(LSTM(), 10)


class Export(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        self.x = torch.tensor(X[:16])

    def test_input_without_quantiser(self):
        plain = nn.Sequential(qnn.QuantLinear(64, 10, bias=True, weight_bit_width=4), nn.ReLU(),
                              qnn.QuantLinear(10, 4, bias=True, weight_bit_width=4))
        for net, layer in ((MLP(nn.Identity()), "body.0 (QuantLinear)"), (CNN(nn.Identity()), "conv1 (QuantConv2d)"),
                           (plain, "0 (QuantLinear)")):
            x = self.x.reshape(-1, *getattr(net, "shape", (64,)))
            with self.subTest(layer), self.assertWarns(UserWarning) as said:
                m = hlsgen.from_brevitas(net, x[:1])
            self.assertIn("the input of %s has no quantiser: put qnn.QuantIdentity(" % layer, str(said.warning))
            self.assertEqual(said.filename, __file__)
            net.eval()
            with torch.no_grad():
                y = net(x).numpy()
            self.assertEqual(m.simulate(x, compare=y).compare.differ, 0)
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            warnings.filterwarnings("ignore", "Named tensors")
            m = hlsgen.from_brevitas(MLP(nn.Identity()), self.x[:1], input_type="UINT8:1/255")  # integers need none
        self.assertTrue(m.check().ok)

    def test_refused_by_brevitas(self):
        net = nn.Sequential(qnn.QuantLinear(64, 10, bias=True, bias_quant=Int32Bias))
        was = modes(net)
        with self.assertRaises(hlsgen.Error) as said:
            hlsgen.from_brevitas(net, self.x[:1])
        self.assertEqual(said.exception.message, "Brevitas does not export the network: Input scale required")
        self.assertIn("put qnn.QuantIdentity(", said.exception.hint)
        self.assertEqual(modes(net), was)

    def test_refused_in_the_midst(self):
        """A cell with some of its quantisers is refused when its modules export already."""
        net = nn.Sequential(qnn.QuantIdentity(return_quant_tensor=True), qnn.QuantLSTM(8, 4, sigmoid_quant=None))
        x = self.x.reshape(16, 8, 8)
        net.eval()
        want = net(x)[0]
        with self.assertRaises(hlsgen.Error) as said:
            hlsgen.from_brevitas(net, x)
        self.assertIn("partially quantized LSTM", said.exception.message)
        self.assertTrue(torch.equal(net(x)[0], want))
        self.assertFalse([name for name, module in net.named_modules() if getattr(module, "export_mode", False)])

    def test_float(self):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Dropout(), nn.Linear(32, 10))
        m = hlsgen.from_torch(net, self.x[:1])
        self.assertTrue(net[2].training)
        net.eval()
        with torch.no_grad():
            y = net(self.x).numpy()
        np.testing.assert_allclose(m.predict(self.x), y, rtol=0, atol=1e-6)
        self.assertFalse(m.check().ok)
        m = hlsgen.from_torch(net, X[:1], calibrate=X[:64])
        self.assertTrue(m.check().ok)
        self.assertLess(np.abs(m.predict(self.x) - y).max(), 0.05)
        self.assertGreater(np.abs(m.predict(self.x) - y).max(), 1e-4)  # it is quantised
        self.assertEqual(hlsgen.from_torch(net, self.x[:8], calibrate=X[:64]).predict(X[:3]).shape, (3, 10))

    def test_inputs(self):
        class Two(nn.Module):
            def forward(self, a, b):
                return a + b

        m = hlsgen.from_torch(Two(), (self.x[:1], self.x[:1]))
        np.testing.assert_array_equal(m.predict(X[:4], X[4:8]), X[:4] + X[4:8])

    def test_wrong(self):
        net = nn.Linear(64, 10)
        for call in (hlsgen.from_torch, hlsgen.from_brevitas):
            with self.assertRaisesRegex(hlsgen.UsageError, "a int is no network of PyTorch"):
                call(3, self.x)
            with self.assertRaisesRegex(hlsgen.UsageError, "did you mean input_type"):
                call(net, self.x[:1], input_typ="UINT8")
            with self.assertRaisesRegex(hlsgen.Error, "does not export the network: .*mat1 and mat2 shapes"):
                call(net, self.x[:1, :3])

    def test_not_installed(self):
        for module, call in (("torch", hlsgen.from_torch), ("brevitas.export", hlsgen.from_brevitas)):
            was = sys.modules[module] if module in sys.modules else None
            sys.modules[module] = None
            try:
                with self.assertRaises(hlsgen.Error) as said:
                    call(nn.Linear(2, 2), self.x)
            finally:
                sys.modules[module] = was
            self.assertEqual(said.exception.hint, "install it: pip install %s" % module.split(".")[0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
