"""Options as keywords. Written by go test ./cmd/hlsgen -run TestPython -update, of the command line's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, FrozenSet, NoReturn, Optional

from ._options import Arrays, Option, ProgressOption, options

if TYPE_CHECKING:
    from ._model import Accuracy, Check, Converted
    from ._design import Design
    from ._drawing import Drawing
    from ._results import ParetoResult, StatsResult, WeightsResult
    from ._sweep import Sweep
    from ._trace import Profile, Trace

FLAGS: Dict[str, FrozenSet[str]] = {  # by command, its options
    "boards": frozenset(["json"]),
    "build": frozenset(["board", "fps", "interval", "latency", "max-latency", "least", "search-time", "io", "clock", "max-use", "over-budget", "folding", "acc-per-pe", "max-unroll", "latencies", "fifo", "cost", "dim", "shape", "input-type", "input-mean", "input-std", "input-quant", "initial-state", "state", "outputs", "lstm-config", "cell-config", "stateful", "calibrate", "quantize", "scales", "equalize", "correct-bias", "lookup", "save-model", "interleave", "explain", "pareto", "points", "on-interrupt", "input", "labels", "verify", "backend", "counters", "ila", "saif", "weights", "no-csim", "out", "force", "with-model", "json", "acc-bits", "strict", "dump-passes", "passes-until", "config", "quiet", "verbose", "log-format"]),
    "check": frozenset(["dim", "shape", "input-type", "input-mean", "input-std", "input-quant", "initial-state", "state", "outputs", "lstm-config", "cell-config", "stateful", "calibrate", "quantize", "scales", "equalize", "correct-bias", "lookup", "save-model", "interleave", "acc-bits", "input", "strict", "dump-passes", "passes-until", "json", "config", "quiet", "verbose", "log-format"]),
    "collect": frozenset(["measured", "csv", "force", "json", "config", "quiet", "verbose", "log-format"]),
    "convert": frozenset(["to", "clean", "out", "dim", "shape", "force", "strict", "json", "config", "quiet", "verbose", "log-format"]),
    "formats": frozenset(["length", "board", "models", "json", "config", "quiet", "verbose", "log-format"]),
    "graph": frozenset(["out", "force", "dim", "shape", "input-type", "input-mean", "input-std", "input-quant", "initial-state", "state", "outputs", "lstm-config", "cell-config", "stateful", "calibrate", "quantize", "scales", "equalize", "correct-bias", "lookup", "save-model", "interleave", "strict", "json", "config", "quiet", "verbose", "log-format"]),
    "latencies": frozenset(["out", "force", "json", "config", "quiet", "verbose", "log-format"]),
    "report": frozenset(["out", "force", "serve", "built-from", "json", "config", "quiet", "verbose", "log-format"]),
    "simulate": frozenset(["input", "labels", "lengths", "output", "engine", "compare", "acc-overflow", "acc-bits", "acc-order", "trace", "codes", "trace-vcd", "timeline", "decode", "strict", "json", "board", "fps", "interval", "latency", "max-latency", "least", "search-time", "io", "clock", "max-use", "over-budget", "folding", "acc-per-pe", "max-unroll", "latencies", "fifo", "cost", "dim", "shape", "input-type", "input-mean", "input-std", "input-quant", "initial-state", "state", "outputs", "lstm-config", "cell-config", "stateful", "calibrate", "quantize", "scales", "equalize", "correct-bias", "lookup", "save-model", "interleave", "config", "quiet", "verbose", "log-format"]),
    "stats": frozenset(["data", "plot", "dim", "shape", "input-type", "input-mean", "input-std", "input-quant", "initial-state", "state", "outputs", "lstm-config", "cell-config", "stateful", "strict", "json", "config", "quiet", "verbose", "log-format"]),
    "sweep": frozenset(["board", "clock", "fps", "interval", "latency", "max-latency", "least", "bound", "pareto", "points", "memory", "compute", "max-use", "io", "acc-per-pe", "max-unroll", "fifo", "cost", "latencies", "dim", "shape", "input-type", "input-mean", "input-std", "input-quant", "initial-state", "state", "outputs", "lstm-config", "cell-config", "stateful", "calibrate", "quantize", "scales", "equalize", "correct-bias", "lookup", "save-model", "input", "labels", "requantize", "keep", "backend", "interleave", "out", "force", "jobs", "collect", "strict", "json", "config", "quiet", "verbose", "log-format"]),
    "synth": frozenset(["until", "backend", "jobs", "json", "config", "quiet", "verbose", "log-format"]),
    "weights": frozenset(["for", "out", "dim", "shape", "input-type", "input-mean", "input-std", "input-quant", "initial-state", "state", "outputs", "lstm-config", "cell-config", "stateful", "strict", "json", "config", "quiet", "verbose", "log-format"]),
}

FORMS = ("svg", "png", "dot", "onnx")  # of drawings


class Commands:
    """The methods of a model whose keywords are the options of a command."""

    _check: Callable[..., "Check"]
    _stats: Callable[..., "StatsResult"]
    _predict: Callable[..., "Any"]
    _accuracy: Callable[..., "Accuracy"]
    _trace: Callable[..., "Trace"]
    _profile: Callable[..., "Profile"]
    _build: Callable[..., "Design"]
    _pareto: Callable[..., "ParetoResult"]
    _sweep: Callable[..., "Sweep"]
    _convert: Callable[..., "Converted"]
    _graph: Callable[..., "Drawing"]
    _weights: Callable[..., "WeightsResult"]

    def check(self, x: Arrays = None, *, dim: Option = None, shape: Option = None, input_type: Option = None, input_mean: Option = None, input_std: Option = None, input_quant: Option = None, initial_state: Option = None, state: Option = None, outputs: Option = None, lstm_config: Option = None, cell_config: Option = None, stateful: Optional[bool] = None, calibrate: Option = None, quantize: Option = None, scales: Option = None, equalize: Optional[bool] = None, correct_bias: Optional[bool] = None, lookup: Option = None, save_model: Option = None, interleave: Option = None, acc_bits: Option = None, strict: Optional[bool] = None, dump_passes: Option = None, passes_until: Option = None, **unknown: NoReturn) -> "Check":
        """Check imports a model and shows what becomes of every node: the layer that computes it, a constant, a part
        that stays on the host, or not mapped, with the reason and what to do about it. Then it shows the layers,
        their types, and the widths of their accumulators by four rules: from the data types, from the weights' l1
        norm, from the l1 norm of weights that sum to zero, and exactly. With --acc-bits it audits the accumulators:
        in the integers that the model declares, over all that its quantisers can give, and as they are built. With
        --input it counts what samples put into them. The exit code is 1 if the model cannot be built, or an
        accumulator does not fit.

        dim: size of a dynamic axis, such as T=520 (may be repeated); or the lengths of sequences, such as T=1..520
        shape: sizes of all axes of an input, such as x=1,3,48,192 (may be repeated; the only input needs no name):
        binds axes without a name, and axes of one name that differ
        input_type: inputs arrive as integers of this type whose value is SCALE times the integer, plus OFFSET:
        UINT8, UINT8:1/255, UINT8:1/255:-0.5 (default scale 1, offset 0); at most 16 bits
        input_mean: with --input-type: subtract this from the values, of all channels or of each: 0.485,0.456,0.406;
        of one input, image=0.485,0.456,0.406 (may be repeated)
        input_std: with --input-type: divide the values by this, after the mean is subtracted: 0.229,0.224,0.225; of
        one input as with --input-mean
        input_quant: put a quantiser behind real inputs that have none: INT8:0.0625; this changes the model
        initial_state: what recurrences begin with where that arrives on an input as real numbers: zero, a constant,
        or quant, the loop's own quantiser behind the input; of all, or of some, h0=zero,c0=quant (may be repeated);
        this changes the model
        state: an input and an output that are one state, such as state=stateN (may be repeated): samples follow
        each other, and what goes out comes in with the next one; with --stateful, the device keeps it
        outputs: cut the model: these tensors of the file are its outputs, in this order, and what only others need
        is left out
        lstm_config: JSON file with the formats of the gates of ONNX LSTM nodes, whose gates are real numbers; this
        changes the model
        cell_config: the same for ONNX GRU, RNN and LSTM nodes, by the names of nodes or of operators; this changes
        the model
        stateful: samples are pieces of one stream, in order: recurrences go on with the state that they ended with
        in the sample before
        calibrate: samples, .npy or .npz: the model is quantised on them first, where it is not, or where its scales
        come from the data of each run. This changes the model
        quantize: with --calibrate: formats of weights and activations, w8a8 (default), w4a8, we4m3ae4m3, w8a8p16
        for accumulators of 16 bits
        scales: with --calibrate: how scales are chosen: mse (default), the least square error; max, the largest
        value; percentile, what 99.9 % do not exceed
        equalize: with --calibrate: channels of activations have scales of their own where weights alone multiply
        them, which take these up, and where the samples say that it helps
        correct_bias: with --calibrate: biases make up for what the rounding of weights takes off the mean of each
        output channel
        lookup: with --calibrate: where integers look rows of tables up: device, a table or a product of ones and
        zeros there; host, which sends rows. Without it, products on the device, choices of rows (Gather) on the
        host
        save_model: with --calibrate: write the quantised model, ONNX (QONNX)
        interleave: so many samples take turns in recurrences, which hides the latency of a step; a frame is then so
        many samples
        acc_bits: report every accumulator that needs more bits as an error: 16, by layer, LAYER=12,LAYER=10, or of
        the matrix layers but the first and the last, hidden=10
        strict: take every warning for an error: nothing is written then
        dump_passes: write the graph after every pass to this folder
        passes_until: run only the first N passes (see hlsgen passes)
        """
        return self._check(x, options(locals()))

    def stats(self, x: Arrays = None, *, plot: Option = None, dim: Option = None, shape: Option = None, input_type: Option = None, input_mean: Option = None, input_std: Option = None, input_quant: Option = None, initial_state: Option = None, state: Option = None, outputs: Option = None, lstm_config: Option = None, cell_config: Option = None, stateful: Optional[bool] = None, strict: Optional[bool] = None, **unknown: NoReturn) -> "StatsResult":
        """Stats counts what a model computes and stores, as the file has it: per node with products and in total, for
        one sample. It takes every model that can be executed, whether it can be built or not. MACs products that
        are added up; a convolution counts once per output position, a recurrence once per step effective those with
        a weight other than 0 BOPs bit operations, by arXiv 2102.11289: MACs * ((1 - zeros) * a * w + a + w +
        log2(terms)), of a input bits, w weight bits and so many products in a sum entropy bits per weight that a
        lossless code needs, arXiv 2301.13376 states with --data: which neurons give more than 0, how often, and the
        entropy of that over their number (neural efficiency, 2102.11289) --json has more: zeros per channel, every
        product of a recurrence, and the figures of qonnx' inference_cost.

        plot: draw the bit operations of every layer, .svg or .png
        dim: size of a dynamic axis, such as T=520 (may be repeated); or the lengths of sequences, such as T=1..520
        shape: sizes of all axes of an input, such as x=1,3,48,192 (may be repeated; the only input needs no name):
        binds axes without a name, and axes of one name that differ
        input_type: inputs arrive as integers of this type whose value is SCALE times the integer, plus OFFSET:
        UINT8, UINT8:1/255, UINT8:1/255:-0.5 (default scale 1, offset 0); at most 16 bits
        input_mean: with --input-type: subtract this from the values, of all channels or of each: 0.485,0.456,0.406;
        of one input, image=0.485,0.456,0.406 (may be repeated)
        input_std: with --input-type: divide the values by this, after the mean is subtracted: 0.229,0.224,0.225; of
        one input as with --input-mean
        input_quant: put a quantiser behind real inputs that have none: INT8:0.0625; this changes the model
        initial_state: what recurrences begin with where that arrives on an input as real numbers: zero, a constant,
        or quant, the loop's own quantiser behind the input; of all, or of some, h0=zero,c0=quant (may be repeated);
        this changes the model
        state: an input and an output that are one state, such as state=stateN (may be repeated): samples follow
        each other, and what goes out comes in with the next one; with --stateful, the device keeps it
        outputs: cut the model: these tensors of the file are its outputs, in this order, and what only others need
        is left out
        lstm_config: JSON file with the formats of the gates of ONNX LSTM nodes, whose gates are real numbers; this
        changes the model
        cell_config: the same for ONNX GRU, RNN and LSTM nodes, by the names of nodes or of operators; this changes
        the model
        stateful: samples are pieces of one stream, in order: recurrences go on with the state that they ended with
        in the sample before
        strict: take every warning for an error: nothing is written then
        """
        return self._stats(x, options(locals()))

    def predict(self, *x: Arrays, lengths: Arrays = None, codes: bool = False, engine: Option = None, compare: Option = None, acc_overflow: Option = None, acc_bits: Option = None, acc_order: Option = None, trace_vcd: Option = None, timeline: Option = None, decode: Option = None, strict: Optional[bool] = None, board: Option = None, fps: Option = None, interval: Option = None, latency: Optional[bool] = None, max_latency: Option = None, least: Option = None, search_time: Option = None, io: Option = None, clock: Option = None, max_use: Option = None, over_budget: Optional[bool] = None, folding: Option = None, acc_per_pe: Optional[bool] = None, max_unroll: Option = None, latencies: Option = None, fifo: Option = None, cost: Option = None, dim: Option = None, shape: Option = None, input_type: Option = None, input_mean: Option = None, input_std: Option = None, input_quant: Option = None, initial_state: Option = None, state: Option = None, outputs: Option = None, lstm_config: Option = None, cell_config: Option = None, stateful: Optional[bool] = None, calibrate: Option = None, quantize: Option = None, scales: Option = None, equalize: Optional[bool] = None, correct_bias: Optional[bool] = None, lookup: Option = None, save_model: Option = None, interleave: Option = None, **unknown: NoReturn) -> "Any":
        """Runs the model on samples, and returns what it gives: an array, or a dict of arrays by name where the model
        has several outputs. x are arrays, one for each input in their order, or a dict of them by name. With codes
        the result is the integers that leave the accelerator.

        engine: one of reference, float, fast, eval, cycle, csim, circuit, rtl, netlist
        compare: outputs to compare with; a difference ends with exit code 3
        acc_overflow: what narrower accumulators would do: wrap, the sum modulo 2^BITS; saturate, clip after every
        product; with --acc-bits; this changes the model
        acc_bits: the bits of accumulators with --acc-overflow: 16, by layer, LAYER=12,LAYER=10, or of the matrix
        layers but the first and the last, hidden=10
        acc_order: with --acc-overflow saturate: so many random orders of products, and their spread
        trace_vcd: with engine cycle: write every stream with its words, clock by clock, as a value change dump for
        GTKWave; .fst is compressed, by vcd2fst
        timeline: with engine cycle: draw when layers worked and waited, as SVG, or as .json for Perfetto
        decode: how scores become text: greedy, peaks, none (default as the model's metadata say)
        strict: take every warning for an error: nothing is written then
        board: a board's name (see hlsgen boards) or the path of a board file
        fps: samples per second to reach with the least resources; without it, as many as fit
        interval: clocks from frame to frame to reach with the least resources, instead of --fps
        latency: look for the shortest latency of a frame that the budget allows, at the asked rate or at any,
        whatever it takes
        max_latency: clocks from a frame's first word to its last result, to keep with the least resources
        least: what the least resources are: load, the largest share of the budget that any kind takes; or one kind:
        lut, ff, bram, uram, dsp
        search_time: let the search for the folding take this long, such as 30s; without it, a fixed amount of work,
        the same on every machine
        io: where frames come from: memory, through the processor's ports and its bandwidth; or stream, from inside
        the FPGA, a word in every clock
        clock: clock; without it, the board's default
        max_use: budget: guideline (the default), with which designs are known to meet their clock: LUT 0.7, FF 0.5,
        LUT RAM 0.25, block RAM, UltraRAM and DSP 0.8, their mean 0.7. Or 0.8, a share of everything; or single
        ones, lut=0.7,bram=0.9
        over_budget: where no design is within the budget, take the one that exceeds it least
        folding: folding file to honour, in the form of folding.json
        acc_per_pe: give every PE an accumulator as wide as its own channels need, not all the width of the layer's
        widest
        max_unroll: the most products that one process computes in a clock: of factors of more than 4 bits, of 2 to
        4, and of 1 bit; or one number for all. Wider layers become several processes (SystemVerilog alone: as many
        as add 131072 bits, unless this is given)
        latencies: what hlsgen latencies made from your reports of synthesis: latencies follow from it instead of
        from hlsgen's tables
        fifo: depth of FIFOs: throughput, the smallest that cost no speed; minimal, the smallest without deadlock;
        or a number of words for all
        cost: how resources are estimated: hlsgen, fitted on synthesis, or finn, by FINN's formulas
        dim: size of a dynamic axis, such as T=520 (may be repeated); or the lengths of sequences, such as T=1..520
        shape: sizes of all axes of an input, such as x=1,3,48,192 (may be repeated; the only input needs no name):
        binds axes without a name, and axes of one name that differ
        input_type: inputs arrive as integers of this type whose value is SCALE times the integer, plus OFFSET:
        UINT8, UINT8:1/255, UINT8:1/255:-0.5 (default scale 1, offset 0); at most 16 bits
        input_mean: with --input-type: subtract this from the values, of all channels or of each: 0.485,0.456,0.406;
        of one input, image=0.485,0.456,0.406 (may be repeated)
        input_std: with --input-type: divide the values by this, after the mean is subtracted: 0.229,0.224,0.225; of
        one input as with --input-mean
        input_quant: put a quantiser behind real inputs that have none: INT8:0.0625; this changes the model
        initial_state: what recurrences begin with where that arrives on an input as real numbers: zero, a constant,
        or quant, the loop's own quantiser behind the input; of all, or of some, h0=zero,c0=quant (may be repeated);
        this changes the model
        state: an input and an output that are one state, such as state=stateN (may be repeated): samples follow
        each other, and what goes out comes in with the next one; with --stateful, the device keeps it
        outputs: cut the model: these tensors of the file are its outputs, in this order, and what only others need
        is left out
        lstm_config: JSON file with the formats of the gates of ONNX LSTM nodes, whose gates are real numbers; this
        changes the model
        cell_config: the same for ONNX GRU, RNN and LSTM nodes, by the names of nodes or of operators; this changes
        the model
        stateful: samples are pieces of one stream, in order: recurrences go on with the state that they ended with
        in the sample before
        calibrate: samples, .npy or .npz: the model is quantised on them first, where it is not, or where its scales
        come from the data of each run. This changes the model
        quantize: with --calibrate: formats of weights and activations, w8a8 (default), w4a8, we4m3ae4m3, w8a8p16
        for accumulators of 16 bits
        scales: with --calibrate: how scales are chosen: mse (default), the least square error; max, the largest
        value; percentile, what 99.9 % do not exceed
        equalize: with --calibrate: channels of activations have scales of their own where weights alone multiply
        them, which take these up, and where the samples say that it helps
        correct_bias: with --calibrate: biases make up for what the rounding of weights takes off the mean of each
        output channel
        lookup: with --calibrate: where integers look rows of tables up: device, a table or a product of ones and
        zeros there; host, which sends rows. Without it, products on the device, choices of rows (Gather) on the
        host
        save_model: with --calibrate: write the quantised model, ONNX (QONNX)
        interleave: so many samples take turns in recurrences, which hides the latency of a step; a frame is then so
        many samples
        """
        return self._predict(x, lengths, codes, options(locals()))

    def accuracy(self, x: Arrays = None, labels: Arrays = None, *, lengths: Arrays = None, engine: Option = None, compare: Option = None, acc_overflow: Option = None, acc_bits: Option = None, acc_order: Option = None, trace_vcd: Option = None, timeline: Option = None, decode: Option = None, strict: Optional[bool] = None, board: Option = None, fps: Option = None, interval: Option = None, latency: Optional[bool] = None, max_latency: Option = None, least: Option = None, search_time: Option = None, io: Option = None, clock: Option = None, max_use: Option = None, over_budget: Optional[bool] = None, folding: Option = None, acc_per_pe: Optional[bool] = None, max_unroll: Option = None, latencies: Option = None, fifo: Option = None, cost: Option = None, dim: Option = None, shape: Option = None, input_type: Option = None, input_mean: Option = None, input_std: Option = None, input_quant: Option = None, initial_state: Option = None, state: Option = None, outputs: Option = None, lstm_config: Option = None, cell_config: Option = None, stateful: Optional[bool] = None, calibrate: Option = None, quantize: Option = None, scales: Option = None, equalize: Optional[bool] = None, correct_bias: Optional[bool] = None, lookup: Option = None, save_model: Option = None, interleave: Option = None, **unknown: NoReturn) -> "Accuracy":
        """Counts the samples of which the model gives the right class.

        engine: one of reference, float, fast, eval, cycle, csim, circuit, rtl, netlist
        compare: outputs to compare with; a difference ends with exit code 3
        acc_overflow: what narrower accumulators would do: wrap, the sum modulo 2^BITS; saturate, clip after every
        product; with --acc-bits; this changes the model
        acc_bits: the bits of accumulators with --acc-overflow: 16, by layer, LAYER=12,LAYER=10, or of the matrix
        layers but the first and the last, hidden=10
        acc_order: with --acc-overflow saturate: so many random orders of products, and their spread
        trace_vcd: with engine cycle: write every stream with its words, clock by clock, as a value change dump for
        GTKWave; .fst is compressed, by vcd2fst
        timeline: with engine cycle: draw when layers worked and waited, as SVG, or as .json for Perfetto
        decode: how scores become text: greedy, peaks, none (default as the model's metadata say)
        strict: take every warning for an error: nothing is written then
        board: a board's name (see hlsgen boards) or the path of a board file
        fps: samples per second to reach with the least resources; without it, as many as fit
        interval: clocks from frame to frame to reach with the least resources, instead of --fps
        latency: look for the shortest latency of a frame that the budget allows, at the asked rate or at any,
        whatever it takes
        max_latency: clocks from a frame's first word to its last result, to keep with the least resources
        least: what the least resources are: load, the largest share of the budget that any kind takes; or one kind:
        lut, ff, bram, uram, dsp
        search_time: let the search for the folding take this long, such as 30s; without it, a fixed amount of work,
        the same on every machine
        io: where frames come from: memory, through the processor's ports and its bandwidth; or stream, from inside
        the FPGA, a word in every clock
        clock: clock; without it, the board's default
        max_use: budget: guideline (the default), with which designs are known to meet their clock: LUT 0.7, FF 0.5,
        LUT RAM 0.25, block RAM, UltraRAM and DSP 0.8, their mean 0.7. Or 0.8, a share of everything; or single
        ones, lut=0.7,bram=0.9
        over_budget: where no design is within the budget, take the one that exceeds it least
        folding: folding file to honour, in the form of folding.json
        acc_per_pe: give every PE an accumulator as wide as its own channels need, not all the width of the layer's
        widest
        max_unroll: the most products that one process computes in a clock: of factors of more than 4 bits, of 2 to
        4, and of 1 bit; or one number for all. Wider layers become several processes (SystemVerilog alone: as many
        as add 131072 bits, unless this is given)
        latencies: what hlsgen latencies made from your reports of synthesis: latencies follow from it instead of
        from hlsgen's tables
        fifo: depth of FIFOs: throughput, the smallest that cost no speed; minimal, the smallest without deadlock;
        or a number of words for all
        cost: how resources are estimated: hlsgen, fitted on synthesis, or finn, by FINN's formulas
        dim: size of a dynamic axis, such as T=520 (may be repeated); or the lengths of sequences, such as T=1..520
        shape: sizes of all axes of an input, such as x=1,3,48,192 (may be repeated; the only input needs no name):
        binds axes without a name, and axes of one name that differ
        input_type: inputs arrive as integers of this type whose value is SCALE times the integer, plus OFFSET:
        UINT8, UINT8:1/255, UINT8:1/255:-0.5 (default scale 1, offset 0); at most 16 bits
        input_mean: with --input-type: subtract this from the values, of all channels or of each: 0.485,0.456,0.406;
        of one input, image=0.485,0.456,0.406 (may be repeated)
        input_std: with --input-type: divide the values by this, after the mean is subtracted: 0.229,0.224,0.225; of
        one input as with --input-mean
        input_quant: put a quantiser behind real inputs that have none: INT8:0.0625; this changes the model
        initial_state: what recurrences begin with where that arrives on an input as real numbers: zero, a constant,
        or quant, the loop's own quantiser behind the input; of all, or of some, h0=zero,c0=quant (may be repeated);
        this changes the model
        state: an input and an output that are one state, such as state=stateN (may be repeated): samples follow
        each other, and what goes out comes in with the next one; with --stateful, the device keeps it
        outputs: cut the model: these tensors of the file are its outputs, in this order, and what only others need
        is left out
        lstm_config: JSON file with the formats of the gates of ONNX LSTM nodes, whose gates are real numbers; this
        changes the model
        cell_config: the same for ONNX GRU, RNN and LSTM nodes, by the names of nodes or of operators; this changes
        the model
        stateful: samples are pieces of one stream, in order: recurrences go on with the state that they ended with
        in the sample before
        calibrate: samples, .npy or .npz: the model is quantised on them first, where it is not, or where its scales
        come from the data of each run. This changes the model
        quantize: with --calibrate: formats of weights and activations, w8a8 (default), w4a8, we4m3ae4m3, w8a8p16
        for accumulators of 16 bits
        scales: with --calibrate: how scales are chosen: mse (default), the least square error; max, the largest
        value; percentile, what 99.9 % do not exceed
        equalize: with --calibrate: channels of activations have scales of their own where weights alone multiply
        them, which take these up, and where the samples say that it helps
        correct_bias: with --calibrate: biases make up for what the rounding of weights takes off the mean of each
        output channel
        lookup: with --calibrate: where integers look rows of tables up: device, a table or a product of ones and
        zeros there; host, which sends rows. Without it, products on the device, choices of rows (Gather) on the
        host
        save_model: with --calibrate: write the quantised model, ONNX (QONNX)
        interleave: so many samples take turns in recurrences, which hides the latency of a step; a frame is then so
        many samples
        """
        return self._accuracy(x, labels, lengths, options(locals()))

    def trace(self, *x: Arrays, lengths: Arrays = None, engine: Option = None, compare: Option = None, acc_overflow: Option = None, acc_bits: Option = None, acc_order: Option = None, trace_vcd: Option = None, timeline: Option = None, decode: Option = None, strict: Optional[bool] = None, board: Option = None, fps: Option = None, interval: Option = None, latency: Optional[bool] = None, max_latency: Option = None, least: Option = None, search_time: Option = None, io: Option = None, clock: Option = None, max_use: Option = None, over_budget: Optional[bool] = None, folding: Option = None, acc_per_pe: Optional[bool] = None, max_unroll: Option = None, latencies: Option = None, fifo: Option = None, cost: Option = None, dim: Option = None, shape: Option = None, input_type: Option = None, input_mean: Option = None, input_std: Option = None, input_quant: Option = None, initial_state: Option = None, state: Option = None, outputs: Option = None, lstm_config: Option = None, cell_config: Option = None, stateful: Optional[bool] = None, calibrate: Option = None, quantize: Option = None, scales: Option = None, equalize: Optional[bool] = None, correct_bias: Optional[bool] = None, lookup: Option = None, save_model: Option = None, interleave: Option = None, **unknown: NoReturn) -> "Trace":
        """Runs the model on samples, and returns every tensor, by its name in the ONNX file or by the layer that
        computes it. Engine reference has all tensors of the file; others have those that streams carry, with their
        integers.

        engine: one of reference, float, fast, eval, cycle, csim, circuit, rtl, netlist
        compare: outputs to compare with; a difference ends with exit code 3
        acc_overflow: what narrower accumulators would do: wrap, the sum modulo 2^BITS; saturate, clip after every
        product; with --acc-bits; this changes the model
        acc_bits: the bits of accumulators with --acc-overflow: 16, by layer, LAYER=12,LAYER=10, or of the matrix
        layers but the first and the last, hidden=10
        acc_order: with --acc-overflow saturate: so many random orders of products, and their spread
        trace_vcd: with engine cycle: write every stream with its words, clock by clock, as a value change dump for
        GTKWave; .fst is compressed, by vcd2fst
        timeline: with engine cycle: draw when layers worked and waited, as SVG, or as .json for Perfetto
        decode: how scores become text: greedy, peaks, none (default as the model's metadata say)
        strict: take every warning for an error: nothing is written then
        board: a board's name (see hlsgen boards) or the path of a board file
        fps: samples per second to reach with the least resources; without it, as many as fit
        interval: clocks from frame to frame to reach with the least resources, instead of --fps
        latency: look for the shortest latency of a frame that the budget allows, at the asked rate or at any,
        whatever it takes
        max_latency: clocks from a frame's first word to its last result, to keep with the least resources
        least: what the least resources are: load, the largest share of the budget that any kind takes; or one kind:
        lut, ff, bram, uram, dsp
        search_time: let the search for the folding take this long, such as 30s; without it, a fixed amount of work,
        the same on every machine
        io: where frames come from: memory, through the processor's ports and its bandwidth; or stream, from inside
        the FPGA, a word in every clock
        clock: clock; without it, the board's default
        max_use: budget: guideline (the default), with which designs are known to meet their clock: LUT 0.7, FF 0.5,
        LUT RAM 0.25, block RAM, UltraRAM and DSP 0.8, their mean 0.7. Or 0.8, a share of everything; or single
        ones, lut=0.7,bram=0.9
        over_budget: where no design is within the budget, take the one that exceeds it least
        folding: folding file to honour, in the form of folding.json
        acc_per_pe: give every PE an accumulator as wide as its own channels need, not all the width of the layer's
        widest
        max_unroll: the most products that one process computes in a clock: of factors of more than 4 bits, of 2 to
        4, and of 1 bit; or one number for all. Wider layers become several processes (SystemVerilog alone: as many
        as add 131072 bits, unless this is given)
        latencies: what hlsgen latencies made from your reports of synthesis: latencies follow from it instead of
        from hlsgen's tables
        fifo: depth of FIFOs: throughput, the smallest that cost no speed; minimal, the smallest without deadlock;
        or a number of words for all
        cost: how resources are estimated: hlsgen, fitted on synthesis, or finn, by FINN's formulas
        dim: size of a dynamic axis, such as T=520 (may be repeated); or the lengths of sequences, such as T=1..520
        shape: sizes of all axes of an input, such as x=1,3,48,192 (may be repeated; the only input needs no name):
        binds axes without a name, and axes of one name that differ
        input_type: inputs arrive as integers of this type whose value is SCALE times the integer, plus OFFSET:
        UINT8, UINT8:1/255, UINT8:1/255:-0.5 (default scale 1, offset 0); at most 16 bits
        input_mean: with --input-type: subtract this from the values, of all channels or of each: 0.485,0.456,0.406;
        of one input, image=0.485,0.456,0.406 (may be repeated)
        input_std: with --input-type: divide the values by this, after the mean is subtracted: 0.229,0.224,0.225; of
        one input as with --input-mean
        input_quant: put a quantiser behind real inputs that have none: INT8:0.0625; this changes the model
        initial_state: what recurrences begin with where that arrives on an input as real numbers: zero, a constant,
        or quant, the loop's own quantiser behind the input; of all, or of some, h0=zero,c0=quant (may be repeated);
        this changes the model
        state: an input and an output that are one state, such as state=stateN (may be repeated): samples follow
        each other, and what goes out comes in with the next one; with --stateful, the device keeps it
        outputs: cut the model: these tensors of the file are its outputs, in this order, and what only others need
        is left out
        lstm_config: JSON file with the formats of the gates of ONNX LSTM nodes, whose gates are real numbers; this
        changes the model
        cell_config: the same for ONNX GRU, RNN and LSTM nodes, by the names of nodes or of operators; this changes
        the model
        stateful: samples are pieces of one stream, in order: recurrences go on with the state that they ended with
        in the sample before
        calibrate: samples, .npy or .npz: the model is quantised on them first, where it is not, or where its scales
        come from the data of each run. This changes the model
        quantize: with --calibrate: formats of weights and activations, w8a8 (default), w4a8, we4m3ae4m3, w8a8p16
        for accumulators of 16 bits
        scales: with --calibrate: how scales are chosen: mse (default), the least square error; max, the largest
        value; percentile, what 99.9 % do not exceed
        equalize: with --calibrate: channels of activations have scales of their own where weights alone multiply
        them, which take these up, and where the samples say that it helps
        correct_bias: with --calibrate: biases make up for what the rounding of weights takes off the mean of each
        output channel
        lookup: with --calibrate: where integers look rows of tables up: device, a table or a product of ones and
        zeros there; host, which sends rows. Without it, products on the device, choices of rows (Gather) on the
        host
        save_model: with --calibrate: write the quantised model, ONNX (QONNX)
        interleave: so many samples take turns in recurrences, which hides the latency of a step; a frame is then so
        many samples
        """
        return self._trace(x, lengths, options(locals()))

    def profile(self, *x: Arrays, lengths: Arrays = None, engine: Option = None, compare: Option = None, acc_overflow: Option = None, acc_bits: Option = None, acc_order: Option = None, trace_vcd: Option = None, timeline: Option = None, decode: Option = None, strict: Optional[bool] = None, board: Option = None, fps: Option = None, interval: Option = None, latency: Optional[bool] = None, max_latency: Option = None, least: Option = None, search_time: Option = None, io: Option = None, clock: Option = None, max_use: Option = None, over_budget: Optional[bool] = None, folding: Option = None, acc_per_pe: Optional[bool] = None, max_unroll: Option = None, latencies: Option = None, fifo: Option = None, cost: Option = None, dim: Option = None, shape: Option = None, input_type: Option = None, input_mean: Option = None, input_std: Option = None, input_quant: Option = None, initial_state: Option = None, state: Option = None, outputs: Option = None, lstm_config: Option = None, cell_config: Option = None, stateful: Optional[bool] = None, calibrate: Option = None, quantize: Option = None, scales: Option = None, equalize: Optional[bool] = None, correct_bias: Optional[bool] = None, lookup: Option = None, save_model: Option = None, interleave: Option = None, **unknown: NoReturn) -> "Profile":
        """Runs the model on samples, and says what values tensors have: ranges, histograms, saturation and entropy.

        engine: one of reference, float, fast, eval, cycle, csim, circuit, rtl, netlist
        compare: outputs to compare with; a difference ends with exit code 3
        acc_overflow: what narrower accumulators would do: wrap, the sum modulo 2^BITS; saturate, clip after every
        product; with --acc-bits; this changes the model
        acc_bits: the bits of accumulators with --acc-overflow: 16, by layer, LAYER=12,LAYER=10, or of the matrix
        layers but the first and the last, hidden=10
        acc_order: with --acc-overflow saturate: so many random orders of products, and their spread
        trace_vcd: with engine cycle: write every stream with its words, clock by clock, as a value change dump for
        GTKWave; .fst is compressed, by vcd2fst
        timeline: with engine cycle: draw when layers worked and waited, as SVG, or as .json for Perfetto
        decode: how scores become text: greedy, peaks, none (default as the model's metadata say)
        strict: take every warning for an error: nothing is written then
        board: a board's name (see hlsgen boards) or the path of a board file
        fps: samples per second to reach with the least resources; without it, as many as fit
        interval: clocks from frame to frame to reach with the least resources, instead of --fps
        latency: look for the shortest latency of a frame that the budget allows, at the asked rate or at any,
        whatever it takes
        max_latency: clocks from a frame's first word to its last result, to keep with the least resources
        least: what the least resources are: load, the largest share of the budget that any kind takes; or one kind:
        lut, ff, bram, uram, dsp
        search_time: let the search for the folding take this long, such as 30s; without it, a fixed amount of work,
        the same on every machine
        io: where frames come from: memory, through the processor's ports and its bandwidth; or stream, from inside
        the FPGA, a word in every clock
        clock: clock; without it, the board's default
        max_use: budget: guideline (the default), with which designs are known to meet their clock: LUT 0.7, FF 0.5,
        LUT RAM 0.25, block RAM, UltraRAM and DSP 0.8, their mean 0.7. Or 0.8, a share of everything; or single
        ones, lut=0.7,bram=0.9
        over_budget: where no design is within the budget, take the one that exceeds it least
        folding: folding file to honour, in the form of folding.json
        acc_per_pe: give every PE an accumulator as wide as its own channels need, not all the width of the layer's
        widest
        max_unroll: the most products that one process computes in a clock: of factors of more than 4 bits, of 2 to
        4, and of 1 bit; or one number for all. Wider layers become several processes (SystemVerilog alone: as many
        as add 131072 bits, unless this is given)
        latencies: what hlsgen latencies made from your reports of synthesis: latencies follow from it instead of
        from hlsgen's tables
        fifo: depth of FIFOs: throughput, the smallest that cost no speed; minimal, the smallest without deadlock;
        or a number of words for all
        cost: how resources are estimated: hlsgen, fitted on synthesis, or finn, by FINN's formulas
        dim: size of a dynamic axis, such as T=520 (may be repeated); or the lengths of sequences, such as T=1..520
        shape: sizes of all axes of an input, such as x=1,3,48,192 (may be repeated; the only input needs no name):
        binds axes without a name, and axes of one name that differ
        input_type: inputs arrive as integers of this type whose value is SCALE times the integer, plus OFFSET:
        UINT8, UINT8:1/255, UINT8:1/255:-0.5 (default scale 1, offset 0); at most 16 bits
        input_mean: with --input-type: subtract this from the values, of all channels or of each: 0.485,0.456,0.406;
        of one input, image=0.485,0.456,0.406 (may be repeated)
        input_std: with --input-type: divide the values by this, after the mean is subtracted: 0.229,0.224,0.225; of
        one input as with --input-mean
        input_quant: put a quantiser behind real inputs that have none: INT8:0.0625; this changes the model
        initial_state: what recurrences begin with where that arrives on an input as real numbers: zero, a constant,
        or quant, the loop's own quantiser behind the input; of all, or of some, h0=zero,c0=quant (may be repeated);
        this changes the model
        state: an input and an output that are one state, such as state=stateN (may be repeated): samples follow
        each other, and what goes out comes in with the next one; with --stateful, the device keeps it
        outputs: cut the model: these tensors of the file are its outputs, in this order, and what only others need
        is left out
        lstm_config: JSON file with the formats of the gates of ONNX LSTM nodes, whose gates are real numbers; this
        changes the model
        cell_config: the same for ONNX GRU, RNN and LSTM nodes, by the names of nodes or of operators; this changes
        the model
        stateful: samples are pieces of one stream, in order: recurrences go on with the state that they ended with
        in the sample before
        calibrate: samples, .npy or .npz: the model is quantised on them first, where it is not, or where its scales
        come from the data of each run. This changes the model
        quantize: with --calibrate: formats of weights and activations, w8a8 (default), w4a8, we4m3ae4m3, w8a8p16
        for accumulators of 16 bits
        scales: with --calibrate: how scales are chosen: mse (default), the least square error; max, the largest
        value; percentile, what 99.9 % do not exceed
        equalize: with --calibrate: channels of activations have scales of their own where weights alone multiply
        them, which take these up, and where the samples say that it helps
        correct_bias: with --calibrate: biases make up for what the rounding of weights takes off the mean of each
        output channel
        lookup: with --calibrate: where integers look rows of tables up: device, a table or a product of ones and
        zeros there; host, which sends rows. Without it, products on the device, choices of rows (Gather) on the
        host
        save_model: with --calibrate: write the quantised model, ONNX (QONNX)
        interleave: so many samples take turns in recurrences, which hides the latency of a step; a frame is then so
        many samples
        """
        return self._profile(x, lengths, options(locals()))

    def build(self, board: Option = None, x: Arrays = None, labels: Arrays = None, *, progress: ProgressOption = None, fps: Option = None, interval: Option = None, latency: Optional[bool] = None, max_latency: Option = None, least: Option = None, search_time: Option = None, io: Option = None, clock: Option = None, max_use: Option = None, over_budget: Optional[bool] = None, folding: Option = None, acc_per_pe: Optional[bool] = None, max_unroll: Option = None, latencies: Option = None, fifo: Option = None, cost: Option = None, dim: Option = None, shape: Option = None, input_type: Option = None, input_mean: Option = None, input_std: Option = None, input_quant: Option = None, initial_state: Option = None, state: Option = None, outputs: Option = None, lstm_config: Option = None, cell_config: Option = None, stateful: Optional[bool] = None, calibrate: Option = None, quantize: Option = None, scales: Option = None, equalize: Optional[bool] = None, correct_bias: Optional[bool] = None, lookup: Option = None, save_model: Option = None, interleave: Option = None, explain: Optional[bool] = None, verify: Option = None, backend: Option = None, counters: Optional[bool] = None, ila: Option = None, saif: Optional[bool] = None, weights: Option = None, no_csim: Optional[bool] = None, out: Option = None, force: Optional[bool] = None, acc_bits: Option = None, strict: Optional[bool] = None, dump_passes: Option = None, passes_until: Option = None, **unknown: NoReturn) -> "Design":
        """Build turns a quantised ONNX model into a Vitis HLS project for a board. The network is folded to the
        highest throughput within the budget (--max-use), to the least resources that reach --fps or --interval, or
        to the shortest --latency. --explain shows every layer, where resources go and what is proved of the
        folding. --pareto shows the designs worth choosing from and builds none. A printed rate, interval or budget
        can be asked for, and gives the same design. Before anything is written, the design is run on samples and
        compared with the model's own execution, bit for bit: layer by layer (eval), clock by clock (cycle), and as
        compiled C++ (csim). The folder appears whole or not at all. Without a model, the embedded example is built.
        Options may also stand in hlsgen.yaml (fps: 1000) or in the environment (HLSGEN_FPS=1000).

        fps: samples per second to reach with the least resources; without it, as many as fit
        interval: clocks from frame to frame to reach with the least resources, instead of --fps
        latency: look for the shortest latency of a frame that the budget allows, at the asked rate or at any,
        whatever it takes
        max_latency: clocks from a frame's first word to its last result, to keep with the least resources
        least: what the least resources are: load, the largest share of the budget that any kind takes; or one kind:
        lut, ff, bram, uram, dsp
        search_time: let the search for the folding take this long, such as 30s; without it, a fixed amount of work,
        the same on every machine
        io: where frames come from: memory, through the processor's ports and its bandwidth; or stream, from inside
        the FPGA, a word in every clock
        clock: clock; without it, the board's default
        max_use: budget: guideline (the default), with which designs are known to meet their clock: LUT 0.7, FF 0.5,
        LUT RAM 0.25, block RAM, UltraRAM and DSP 0.8, their mean 0.7. Or 0.8, a share of everything; or single
        ones, lut=0.7,bram=0.9
        over_budget: where no design is within the budget, take the one that exceeds it least
        folding: folding file to honour, in the form of folding.json
        acc_per_pe: give every PE an accumulator as wide as its own channels need, not all the width of the layer's
        widest
        max_unroll: the most products that one process computes in a clock: of factors of more than 4 bits, of 2 to
        4, and of 1 bit; or one number for all. Wider layers become several processes (SystemVerilog alone: as many
        as add 131072 bits, unless this is given)
        latencies: what hlsgen latencies made from your reports of synthesis: latencies follow from it instead of
        from hlsgen's tables
        fifo: depth of FIFOs: throughput, the smallest that cost no speed; minimal, the smallest without deadlock;
        or a number of words for all
        cost: how resources are estimated: hlsgen, fitted on synthesis, or finn, by FINN's formulas
        dim: size of a dynamic axis, such as T=520 (may be repeated); or the lengths of sequences, such as T=1..520
        shape: sizes of all axes of an input, such as x=1,3,48,192 (may be repeated; the only input needs no name):
        binds axes without a name, and axes of one name that differ
        input_type: inputs arrive as integers of this type whose value is SCALE times the integer, plus OFFSET:
        UINT8, UINT8:1/255, UINT8:1/255:-0.5 (default scale 1, offset 0); at most 16 bits
        input_mean: with --input-type: subtract this from the values, of all channels or of each: 0.485,0.456,0.406;
        of one input, image=0.485,0.456,0.406 (may be repeated)
        input_std: with --input-type: divide the values by this, after the mean is subtracted: 0.229,0.224,0.225; of
        one input as with --input-mean
        input_quant: put a quantiser behind real inputs that have none: INT8:0.0625; this changes the model
        initial_state: what recurrences begin with where that arrives on an input as real numbers: zero, a constant,
        or quant, the loop's own quantiser behind the input; of all, or of some, h0=zero,c0=quant (may be repeated);
        this changes the model
        state: an input and an output that are one state, such as state=stateN (may be repeated): samples follow
        each other, and what goes out comes in with the next one; with --stateful, the device keeps it
        outputs: cut the model: these tensors of the file are its outputs, in this order, and what only others need
        is left out
        lstm_config: JSON file with the formats of the gates of ONNX LSTM nodes, whose gates are real numbers; this
        changes the model
        cell_config: the same for ONNX GRU, RNN and LSTM nodes, by the names of nodes or of operators; this changes
        the model
        stateful: samples are pieces of one stream, in order: recurrences go on with the state that they ended with
        in the sample before
        calibrate: samples, .npy or .npz: the model is quantised on them first, where it is not, or where its scales
        come from the data of each run. This changes the model
        quantize: with --calibrate: formats of weights and activations, w8a8 (default), w4a8, we4m3ae4m3, w8a8p16
        for accumulators of 16 bits
        scales: with --calibrate: how scales are chosen: mse (default), the least square error; max, the largest
        value; percentile, what 99.9 % do not exceed
        equalize: with --calibrate: channels of activations have scales of their own where weights alone multiply
        them, which take these up, and where the samples say that it helps
        correct_bias: with --calibrate: biases make up for what the rounding of weights takes off the mean of each
        output channel
        lookup: with --calibrate: where integers look rows of tables up: device, a table or a product of ones and
        zeros there; host, which sends rows. Without it, products on the device, choices of rows (Gather) on the
        host
        save_model: with --calibrate: write the quantised model, ONNX (QONNX)
        interleave: so many samples take turns in recurrences, which hides the latency of a step; a frame is then so
        many samples
        explain: show every layer, where resources go, and what is proved of the design
        verify: samples to check the design on; left out, fewer of a large network
        backend: what to generate: hls (C++), rtl (SystemVerilog), or both; SystemVerilog decides latencies and
        FIFOs where it is generated (default hls, and rtl for devices that are not AMD's)
        counters: with SystemVerilog: registers that count frames, clocks, and the clocks in which streams are
        stalled and starved
        ila: a logic analyser (ILA) in the bitstream that watches streams of the accelerator, such as m_axis_0
        saif: write the switching activity of streams, as simulated, for make -C vivado power
        weights: where hardware has its weights from: constant, part of the circuit; or, with --backend rtl, loaded:
        runtime, through registers, or stream, from memory by a mover of their own; or external: large layers, or
        external=LAYER,..., read them from memory with every frame; hlsgen weights then writes those of retrained
        models
        no_csim: do not compile and run what is generated
        out: folder to write (default hlsgen-out/MODEL-BOARD)
        force: replace the folder if hlsgen wrote all that is in it; --force=keep keeps the rest, and files that
        were changed, as they are
        acc_bits: report every accumulator that needs more bits as an error: 16, by layer, LAYER=12,LAYER=10, or of
        the matrix layers but the first and the last, hidden=10
        strict: take every warning for an error: nothing is written then
        dump_passes: write the graph after every pass to this folder
        passes_until: run only the first N passes (see hlsgen passes)
        """
        return self._build(board, x, labels, progress, options(locals()))

    def pareto(self, board: Option = None, *, progress: ProgressOption = None, fps: Option = None, interval: Option = None, latency: Optional[bool] = None, max_latency: Option = None, least: Option = None, search_time: Option = None, io: Option = None, clock: Option = None, max_use: Option = None, over_budget: Optional[bool] = None, folding: Option = None, acc_per_pe: Optional[bool] = None, max_unroll: Option = None, latencies: Option = None, fifo: Option = None, cost: Option = None, dim: Option = None, shape: Option = None, input_type: Option = None, input_mean: Option = None, input_std: Option = None, input_quant: Option = None, initial_state: Option = None, state: Option = None, outputs: Option = None, lstm_config: Option = None, cell_config: Option = None, stateful: Optional[bool] = None, calibrate: Option = None, quantize: Option = None, scales: Option = None, equalize: Optional[bool] = None, correct_bias: Optional[bool] = None, lookup: Option = None, save_model: Option = None, interleave: Option = None, explain: Optional[bool] = None, points: Option = None, verify: Option = None, backend: Option = None, counters: Optional[bool] = None, ila: Option = None, saif: Optional[bool] = None, weights: Option = None, no_csim: Optional[bool] = None, acc_bits: Option = None, strict: Optional[bool] = None, dump_passes: Option = None, passes_until: Option = None, **unknown: NoReturn) -> "ParetoResult":
        """Returns the designs that are worth choosing from, by interval and least, and builds none.

        fps: samples per second to reach with the least resources; without it, as many as fit
        interval: clocks from frame to frame to reach with the least resources, instead of --fps
        latency: look for the shortest latency of a frame that the budget allows, at the asked rate or at any,
        whatever it takes
        max_latency: clocks from a frame's first word to its last result, to keep with the least resources
        least: what the least resources are: load, the largest share of the budget that any kind takes; or one kind:
        lut, ff, bram, uram, dsp
        search_time: let the search for the folding take this long, such as 30s; without it, a fixed amount of work,
        the same on every machine
        io: where frames come from: memory, through the processor's ports and its bandwidth; or stream, from inside
        the FPGA, a word in every clock
        clock: clock; without it, the board's default
        max_use: budget: guideline (the default), with which designs are known to meet their clock: LUT 0.7, FF 0.5,
        LUT RAM 0.25, block RAM, UltraRAM and DSP 0.8, their mean 0.7. Or 0.8, a share of everything; or single
        ones, lut=0.7,bram=0.9
        over_budget: where no design is within the budget, take the one that exceeds it least
        folding: folding file to honour, in the form of folding.json
        acc_per_pe: give every PE an accumulator as wide as its own channels need, not all the width of the layer's
        widest
        max_unroll: the most products that one process computes in a clock: of factors of more than 4 bits, of 2 to
        4, and of 1 bit; or one number for all. Wider layers become several processes (SystemVerilog alone: as many
        as add 131072 bits, unless this is given)
        latencies: what hlsgen latencies made from your reports of synthesis: latencies follow from it instead of
        from hlsgen's tables
        fifo: depth of FIFOs: throughput, the smallest that cost no speed; minimal, the smallest without deadlock;
        or a number of words for all
        cost: how resources are estimated: hlsgen, fitted on synthesis, or finn, by FINN's formulas
        dim: size of a dynamic axis, such as T=520 (may be repeated); or the lengths of sequences, such as T=1..520
        shape: sizes of all axes of an input, such as x=1,3,48,192 (may be repeated; the only input needs no name):
        binds axes without a name, and axes of one name that differ
        input_type: inputs arrive as integers of this type whose value is SCALE times the integer, plus OFFSET:
        UINT8, UINT8:1/255, UINT8:1/255:-0.5 (default scale 1, offset 0); at most 16 bits
        input_mean: with --input-type: subtract this from the values, of all channels or of each: 0.485,0.456,0.406;
        of one input, image=0.485,0.456,0.406 (may be repeated)
        input_std: with --input-type: divide the values by this, after the mean is subtracted: 0.229,0.224,0.225; of
        one input as with --input-mean
        input_quant: put a quantiser behind real inputs that have none: INT8:0.0625; this changes the model
        initial_state: what recurrences begin with where that arrives on an input as real numbers: zero, a constant,
        or quant, the loop's own quantiser behind the input; of all, or of some, h0=zero,c0=quant (may be repeated);
        this changes the model
        state: an input and an output that are one state, such as state=stateN (may be repeated): samples follow
        each other, and what goes out comes in with the next one; with --stateful, the device keeps it
        outputs: cut the model: these tensors of the file are its outputs, in this order, and what only others need
        is left out
        lstm_config: JSON file with the formats of the gates of ONNX LSTM nodes, whose gates are real numbers; this
        changes the model
        cell_config: the same for ONNX GRU, RNN and LSTM nodes, by the names of nodes or of operators; this changes
        the model
        stateful: samples are pieces of one stream, in order: recurrences go on with the state that they ended with
        in the sample before
        calibrate: samples, .npy or .npz: the model is quantised on them first, where it is not, or where its scales
        come from the data of each run. This changes the model
        quantize: with --calibrate: formats of weights and activations, w8a8 (default), w4a8, we4m3ae4m3, w8a8p16
        for accumulators of 16 bits
        scales: with --calibrate: how scales are chosen: mse (default), the least square error; max, the largest
        value; percentile, what 99.9 % do not exceed
        equalize: with --calibrate: channels of activations have scales of their own where weights alone multiply
        them, which take these up, and where the samples say that it helps
        correct_bias: with --calibrate: biases make up for what the rounding of weights takes off the mean of each
        output channel
        lookup: with --calibrate: where integers look rows of tables up: device, a table or a product of ones and
        zeros there; host, which sends rows. Without it, products on the device, choices of rows (Gather) on the
        host
        save_model: with --calibrate: write the quantised model, ONNX (QONNX)
        interleave: so many samples take turns in recurrences, which hides the latency of a step; a frame is then so
        many samples
        explain: show every layer, where resources go, and what is proved of the design
        points: with --pareto: so many designs at most, spread over the rates
        verify: samples to check the design on; left out, fewer of a large network
        backend: what to generate: hls (C++), rtl (SystemVerilog), or both; SystemVerilog decides latencies and
        FIFOs where it is generated (default hls, and rtl for devices that are not AMD's)
        counters: with SystemVerilog: registers that count frames, clocks, and the clocks in which streams are
        stalled and starved
        ila: a logic analyser (ILA) in the bitstream that watches streams of the accelerator, such as m_axis_0
        saif: write the switching activity of streams, as simulated, for make -C vivado power
        weights: where hardware has its weights from: constant, part of the circuit; or, with --backend rtl, loaded:
        runtime, through registers, or stream, from memory by a mover of their own; or external: large layers, or
        external=LAYER,..., read them from memory with every frame; hlsgen weights then writes those of retrained
        models
        no_csim: do not compile and run what is generated
        acc_bits: report every accumulator that needs more bits as an error: 16, by layer, LAYER=12,LAYER=10, or of
        the matrix layers but the first and the last, hidden=10
        strict: take every warning for an error: nothing is written then
        dump_passes: write the graph after every pass to this folder
        passes_until: run only the first N passes (see hlsgen passes)
        """
        return self._pareto(board, progress, options(locals()))

    def sweep(self, boards: Option = None, x: Arrays = None, labels: Arrays = None, *, progress: ProgressOption = None, board: Option = None, clock: Option = None, fps: Option = None, interval: Option = None, latency: Optional[bool] = None, max_latency: Option = None, least: Option = None, bound: Optional[bool] = None, pareto: Optional[bool] = None, points: Option = None, memory: Option = None, compute: Option = None, max_use: Option = None, io: Option = None, acc_per_pe: Optional[bool] = None, max_unroll: Option = None, fifo: Option = None, cost: Option = None, latencies: Option = None, dim: Option = None, shape: Option = None, input_type: Option = None, input_mean: Option = None, input_std: Option = None, input_quant: Option = None, initial_state: Option = None, state: Option = None, outputs: Option = None, lstm_config: Option = None, cell_config: Option = None, stateful: Optional[bool] = None, calibrate: Option = None, quantize: Option = None, scales: Option = None, equalize: Optional[bool] = None, correct_bias: Optional[bool] = None, lookup: Option = None, save_model: Option = None, requantize: Option = None, keep: Option = None, backend: Option = None, interleave: Option = None, out: Option = None, force: Optional[bool] = None, jobs: Option = None, collect: Option = None, strict: Optional[bool] = None, **unknown: NoReturn) -> "Sweep":
        """Sweep makes the design of a model for every combination of the values given, on all processors: each as a
        build makes it, its FIFOs sized and its clocks simulated, but not generated or checked. --bound makes none,
        and prints bounds that no design goes below. That is some hundred times as fast, and shows where to look.
        Sweep writes tables (CSV, JSON), pictures (SVG, PNG) of frames per second against LUT, block RAM and DSP and
        of the clocks of every layer, and the folding file of the fastest design (chosen.json). An interrupted sweep
        goes on where it was when it is started again, and a larger one makes only what is new: what was found
        stands in a journal in the folder. With --jobs slurm it also writes the HLS project of every design and a
        Slurm job array that synthesises them; --collect gathers the reports into the tables.

        board: boards' names (see hlsgen boards) or paths of board files
        clock: clocks; without it, each board's default
        fps: samples per second to reach with the least resources; without it, as many as fit
        interval: clocks from frame to frame to reach, instead of --fps
        latency: look for the shortest latency instead, at the asked rates or at any
        max_latency: clocks from a frame's first word to its last result, to keep in every design
        least: what the least resources are: load, the largest share of the budget that any kind takes; or one kind:
        lut, ff, bram, uram, dsp
        bound: make no design: print bounds that no design within the budget goes below
        pareto: of every combination all designs worth choosing from, the slowest as fast as the least --fps
        points: with --pareto: so many designs of each front at most, spread over the rates
        memory: where tables lie, in all layers that have the choice: auto (the best for each), distributed, block,
        ultra
        compute: what multiplies, in all layers that have the choice: auto (the best for each), lut, dsp
        max_use: budgets: guideline (the default); shares of the board, 0.5,0.8; or lut=0.7,bram=0.9, which is one
        (may be repeated)
        io: where frames come from: memory, through the processor's ports; or stream, from inside the FPGA
        acc_per_pe: give every PE an accumulator as wide as its own channels need, not all the width of the layer's
        widest
        max_unroll: the most products that one process computes in a clock: of factors of more than 4 bits, of 2 to
        4, and of 1 bit; or one number for all. Wider layers become several processes (SystemVerilog alone: as many
        as add 131072 bits, unless this is given)
        fifo: depth of FIFOs: throughput, minimal, or a number of words for all
        cost: how resources are estimated: hlsgen, fitted on synthesis, or finn, by FINN's formulas
        latencies: what hlsgen latencies made from your reports of synthesis: latencies follow from it instead of
        from hlsgen's tables
        dim: size of a dynamic axis, such as T=520 (may be repeated); or the lengths of sequences, such as T=1..520
        shape: sizes of all axes of an input, such as x=1,3,48,192 (may be repeated; the only input needs no name):
        binds axes without a name, and axes of one name that differ
        input_type: inputs arrive as integers of this type whose value is SCALE times the integer, plus OFFSET:
        UINT8, UINT8:1/255, UINT8:1/255:-0.5 (default scale 1, offset 0); at most 16 bits
        input_mean: with --input-type: subtract this from the values, of all channels or of each: 0.485,0.456,0.406;
        of one input, image=0.485,0.456,0.406 (may be repeated)
        input_std: with --input-type: divide the values by this, after the mean is subtracted: 0.229,0.224,0.225; of
        one input as with --input-mean
        input_quant: put a quantiser behind real inputs that have none: INT8:0.0625; this changes the model
        initial_state: what recurrences begin with where that arrives on an input as real numbers: zero, a constant,
        or quant, the loop's own quantiser behind the input; of all, or of some, h0=zero,c0=quant (may be repeated);
        this changes the model
        state: an input and an output that are one state, such as state=stateN (may be repeated): samples follow
        each other, and what goes out comes in with the next one; with --stateful, the device keeps it
        outputs: cut the model: these tensors of the file are its outputs, in this order, and what only others need
        is left out
        lstm_config: JSON file with the formats of the gates of ONNX LSTM nodes, whose gates are real numbers; this
        changes the model
        cell_config: the same for ONNX GRU, RNN and LSTM nodes, by the names of nodes or of operators; this changes
        the model
        stateful: samples are pieces of one stream, in order: recurrences go on with the state that they ended with
        in the sample before
        calibrate: samples, .npy or .npz: the model is quantised on them first, where it is not, or where its scales
        come from the data of each run. This changes the model
        quantize: with --calibrate: formats of weights and activations, w8a8 (default), w4a8, we4m3ae4m3, w8a8p16
        for accumulators of 16 bits
        scales: with --calibrate: how scales are chosen: mse (default), the least square error; max, the largest
        value; percentile, what 99.9 % do not exceed
        equalize: with --calibrate: channels of activations have scales of their own where weights alone multiply
        them, which take these up, and where the samples say that it helps
        correct_bias: with --calibrate: biases make up for what the rounding of weights takes off the mean of each
        output channel
        lookup: with --calibrate: where integers look rows of tables up: device, a table or a product of ones and
        zeros there; host, which sends rows. Without it, products on the device, choices of rows (Gather) on the
        host
        save_model: with --calibrate: write the quantised model, ONNX (QONNX)
        requantize: quantise the model again on the samples of --calibrate, to every combination, and show what it
        costs: w=2..8,a=4,8,e4m3 for weights and activations; wa=2..8 for both alike; p=12,16 for the bits of
        accumulators (A2Q+); or least: the fewest bits, layer by layer, with which --keep's share of samples keeps
        the float model's class
        keep: with --requantize least: the share of samples that keep the class that the float model gives them
        backend: what the designs are for: hls (C++), rtl (SystemVerilog), or both; SystemVerilog decides latencies
        and FIFOs where it is generated (default hls, and rtl for devices that are not AMD's)
        interleave: so many samples take turns in recurrences, which hides the latency of a step; a frame is then so
        many samples, and rates count samples
        out: folder to write, or to go on with (default hlsgen-out/MODEL-sweep)
        force: begin anew in a folder that holds a sweep
        jobs: searches at a time (default: one per processor); slurm: also write a job array that synthesises every
        design
        collect: gather the reports of synthesis in the folder of a sweep into its tables
        strict: take every warning for an error: nothing is written then
        """
        return self._sweep(boards, x, labels, progress, options(locals()))

    def convert(self, to: Option = None, *, clean: Optional[bool] = None, out: Option = None, dim: Option = None, shape: Option = None, force: Optional[bool] = None, strict: Optional[bool] = None, **unknown: NoReturn) -> "Converted":
        """Convert writes a model in another dialect: qonnx (Quant), qcdq (QuantizeLinear, Clip, DequantizeLinear) or
        qoperator (QLinearConv, QLinearMatMul, MatMulInteger and others, with Clip). All that is not quantisation
        stays as it is. The file is read back and proved to mean the same; a node that the dialect cannot express is
        named, and nothing is written. With --clean, constants are folded, nodes that nothing reads are dropped, and
        the shape of every tensor is written, which viewers show. --clean works alone, too.

        clean: fold constants, drop nodes that nothing reads, and write the shape of every tensor
        out: file to write (default MODEL-DIALECT.onnx, or MODEL-clean.onnx)
        dim: size of a dynamic axis with which the two files are compared, such as T=520 (may be repeated); the axis
        stays dynamic
        shape: sizes of all axes of an input with which the two files are compared, such as x=1,3,48,192 (may be
        repeated)
        force: replace the file
        strict: take every warning for an error: nothing is written then
        """
        return self._convert(to, options(locals()))

    def graph(self, form: Option = None, *, out: Option = None, force: Optional[bool] = None, dim: Option = None, shape: Option = None, input_type: Option = None, input_mean: Option = None, input_std: Option = None, input_quant: Option = None, initial_state: Option = None, state: Option = None, outputs: Option = None, lstm_config: Option = None, cell_config: Option = None, stateful: Optional[bool] = None, calibrate: Option = None, quantize: Option = None, scales: Option = None, equalize: Optional[bool] = None, correct_bias: Optional[bool] = None, lookup: Option = None, save_model: Option = None, interleave: Option = None, strict: Optional[bool] = None, **unknown: NoReturn) -> "Drawing":
        """Draws every node with what becomes of it, and the shapes and types of the tensors between them. form is svg,
        png, dot for Graphviz or onnx for viewers such as Netron; without it, svg, or what the extension of out
        says. A model that does not map is drawn, too.

        out: file to write, ending with .svg, .png, .dot, .onnx (default MODEL.svg or DIR.svg)
        force: replace the file
        dim: size of a dynamic axis, such as T=520 (may be repeated); or the lengths of sequences, such as T=1..520
        shape: sizes of all axes of an input, such as x=1,3,48,192 (may be repeated; the only input needs no name):
        binds axes without a name, and axes of one name that differ
        input_type: inputs arrive as integers of this type whose value is SCALE times the integer, plus OFFSET:
        UINT8, UINT8:1/255, UINT8:1/255:-0.5 (default scale 1, offset 0); at most 16 bits
        input_mean: with --input-type: subtract this from the values, of all channels or of each: 0.485,0.456,0.406;
        of one input, image=0.485,0.456,0.406 (may be repeated)
        input_std: with --input-type: divide the values by this, after the mean is subtracted: 0.229,0.224,0.225; of
        one input as with --input-mean
        input_quant: put a quantiser behind real inputs that have none: INT8:0.0625; this changes the model
        initial_state: what recurrences begin with where that arrives on an input as real numbers: zero, a constant,
        or quant, the loop's own quantiser behind the input; of all, or of some, h0=zero,c0=quant (may be repeated);
        this changes the model
        state: an input and an output that are one state, such as state=stateN (may be repeated): samples follow
        each other, and what goes out comes in with the next one; with --stateful, the device keeps it
        outputs: cut the model: these tensors of the file are its outputs, in this order, and what only others need
        is left out
        lstm_config: JSON file with the formats of the gates of ONNX LSTM nodes, whose gates are real numbers; this
        changes the model
        cell_config: the same for ONNX GRU, RNN and LSTM nodes, by the names of nodes or of operators; this changes
        the model
        stateful: samples are pieces of one stream, in order: recurrences go on with the state that they ended with
        in the sample before
        calibrate: samples, .npy or .npz: the model is quantised on them first, where it is not, or where its scales
        come from the data of each run. This changes the model
        quantize: with --calibrate: formats of weights and activations, w8a8 (default), w4a8, we4m3ae4m3, w8a8p16
        for accumulators of 16 bits
        scales: with --calibrate: how scales are chosen: mse (default), the least square error; max, the largest
        value; percentile, what 99.9 % do not exceed
        equalize: with --calibrate: channels of activations have scales of their own where weights alone multiply
        them, which take these up, and where the samples say that it helps
        correct_bias: with --calibrate: biases make up for what the rounding of weights takes off the mean of each
        output channel
        lookup: with --calibrate: where integers look rows of tables up: device, a table or a product of ones and
        zeros there; host, which sends rows. Without it, products on the device, choices of rows (Gather) on the
        host
        save_model: with --calibrate: write the quantised model, ONNX (QONNX)
        interleave: so many samples take turns in recurrences, which hides the latency of a step; a frame is then so
        many samples
        strict: take every warning for an error: nothing is written then
        """
        return self._graph(form, options(locals()))

    def weights(self, for_: Option = None, *, out: Option = None, dim: Option = None, shape: Option = None, input_type: Option = None, input_mean: Option = None, input_std: Option = None, input_quant: Option = None, initial_state: Option = None, state: Option = None, outputs: Option = None, lstm_config: Option = None, cell_config: Option = None, stateful: Optional[bool] = None, strict: Optional[bool] = None, **unknown: NoReturn) -> "WeightsResult":
        """Weights writes what a driver needs to run another model on an accelerator that was built with --weights
        runtime, stream or external: the same network, with other weights, scales and thresholds. DIR is the folder
        of that build. It writes two files: weights.bin, which is loaded into the hardware, and host.json, which
        says what inputs become and what results mean. They belong to each other, and to that hardware. No bitstream
        is made: net = Accelerator("net.bit", host="retrained-weights/host.json") The model goes through the same
        steps as when the hardware was built, with the same folding, and the resulting circuits are compared with
        those in DIR. Where anything but the contents of tables differs, nothing is written, and an error gives the
        reason: another shape, a type, a weight or code beyond the room.

        out: folder to write (default MODEL-weights)
        dim: size of a dynamic axis, such as T=520 (may be repeated); or the lengths of sequences, such as T=1..520
        shape: sizes of all axes of an input, such as x=1,3,48,192 (may be repeated; the only input needs no name):
        binds axes without a name, and axes of one name that differ
        input_type: inputs arrive as integers of this type whose value is SCALE times the integer, plus OFFSET:
        UINT8, UINT8:1/255, UINT8:1/255:-0.5 (default scale 1, offset 0); at most 16 bits
        input_mean: with --input-type: subtract this from the values, of all channels or of each: 0.485,0.456,0.406;
        of one input, image=0.485,0.456,0.406 (may be repeated)
        input_std: with --input-type: divide the values by this, after the mean is subtracted: 0.229,0.224,0.225; of
        one input as with --input-mean
        input_quant: put a quantiser behind real inputs that have none: INT8:0.0625; this changes the model
        initial_state: what recurrences begin with where that arrives on an input as real numbers: zero, a constant,
        or quant, the loop's own quantiser behind the input; of all, or of some, h0=zero,c0=quant (may be repeated);
        this changes the model
        state: an input and an output that are one state, such as state=stateN (may be repeated): samples follow
        each other, and what goes out comes in with the next one; with --stateful, the device keeps it
        outputs: cut the model: these tensors of the file are its outputs, in this order, and what only others need
        is left out
        lstm_config: JSON file with the formats of the gates of ONNX LSTM nodes, whose gates are real numbers; this
        changes the model
        cell_config: the same for ONNX GRU, RNN and LSTM nodes, by the names of nodes or of operators; this changes
        the model
        stateful: samples are pieces of one stream, in order: recurrences go on with the state that they ended with
        in the sample before
        strict: take every warning for an error: nothing is written then
        """
        return self._weights(for_, options(locals()))
