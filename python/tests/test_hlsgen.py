"""Tests of the installed package, which go test ./cmd/wheels runs. TEST_CASES names a file with models and samples."""

import contextlib
import json
import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import hlsgen
from hlsgen import _process

with open(os.environ["TEST_CASES"]) as file:
    CASES = json.load(file)
EXAMPLES = os.path.join(os.path.dirname(os.environ["TEST_CASES"]), "examples")
DIGITS = os.path.join(EXAMPLES, "digits-mlp-w2a2")
IRIS = os.path.join(EXAMPLES, "iris-mlp-w3a3")


def digits():
    return (hlsgen.load(os.path.join(DIGITS, "model.onnx")), np.load(os.path.join(DIGITS, "inputs.npy")),
            np.load(os.path.join(DIGITS, "labels.npy")))


def command(*args):
    """What the command line gives."""
    done = subprocess.run([_process.program()] + list(args), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise AssertionError(done.stderr.decode())
    return done.stdout


def equal(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


class Tensor:
    """An array as torch has it."""

    def __init__(self, data):
        self.data = data

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.data


class Folder(unittest.TestCase):
    """A test in a folder of its own."""

    def setUp(self):
        was, self.folder = os.getcwd(), tempfile.TemporaryDirectory()
        os.chdir(self.folder.name)
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(os.chdir, was)


class LikeTheCommandLine(Folder):
    def test_cases(self):
        """predict, trace and accuracy give what the command line gives, for models of all families."""
        for case in CASES:
            with self.subTest(case["name"]):
                self.case(case)

    def case(self, case):
        arrays = {k: np.load(v) for k, v in case["x"].items()}
        several = len(arrays) > 1
        x = arrays if several else next(iter(arrays.values()))
        lengths = np.load(case["lengths"]) if case.get("lengths") else None
        given = "x.npz" if several else "x.npy"
        np.savez(given, **arrays) if several else np.save(given, x)
        args = ["simulate", case["model"], "--input", given, "--output", "y.npz", "--quiet"]
        for name, value in case.get("options", {}).items():
            args += ["--" + name.replace("_", "-"), value]
        if lengths is not None:
            np.save("n.npy", lengths)
            args += ["--lengths", "n.npy"]
        m = hlsgen.load(case["model"], **case.get("options", {}))
        command(*args)
        want = dict(np.load("y.npz"))
        got = m.predict(x, lengths=lengths)
        got = got if isinstance(got, dict) else {next(iter(want)): got}
        self.assertEqual(sorted(got), sorted(want))
        for name in want:
            self.assertTrue(equal(got[name], want[name]), name)
        if several:
            again = m.predict(*[arrays[n] for n in m.inputs], lengths=lengths)
            self.assertTrue(all(equal(again[n], want[n]) for n in want))
        command(*args, "--trace", "t.npz")
        want, trace = np.load("t.npz"), m.trace(x, lengths=lengths)
        self.assertGreater(len(trace), 0)
        for row in trace.index.tensors:
            values = row.to_dict()
            self.assertTrue(equal(trace[row.tensor], want[values["values"]]))
            if "integers" in values:
                self.assertTrue(equal(trace.integers[row.tensor], want[values["integers"]]))
                self.assertTrue(equal(trace[row.layer], trace[trace._rows[row.layer].tensor]) if row.layer else True)
        codes = m.predict(x, lengths=lengths, codes=True)
        self.assertIn((codes if not isinstance(codes, dict) else next(iter(codes.values()))).dtype, [np.int64])
        first = next(iter(got.values()))
        if lengths is None:  # two of three labels are right
            labels = first.reshape(len(first), -1, first.shape[-1])[:, 0].argmax(-1) + (np.arange(len(first)) % 3 == 2)
            labels = labels % first.shape[-1]
            np.save("labels.npy", labels)
            said = json.loads(command(*args, "--labels", "labels.npy", "--json"))["accuracy"]
            self.assertEqual(m.accuracy(x, labels).to_dict(), said)

    def test_check(self):
        m, _, _ = digits()
        said = json.loads(command("check", os.path.join(DIGITS, "model.onnx"), "--json"))
        self.assertEqual(m.check().to_dict(), said)

    def test_command(self):
        said = subprocess.run([sys.executable, "-m", "hlsgen", "version"], stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(said, command("version"))
        self.assertIn(hlsgen.__version__.split("+")[0].split(".post")[0], said.decode())


class Models(Folder):
    def test_sources(self):
        """A path, bytes, and what serialises itself, are the same model."""
        m, x, _ = digits()
        with open(os.path.join(DIGITS, "model.onnx"), "rb") as file:
            data = file.read()

        class Proto:
            def SerializeToString(self):
                return data

        want = m.predict(x)
        for source in (data, bytearray(data), Proto()):
            other = hlsgen.load(source)
            self.assertEqual((other.sha256, other.inputs, other.outputs), (m.sha256, m.inputs, m.outputs))
            self.assertTrue(equal(other.predict(x), want))

    def test_arrays(self):
        """Lists, arrays in other orders and types, and tensors of torch are taken."""
        m, x, _ = digits()
        x = x[:4]
        want = m.predict(x)

        for given in (x.tolist(), np.asfortranarray(x), x[::-1][::-1], x.astype(np.float64), x.astype(">f4"), Tensor(x),
                      {m.inputs[0]: x}):
            self.assertTrue(equal(m.predict(given), want))
        np.save("x.npy", x)
        self.assertTrue(equal(m.predict("x.npy"), want))
        with self.assertRaises(hlsgen.DataError):
            m.predict(np.array(["a"]))

    def test_codes(self):
        m, x, _ = digits()
        codes = m.predict(x, codes=True)
        last = [r for r in m.trace(x).index.tensors if r.layer == m.check().layers[-1].name][0]
        self.assertTrue(equal(codes, m.trace(x).integers[last.tensor][:, 0]))

    def test_profile(self):
        m, x, _ = digits()
        p, t = m.profile(x), m.trace(x)
        self.assertEqual([r.tensor for r in p], list(t))
        for r in p:
            self.assertEqual((r.min, r.max), (t[r.tensor].min(), t[r.tensor].max()))
            self.assertEqual(r.counts.sum(), t[r.tensor].size)
        self.assertTrue(any(r.saturated for r in p))
        self.assertIn("<table>", p._repr_html_())

    def test_calibrate(self):
        """A model in real numbers is quantised when it is loaded, by an array of samples."""
        m, x, _ = digits()
        q = hlsgen.load(os.path.join(DIGITS, "model.onnx"), calibrate=x[:64], quantize="w4a4")
        command("simulate", os.path.join(DIGITS, "model.onnx"), "--calibrate", self.saved(x[:64]), "--quantize", "w4a4",
                "--input", self.saved(x), "--output", "y.npy", "--quiet")
        self.assertTrue(equal(q.predict(x), np.load("y.npy")))

    def saved(self, x):
        path = "x%d.npy" % len(x)
        np.save(path, x)
        return path

    def test_convert(self):
        m, x, _ = digits()
        made = m.convert("qcdq")
        command("convert", os.path.join(DIGITS, "model.onnx"), "--to", "qcdq", "--out", "q.onnx")
        with open("q.onnx", "rb") as file:
            self.assertEqual(made.onnx, file.read())
        self.assertTrue(equal(made.load().predict(x), m.predict(x)))

    def test_others(self):
        m, x, _ = digits()
        self.assertEqual(hlsgen.boards()["pynq-z1"].lut, 53200)
        self.assertIn("pynq-z1", hlsgen.boards()._repr_html_())
        stats = hlsgen.stats(m, x)
        self.assertEqual(stats.to_dict(), json.loads(command("stats", os.path.join(DIGITS, "model.onnx"), "--data",
                                                             os.path.join(DIGITS, "inputs.npy"), "--json")))
        self.assertGreater(len(hlsgen.formats().to_dict()), 1)

    def test_threads(self):
        """Threads share a model."""
        m, x, _ = digits()
        want, wrong = m.predict(x), []

        def work(k):
            for _ in range(10):
                if not equal(m.predict(x[k:k + 5]), want[k:k + 5]):
                    wrong.append(k)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_restart(self):
        """What is asked after the process ended starts another one."""
        m, x, _ = digits()
        want = m.predict(x)
        process = _process.running().process
        process.kill()
        process.wait()
        with self.assertRaises(hlsgen.ProcessError):
            m.predict(x)
        self.assertTrue(equal(m.predict(x), want))

    def test_quiet(self):
        """Nothing is printed; logging has the diagnostics."""
        with self.assertLogs("hlsgen", logging.INFO) as said:
            digits()[0].build("arty-a7-35", no_csim=True, verify=0, out="d")
        self.assertIn("board-unverified", "\n".join(said.output))


class Designs(Folder):
    def test_design(self):
        m, x, labels = digits()
        phases = []
        d = m.build("pynq-z1", fps=10_000, no_csim=True, out="design", x=x, labels=labels,
                    progress=lambda phase, share: phases.append(phase))
        self.assertIn("folding", phases)
        self.assertTrue(d.fits and d.fps >= 10_000 and d.interval_clocks > 0 and d.latency_clocks > 0)
        self.assertEqual(d.resources["LUT"].board, 53200)
        self.assertEqual(len(d.layers), len(m.check().layers))
        self.assertIn("report/build.json", d.files)
        again = hlsgen.open("design")
        self.assertEqual(again.summary.to_dict(), d.summary.to_dict())
        want = m.predict(x)
        for engine in (None, "eval", "cycle"):
            self.assertTrue(equal(again.predict(x, engine=engine), want), engine)
        own = again.accelerator()
        self.assertTrue(equal(own.predict(x[:128]), want[:128]))
        for engine in ("cycle", "eval"):
            self.assertTrue(equal(again.accelerator(engine=engine).predict(x[:2]), want[:2]))
        if os.environ.get("TEST_COMPILERS"):
            self.compiled(m, x, want)
        self.assertIs(type(own), hlsgen.driver.Accelerator)
        self.assertIn("<svg", again.timeline(x[:2]))
        self.assertTrue(os.path.getsize(again.vcd(x[:2], "w.vcd")))
        self.assertIn("<html", again.report().html)
        self.assertIn("LUT", again._repr_html_())
        self.assertEqual(d.model.sha256, m.sha256)
        with self.assertRaises(hlsgen.Error) as raised:
            m.build("pynq-z1", no_csim=True, out="design")
        self.assertEqual(raised.exception.code, "output-exists")

    def test_predict(self):
        """Models, designs and accelerators take the same, and give the same."""
        case = next(c for c in CASES if c["name"] == "two inputs and outputs")
        m = hlsgen.load(case["model"])
        d = m.build("pynq-z1", no_csim=True, verify=0, out="d")
        x = {k: np.load(v) for k, v in case["x"].items()}
        want = m.predict(x)
        self.assertEqual(list(want), m.outputs)
        for predicts in (m, d, d.accelerator()):
            for given in ([x], [x[n] for n in m.inputs], [Tensor(x[n]) for n in m.inputs],
                          [{n: Tensor(a) for n, a in x.items()}]):
                got = predicts.predict(*given)
                self.assertEqual(list(got), m.outputs)
                self.assertTrue(all(equal(got[n], want[n]) for n in want))
        for given in ({"left": x["left"]}, {}, dict(x, more=x["left"])):
            with self.assertRaises(hlsgen.driver.Unfit):
                d.accelerator().predict(given)

    def test_engines(self):
        """An engine that an accelerator cannot stand on is refused when it is made."""
        d = digits()[0].build("pynq-z1", no_csim=True, verify=0, out="d")
        for device, engine, said in ((None, "fst", "did you mean fast?"), (None, "reference", "as written"),
                                     (None, "float", "as written"), ("net.bit", "rtl", "exclude each other"),
                                     (None, 3, "engines are reference")):
            with self.assertRaises(hlsgen.UsageError) as raised:
                d.accelerator(device, engine=engine)
            self.assertIn(said, str(raised.exception))
        with self.assertRaises(hlsgen.Error) as raised:
            hlsgen.open(digits()[0].build("pynq-z1", backend="rtl", no_csim=True, verify=0, out="rtl").path).accelerator(
                engine="csim")
        self.assertIn("has no C++", str(raised.exception))

    def test_graph(self):
        """Models and designs are drawn as the command line draws them."""
        m, _, _ = digits()
        path = os.path.join(DIGITS, "model.onnx")
        d = m.build("pynq-z1", no_csim=True, verify=0, out="d")
        for what, given in ((m, path), (d, "d"), (path, path), ("d", "d")):
            for form in ("svg", "png", "dot", "onnx"):
                made = hlsgen.graph(what, form)
                said = json.loads(command("graph", given, "--out", "want." + form, "--force", "--json"))
                with open("want." + form, "rb") as file:
                    self.assertEqual(made, file.read())
                self.assertEqual((made.form, made.nodes, made.streams), (form, said["nodes"], said["streams"]))
                self.assertEqual((made._repr_svg_() is not None, made._repr_png_() is not None),
                                 (form == "svg", form == "png"))
        self.assertEqual(m.graph(), m.graph("svg"))
        self.assertEqual(m.graph(out="own.dot").text, d.model.graph("dot").text)
        self.assertEqual(d.graph().save("own.svg"), "own.svg")
        self.assertTrue(os.path.getsize("own.dot") and os.path.getsize("own.svg"))
        for what in (lambda: m.graph("jpg"), lambda: m.graph("svg", out="a.png"), lambda: d.graph(out="a.jpg"),
                     lambda: m.graph(colour="red")):
            with self.assertRaises(hlsgen.UsageError):
                what()
        with self.assertRaises(hlsgen.Error) as raised:
            m.graph(out="own.dot")
        self.assertEqual(raised.exception.code, "output-foreign")

    def compiled(self, m, x, want):
        for backend, engine in (("hls", "csim"), ("rtl", "rtl")):
            d = m.build("pynq-z1", backend=backend, fps=10_000, no_csim=True, verify=1, out="compiled-" + backend)
            with d.accelerator(engine=engine) as n:
                self.assertTrue(equal(n.predict(x[:3]), want[:3]), engine)

    def test_bar(self):
        """What a bar shows, in a notebook and as text; it leaves nothing."""
        from hlsgen._progress import _State

        for given, text, bar in (((), "", ""), (("a <b>",), "a <b>", '<progress max="1" style'),
                                 (("fold", 0.25), "fold: 25 %", '<progress max="1" value="0.250" style')):
            shown = _State(*given)
            self.assertEqual(repr(shown), text)
            self.assertTrue(shown._repr_html_().startswith(bar) and "<b>" not in shown._repr_html_())
            self.assertEqual(bool(shown._repr_html_()), bool(given))

    def test_options(self):
        """A design has the options of its model: integers that arrive, sizes of axes."""
        m = hlsgen.load(os.path.join(DIGITS, "model.onnx"), input_type="UINT8:1/255")
        x = np.arange(3 * 64, dtype=np.uint8).reshape(3, 64)
        d = hlsgen.open(m.build("zcu104", no_csim=True, verify=2, out="d").path)
        self.assertTrue(equal(d.predict(x), m.predict(x)))

    def test_other_version(self):
        d = digits()[0].build("pynq-z1", no_csim=True, verify=0, out="d")
        with open("d/manifest.json") as file:
            text = file.read()
        with open("d/manifest.json", "w") as file:
            file.write(text.replace('"tool": "hlsgen ', '"tool": "hlsgen v0.0.9-'))
        with self.assertWarns(UserWarning):
            other = hlsgen.open("d")
        self.assertEqual(other.fps, d.fps)
        with self.assertRaises(hlsgen.Error):
            other.predict(np.zeros((1, 64), np.float32))

    def test_sweep(self):
        m = hlsgen.load(os.path.join(IRIS, "model.onnx"))
        x, labels = (np.load(os.path.join(IRIS, f)) for f in ("inputs.npy", "labels.npy"))
        s = hlsgen.sweep(m, boards=["pynq-z1", "zcu104"], requantize="w=2..3,a=2", calibrate=x, x=x, labels=labels)
        self.assertEqual([(r.board, r.precision) for r in s.rows],
                         [("pynq-z1", "w2a2"), ("zcu104", "w2a2"), ("pynq-z1", "w3a2"), ("zcu104", "w3a2")]
                         if s.rows[1].board == "zcu104" else [("pynq-z1", "w2a2"), ("pynq-z1", "w3a2"), ("zcu104", "w2a2"),
                                                              ("zcu104", "w3a2")])
        self.assertIn("w3a2", s._repr_html_())
        self.assertEqual([r["chosen"] for r in s._flat()].count(True), 1)
        self.assertEqual({type(r["chosen"]) for r in s._flat()}, {bool})
        self.assertTrue(all(os.path.exists(p) for p in s.pictures()))
        self.assertEqual(len(m.pareto("pynq-z1", points=3).points) > 0, True)


class Errors(Folder):
    def raised(self, kind, what):
        with self.assertRaises(kind) as got:
            what()
        self.assertIsInstance(got.exception, hlsgen.Error)
        return got.exception

    def test_usage(self):
        m, x, _ = digits()
        e = self.raised(hlsgen.UsageError, lambda: m.build("pynq-z1", bord="x"))
        self.assertEqual("there is no keyword bord; did you mean board?", str(e))
        self.assertIn("did you mean input_type?", str(self.raised(
            hlsgen.UsageError, lambda: hlsgen.load(os.path.join(DIGITS, "model.onnx"), input_typ="UINT8"))))
        self.raised(hlsgen.UsageError, lambda: m.predict(x, engine="fst"))
        self.raised(hlsgen.UsageError, lambda: m.predict(x, x))
        self.assertTrue(issubclass(hlsgen.UsageError, TypeError))

    def test_not_mapped(self):
        m = hlsgen.load(os.path.join(os.path.dirname(os.environ["TEST_CASES"]), "unmapped.onnx"))
        c = m.check()
        self.assertFalse(c.ok)
        for what in (lambda: m.build("pynq-z1"), lambda: m.predict(np.zeros((1, 4), np.float32), engine="eval")):
            e = self.raised(hlsgen.NotMapped, what)
            self.assertTrue(e.code and e.hint and e.diagnostics)
            self.assertIn(e.node, [d.node for d in c.diagnostics])
        self.assertIn(e.code, c.found._repr_html_())

    def test_design(self):
        m, _, _ = digits()
        e = self.raised(hlsgen.DesignError, lambda: m.build("pynq-z1", fps=1e12))
        self.assertEqual(e.code, "fps-unreachable")
        self.assertEqual(self.raised(hlsgen.DesignError, lambda: m.build("nothing")).code, "board-unknown")

    def test_data(self):
        m, x, _ = digits()
        self.assertEqual(self.raised(hlsgen.DataError, lambda: m.predict(np.zeros((3, 5), np.float32))).code, "data-invalid")
        self.assertEqual(self.raised(hlsgen.DataError, lambda: hlsgen.load("none.onnx")).code, "file-unreadable")
        self.assertEqual(self.raised(hlsgen.DataError, lambda: hlsgen.load(b"none")).code, "model-malformed")
        self.raised(hlsgen.DataError, lambda: m.accuracy(x))
        self.assertTrue(issubclass(hlsgen.DataError, ValueError))

    def test_mismatch(self):
        """A planted error: the layer, the element and both codes are named."""
        m, x, _ = digits()
        y = m.predict(x)
        hlsgen.testing.assert_bit_exact(m, x, y)
        t = m.trace(x)
        last = m.check().layers[-1].name
        wrong = y.copy()
        wrong[3, 4] += 2 * t.scale[last].reshape(-1)[4]
        code = t.integers[last][3, 0, 4]
        e = self.raised(hlsgen.Mismatch, lambda: hlsgen.testing.assert_bit_exact(m, x, wrong))
        self.assertIn("layer %s, tensor " % last, str(e))
        self.assertIn("element [3, 4]: code %d, want %d" % (code, code + 2), str(e))
        self.raised(AssertionError, lambda: m.predict(x, compare=wrong))
        case = next(c for c in CASES if c["name"] == "two inputs and outputs")
        m, other = hlsgen.load(case["model"]), hlsgen.load(os.path.join(os.path.dirname(case["model"]), "planted.onnx"))
        x = {k: np.load(v) for k, v in case["x"].items()}
        hlsgen.testing.assert_bit_exact(m, x, m)
        e = self.raised(hlsgen.Mismatch, lambda: hlsgen.testing.assert_bit_exact(m, x, other))
        found = re.search(r"layer \w+, tensor '(\w+)', element (\[.*\]): code (-?\d+), want (-?\d+)$", str(e))
        self.assertIsNotNone(found, str(e))
        ours, theirs = (n.trace(x).integers[found.group(1)] for n in (m, other))
        at = tuple(json.loads(found.group(2)))
        self.assertEqual(at, tuple(np.argwhere(ours != theirs)[0]))
        self.assertEqual((int(found.group(3)), int(found.group(4))), (ours[at], theirs[at]))

    def test_process(self):
        was, _process.program = _process.program, lambda: "/nowhere/hlsgen"
        hlsgen.close()
        try:
            self.raised(hlsgen.ProcessError, digits)
        finally:
            _process.program = was

    def test_process_ends(self):
        """What a process says when it ends too early is told."""
        with self.stand_in('sys.exit("there is no memory")'):
            e = self.raised(hlsgen.ProcessError, hlsgen.boards)
            self.assertEqual(str(e), "hlsgen ended with code 1: there is no memory")

    def test_internal(self):
        """The answer to a request of which a defect of hlsgen was the end: cmd/hlsgen has a test that it has this form."""
        answer = {"exit": 70, "result": {"version": 2, "diagnostics": [], "error": "internal error: index 3"}}
        with self.stand_in("answer = %r\nanswer['id'] = json.loads(line)['id']\nprint(json.dumps(answer), flush=True)" % answer):
            e = self.raised(hlsgen.InternalError, hlsgen.boards)
            self.assertEqual(e.message, "internal error: index 3")
            self.assertIn("report it", e.hint)

    @contextlib.contextmanager
    def stand_in(self, does):
        """A program in place of hlsgen, which does something with each request."""
        text = """#!%s
import json, sys
print(json.dumps({"hlsgen": "v1.2", "version": 1, "limits": {"line_bytes": 1000, "part_bytes": 0}}), flush=True)
for line in sys.stdin:
%s
""" % (sys.executable, "".join("    %s\n" % row for row in does.splitlines()))
        with open("stand_in", "w") as file:
            file.write(text)
        os.chmod("stand_in", 0o700)
        hlsgen.close()
        was, _process.program = _process.program, lambda: os.path.abspath("stand_in")
        try:
            yield
        finally:
            hlsgen.close()
            _process.program = was

    def test_cancelled(self):
        """A request that is at work when another thread closes the process."""
        m, x, _ = digits()
        found, began = [], threading.Event()

        def work():
            try:
                m._ask("simulate", {"engine": "reference"}, np.repeat(x[:64], 1000, axis=0),  # minutes
                       progress=lambda phase, share: began.set())
            except hlsgen.Error as e:
                found.append(e)

        worker = threading.Thread(target=work)
        worker.start()
        began.wait()
        hlsgen.close()
        worker.join()
        self.assertEqual([type(e) for e in found], [hlsgen.Cancelled])
        self.assertEqual(str(found[0]), "interrupted")
        self.assertEqual(len(m.predict(x)), len(x))  # by another process


class Processes(Folder):
    def test_interrupt(self):
        """A Ctrl-C cancels what runs, and the process stays."""
        m, x, _ = digits()
        process = _process.running().process
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        begin = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            m.predict(np.repeat(x[:64], 5000, axis=0), engine="reference")  # minutes
        self.assertLess(time.monotonic() - begin, 20)
        self.assertIs(_process.running().process, process)
        self.assertEqual(len(m.predict(x)), len(x))

    def test_killed(self):
        """A process of Python that is killed leaves none after two seconds, whatever was at work."""
        text = """
import os, sys, threading, time
import numpy as np
import hlsgen
from hlsgen import _process
m = hlsgen.load(sys.argv[1])
x = np.zeros((300000, 64), np.float32)
threading.Thread(target=lambda: m.predict(x, engine="reference"), daemon=True).start()
if os.fork() == 0:  # holds the pipes
    time.sleep(20)
    os._exit(0)
time.sleep(0.5)
print(_process.running().process.pid, flush=True)
time.sleep(60)
"""
        with subprocess.Popen([sys.executable, "-c", text, os.path.join(DIGITS, "model.onnx")], stdout=subprocess.PIPE,
                              start_new_session=True) as python:
            server = int(python.stdout.readline())
            os.kill(server, 0)
            python.kill()
            end = time.monotonic() + 2
            while time.monotonic() < end and alive(server):
                time.sleep(0.05)
            self.assertFalse(alive(server))
            os.killpg(python.pid, signal.SIGKILL)

    @unittest.skipUnless(os.environ.get("TEST_COMPILERS") and os.path.exists("/proc/self"), "compilers, and Linux's list of processes")
    def test_killed_compiling(self):
        """Compilers end with a process of Python that is killed, too."""
        text = """
import sys
import numpy as np
import hlsgen
from hlsgen import _process
m = hlsgen.load(sys.argv[1])
d = m.build("pynq-z1", no_csim=True, verify=0, out=sys.argv[2])
print(_process.running().process.pid, flush=True)
%s
"""
        for k, (does, runs) in enumerate((('m.build("pynq-z1", fps=10_000, out="b")', "cc1plus"),
                                          ('d.accelerator(engine="csim")', "make"),
                                          ('d.predict(np.zeros((1, 64), np.float32), engine="rtl")', "verilator_bin"))):
            with self.subTest(runs), subprocess.Popen(
                    [sys.executable, "-c", text % does, os.path.join(DIGITS, "model.onnx"), "d%d" % k],
                    stdout=subprocess.PIPE) as python:
                server = int(python.stdout.readline())
                while runs not in session(server).values() and python.poll() is None:
                    time.sleep(0.01)
                self.assertIn(runs, session(server).values())
                python.kill()
                end = time.monotonic() + 2
                while time.monotonic() < end and session(server):
                    time.sleep(0.05)
                self.assertEqual(session(server), {})

    @unittest.skipUnless(os.environ.get("TEST_COMPILERS") and os.path.exists("/proc/self"), "compilers, and Linux's list of processes")
    def test_interrupt_compiling(self):
        """A Ctrl-C ends a compiler, and the next call makes the whole library."""
        m, x, _ = digits()
        d = m.build("pynq-z1", no_csim=True, verify=0, out="d")
        server = _process.running().process.pid

        def interrupt():
            while "cc1plus" not in session(server).values():
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        with self.assertRaises(KeyboardInterrupt):
            d.accelerator(engine="csim")
        self.assertEqual(list(session(server)), [server])
        self.assertTrue(equal(d.accelerator(engine="csim").predict(x[:2]), m.predict(x[:2])))

    def test_progress_raises(self):
        """What a function of the caller raises cancels the request."""
        def stop(phase, share):
            raise ZeroDivisionError

        m, _, _ = digits()
        with self.assertRaises(ZeroDivisionError):
            m.build("zcu104", search_time="10m", no_csim=True, out="d", progress=stop)
        self.assertFalse(os.path.exists("d"))

    def test_large(self):
        """An array that is too large is refused before it is sent, and the process takes no memory for it."""
        m, _, _ = digits()
        before = peak(_process.running().process.pid)
        large = np.zeros(1 << 28, np.float64)  # 2 GB, which Linux does not keep
        with self.assertRaises(hlsgen.DataError) as raised:
            m.predict(large)
        self.assertIn("2147483", str(raised.exception))
        if before is not None:
            self.assertLess(peak(_process.running().process.pid) - before, 50e6)


def session(leader):
    """The names of the processes in the session of a process, by their numbers."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid) as file:
                before, _, after = file.read().rpartition(")")
        except OSError:  # it has ended
            continue
        state, _, _, its = after.split()[:4]
        if int(its) == leader and state != "Z":
            found[int(pid)] = before.partition("(")[2]
    return found


def alive(pid):
    """Whether a process runs: one that has ended, and for which nobody waits, does not."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        pass
    try:
        os.kill(pid, 0)
        return not os.path.exists("/proc/self")
    except ProcessLookupError:
        return False


def peak(pid):
    """The most memory that a process had, in bytes, where Linux says it."""
    try:
        with open("/proc/%d/status" % pid) as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
    except OSError:
        return None


if __name__ == "__main__":
    unittest.main()
