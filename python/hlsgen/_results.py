"""What hlsgen says, as classes, of docs/schemas. go test ./cmd/hlsgen -run TestPython -update writes it."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from ._record import Record, dict_of, list_of


class AccumulatorSumsOnSamples(Record):
    """Describes the sums that samples produce in a layer's accumulators, in the model's own integers.
    """
    samples: int
    sums: int
    min: int
    max: int
    exact_bits: int  # the narrowest signed number that holds Min and Max
    histogram: List[SumHistogramBin]  # of all sums, from the smallest values on


class AccumulatorWidths(Record):
    """AccumulatorWidthsReport gives the width of a layer's accumulator by the four rules of docs/numbers.md, loosest
    first.
    """
    data_type_bound_bits: int
    l1_bound_bits: int
    zero_centred_bound_bits: Optional[int]
    exact_bits: int
    used_bits: int
    type: str


class Accuracy(Record):
    """Accuracy is the share of labelled samples that a model gets right, with its confidence interval.
    """
    right: int
    samples: int
    low: float  # the 95 % interval (Wilson's score interval) of the share among all samples of this kind
    high: float


class Board(Record):
    """Board is a target board with its device. The unit of block RAM is BRAM36 on AMD's devices, as in their data
    sheets (a BRAM36 is two RAMB18). On other devices it is BRAM, a block of BRAMKbit. MemoryGBps is in 10^9 bytes
    per second.
    """
    name: str
    aliases: Optional[List[str]]  # further names that FindBoard accepts; without effect in a file given by path
    family: Optional[str]
    part: str
    speed_grade: Optional[str]  # as in part numbers: -1, -2LV; empty if not known
    lut: int  # with six inputs on FamilyAMD's devices, with four on others
    lutram: int  # number of LUTs that can be a memory or a shift register
    ff: int
    bram36: int
    bram: Optional[int]
    bram_kbit: Optional[int]
    spram: Optional[int]  # single-port memories of 256 Kbit, which a bitstream cannot fill
    uram: int
    dsp: int
    dsp_type: str  # DSP48E1, DSP48E2, DSP58, SB_MAC16 or MULT18X18D
    host_port_bits: int  # width of the port to the processor's memory, or of a kernel's port on a card; 0 if none or not known
    ps: Optional[str]  # the processor beside the logic
    pll_mhz: Optional[int]  # frequency in MHz of the PS's IO PLL, from which two dividers make the logic's clock; 0 if no source states it
    memory_ports: Optional[List[str]]  # the ProcessingSystem's ports to its memory, or banks of the platform's memory, in the order in which streams use them
    board_part: Optional[str]  # Vivado's name of the board, with * for any version
    board_files: Optional[str]  # source of Vivado's files for the board
    board_connections: Optional[str]  # of a module on a carrier: the carrier's connectors, for Vivado's property board_connections
    platform: Optional[str]  # platform of a card, as v++ names it
    memory_gbps: float  # peak, of one bank on a card; 0 if none or not known
    default_clock_mhz: float  # default clock: one at which designs meet timing
    pins: Optional[List[str]]  # sites of the pins of the UART top, each as "NAME SITE"; ClockMHz is the frequency at the clock pin
    unverified: Optional[bool]  # resources not checked against a table; a build says so
    part_source: str
    resource_source: str
    lutram_source: str
    memory_source: str
    ps_source: Optional[str]  # source of the ProcessingSystem and its ports
    pll_source: Optional[str]
    board_part_source: Optional[str]
    platform_source: Optional[str]  # source of the platform and its banks
    clock_source: str  # reason for the default clock
    pin_source: Optional[str]


class Bottleneck(Record):
    """BottleneckReport says which part of the design determines the interval.
    """
    layers: List[str]  # the layers that are as slow as the interval
    host_is_slow: bool  # the host's port or the processor's memory is as slow as the interval
    state_comes_back: Optional[bool]  # the next frame needs the state of this one, so a frame starts once per latency
    reason: str
    what_would_change_it: str  # flags that raise the rate, with the rate that they gave when tried
    tried_in_vain: List[str]  # flags that were tried and give no higher rate


class BuildResult(Record):
    """Built is the JSON of a build.
    """
    version: int  # JSONVersion
    model: str
    example: bool
    board: str
    part: str
    clock_mhz: float  # the clock that was asked for
    clock_reached_mhz: float  # the clock that rates are computed with
    clock_on_board_mhz: Optional[float]  # the clock that the processor's dividers make, if it differs
    assumed_pll_mhz: Optional[int]  # the frequency of the processor's PLL, if no source states it and that of most boards is taken
    fits: bool
    fps: float
    interval_clocks: float
    latency_clocks: int
    latency_at_ends_clocks: IOLatencyClocks
    least: Optional[IntervalAndLatency]
    most: Optional[IntervalAndLatency]
    sequences: Optional[SequenceRates]
    series: FrameSeries
    slowest_layer_clocks: int
    bottleneck: Bottleneck
    host_port: Optional[HostPort]
    weights: Optional[WeightLoad]
    layers: List[Layer]
    fifo_cost: Resources
    host_cost: Resources
    cost: Resources
    resources: List[Share]
    certificate: Certificate
    interrupted: bool  # the user ended the search, and the best design so far was built
    host_prefix: List[str]
    host_suffix: List[str]
    verified: Verification
    accuracy: Optional[Accuracy]
    out: str
    files: int
    kept: Optional[List[str]]  # paths below out that hlsgen did not write, or that were changed since
    diagnostics: List[Diag]
    error: Optional[str]


class BuiltChannelSums(Record):
    """BuiltChannelSums describes the sums of one output channel in the hardware.
    """
    weights: Optional[ChannelWeightSums]
    exact_bits: int
    slack_bits: Optional[int]


class Certificate(Record):
    """CertificateReport is the content of report/certificate.json. It states how close the design is to the best of
    all designs.
    """
    proved: bool  # no design is better: every gap is closed
    interval_clocks: float
    least_possible_interval_clocks: Optional[int]  # 0 if the search did not look for the shortest interval
    options: int
    options_not_possible: int  # the device, the folding file or block RAM excludes them
    options_below_the_least_interval: Optional[FoldExclusion]
    minimised: List[MinimisedMeasure]
    few_bits_in_luts: Optional[bool]  # the minimum covers only designs that multiply factors of 3 bits or fewer in LUTs
    dear_serial_folds: Optional[int]  # number of folds with serial step functions that were fast enough, but excluded because of their block RAM
    large_tables_in_luts: Optional[int]  # number of folds with large tables in LUTs that were fast enough, but excluded
    few_words_in_luts: Optional[bool]  # the proof covers only designs whose FIFOs of few words lie in LUTs, where LUTs can hold them
    latency_clocks: Optional[LatencyWithBound]
    gap: Optional[str]  # why the search proved no minimum
    interrupted: Optional[bool]  # the user ended the search, and this is the best design that it had found
    text: List[str]
    lengths: Optional[SequenceLengths]


class ChannelSumsInModelIntegers(Record):
    """ChannelSumsInModelIntegers describes the sums of one output channel in the model's own integers.
    """
    l1: int
    sum: int
    min: int
    max: int
    exact_bits: int
    l1_bound_bits: int
    zero_centred_bound_bits: Optional[int]  # only if the weights sum to zero
    slack_bits: Optional[int]  # asked bits minus exact bits


class ChannelWeightSums(Record):
    """Holds the l1 norm and the total of a channel's weights, and the smallest and the largest sum that can occur.
    """
    l1: int
    sum: int
    min: int
    max: int


class CheckResult(Record):
    """Checked is the JSON of a check.
    """
    version: int  # JSONVersion
    model: str
    example: bool
    ok: bool
    nodes: List[NodeFate]
    layers: List[Layer]
    lengths: Optional[SequenceLengths]
    accumulators: Optional[List[LayerAccumulator]]  # with --acc-bits or --input
    diagnostics: List[Diag]
    error: Optional[str]


class CollectResult(Record):
    """Is the JSON of the collect command.
    """
    version: int  # JSONVersion
    model: str
    board: str
    part: str
    clock_mhz: float
    parts: List[FiguresBySource]  # Parts are the layers, in the order of the network, and the processes at its ends. Then come "all layers", "FIFOs", "host" and "total".
    missing: List[str]  # Missing lists the modules without results of a tool for the present sources.
    missed_bitstream: Optional[str]  # Missed is the file of a bitstream that misses its clock, below the build's folder.
    diagnostics: List[Diag]
    error: Optional[str]


class ConvertResult(Record):
    """Is the JSON of a conversion.
    """
    version: int  # JSONVersion
    model: str
    example: bool
    to: Optional[str]  # absent: the dialect of the model
    clean: bool
    quantisers: int  # number of nodes that were rewritten
    proof: str  # program: node by node; network: as integer layers
    before: List[OperatorCount]  # operators of the model
    after: List[OperatorCount]  # operators of what was written
    out: str
    diagnostics: List[Diag]
    error: Optional[str]


class CostContribution(Record):
    """CostContribution is one contribution to a cost: "multipliers", "adder tree", "weight memory" and so on.
    """
    part: str
    LUT: int
    LUTRAM: int
    FF: int
    BRAM_18K: int
    URAM: int
    DSP: int


class DeclaredAccumulators(Record):
    """Describes a layer's accumulators in the model's own integers, as signed numbers.
    """
    products: int  # per sum
    input_bits: int
    input_signed: bool
    weight_bits: int
    data_type_bound_bits: int
    l1_bound_bits: int
    zero_centred_bound_bits: Optional[int]  # largest bound of the channels whose weights sum to zero
    channels_that_sum_to_zero: int
    exact_bits: int
    l1_cap: Optional[int]  # the largest l1 norm with a bound of Asked bits
    slack_bits: Optional[int]
    channels: List[ChannelSumsInModelIntegers]


class Diag(Record):
    """Diag is one diagnostic. Code is a key of CodeMeanings. List.Add sets Level to the name of Severity. Node and Op
    name the ONNX node, if there is one. Where names the place: file, node index or rule. Hint states what the user
    can do. Notes add further facts, such as other attempts. Text is to be copied, line by line.
    """
    severity: str
    code: str
    node: Optional[str]
    op: Optional[str]
    where: Optional[str]
    message: str
    hint: Optional[str]
    notes: Optional[List[str]]
    text: Optional[str]


class DotProductWidthsAndLUTs(Record):
    """Holds what CompareDotProducts finds of one number format: its range, accumulator widths and LUTs.
    """
    format: str
    bits: int
    exponent: int  # exponent bits; 0 for integers
    mantissa: int  # mantissa bits; for integers the bits without the sign
    largest: float
    published: int  # accumulator bits by the paper's rule
    exact: int  # accumulator bits that the largest magnitudes need
    held: str  # type that a kernel uses for it: narrower than integers, or integers
    stored: int  # bits of a weight in a table
    lut: int  # LUTs of a multiply-accumulate: LUT is the estimate for the C++ kernel, Cells the cells of the circuit in SystemVerilog. Cells is missing if no layer accumulates in so many bits.
    parts: List[MACPartLUTs]
    cells: Optional[int]


class FiguresBySource(Record):
    """Holds the figures of a layer, or of another part of a design, by the source that states them. Sources without
    figures are nil.
    """
    name: str
    kind: Optional[str]  # kind of a layer
    estimate: Optional[PartFigures]
    hls: Optional[PartFigures]
    vivado: Optional[PartFigures]
    vivado_rtl: Optional[PartFigures]
    bitstream: Optional[PartFigures]
    board: Optional[PartFigures]


class Fold(Record):
    """FoldReport gives a layer's fold in FINN's terms.
    """
    PE: int
    SIMD: Optional[int]
    ram_style: Optional[str]
    resType: Optional[str]
    steps: Optional[str]  # of step functions: parallel or serial
    accumulator_bits_per_pe: Optional[List[int]]  # accumulator width of each PE, with --acc-per-pe, if the PEs differ from the layer


class FoldExclusion(Record):
    """FoldExclusionReport says why no folding within the budget reaches an interval. It counts the folds that each
    reason excludes.
    """
    interval_clocks: int
    too_slow: int
    dominated: int
    without_width_converter: int
    excluded_by: Dict[str, int]
    excluded_by_several_resources: int
    compared_in_every_combination: int


class Folded(Record):
    """Folded is the JSON of a layer's fold.
    """
    PE: int
    SIMD: int


class FormatsResult(Record):
    """Is the JSON of a comparison of formats.
    """
    version: int  # JSONVersion
    length: int  # number of products in a sum
    board: str
    formats: List[DotProductWidthsAndLUTs]
    models: Optional[List[ModelAccuracy]]
    diagnostics: List[Diag]
    error: Optional[str]


class FrameSeries(Record):
    """FrameSeriesReport gives the time of many frames in a row, in numbers and in words.
    """
    frames: int
    clocks: int  # from the first input word to the last output word
    first_frame_clocks: int  # the clocks of the first frame
    each_further_clocks: float  # the clocks of each further frame
    filling_clocks: float  # further clocks until FIFOs are as full as they get; negative if frames come sooner meanwhile
    settled: bool  # whether the run showed all frames or a steady state; if not, further frames are assumed to take as long as the last
    slowest_layer: str  # the first of the layers with the most iterations
    slowest_works_clocks: int  # the clocks of a frame in which it starts an iteration
    slowest_waits_clocks: float  # the other clocks of a frame
    each_as_loops_clocks: float  # a frame's clocks if each kernel call were a loop over a frame, whose pipeline would empty before the next frame begins (docs/clock.md)
    text: List[str]


class HostPort(Record):
    """HostPortReport compares the traffic at the host's port, at the simulated frame rate, with the available
    bandwidth.
    """
    port_bits: int
    port_gb_per_s: float  # bandwidth of each stream at the design's clock
    memory_gb_per_s: Optional[float]  # bandwidth that all streams share; 0 if unknown
    moved_gb_per_s: float
    bytes_per_frame: int
    frames_per_s_at_most: float  # counts samples where a frame holds several


class IOLatencyClocks(Record):
    """Holds the clocks that a design's ends add to the latency of a frame (dataflow.Target.Ends).
    """
    out: int  # clocks from an output's last FIFO to its AXI4-Stream


class IntervalAndLatency(Record):
    """IntervalAndLatency holds the clocks of frames that are alike.
    """
    interval_clocks: Optional[float]  # clocks between frames once the pipeline is full, at least what the processor's memory takes for one; 0 if a single frame was run
    latency_clocks: int  # clocks from the first input word to the last output word of a single frame, on the AXI4-Streams


class LatenciesResult(Record):
    """Is the JSON of the command latencies.
    """
    family: str  # DSP48E1, DSP48E2 or DSP58
    part: Optional[str]  # the part in the reports
    tool: Optional[str]  # the version of the tool in the reports
    uncertainty: float  # share of the clock's period
    stages: float  # the stages that the tool makes of one of hlsgen's; 1 if delays were read
    delays: List[ReportedDelay]  # by operation and width; empty without schedule reports
    processes: List[ReportedPipelineDepth]  # the processes that were synthesised
    out: str
    diagnostics: List[Diag]
    error: Optional[str]


class LatencyWithBound(Record):
    """LatencyWithBoundReport gives the design's latency and a proved lower bound, in clocks.
    """
    clocks: int
    least_possible: int


class Layer(Record):
    """LayerReport describes one layer in report/layers.json and `hlsgen check`.
    """
    name: str
    kind: str
    onnx_nodes: List[str]
    modules: Optional[List[str]]  # modules of the original network that contain the nodes, if the exporter's metadata name them
    out: List[Stream]
    accumulator: Optional[AccumulatorWidths]
    fold: Optional[Fold]
    clocks: Optional[int]
    pipeline_latency_clocks: Optional[int]
    pipeline_latency_range_clocks: Optional[ValueRange]
    table_latency_clocks: Optional[int]  # latency by the built-in delay tables, if calibrated
    recurrences: Optional[List[str]]  # what each step passes to the next one, and the effect on the schedule
    cost_parts: Optional[List[CostContribution]]
    cost: Optional[Resources]
    carried_path_ns: Optional[float]
    synthesis_minutes: Optional[int]  # Minutes is a rough estimate of the synthesis time of this layer alone.


class LayerAccumulator(Record):
    """LayerAccumulatorReport describes the accumulators of one layer. Declared counts with the integers that the model
    declares, over all values that its quantisers can give. Built describes the hardware, after common divisors are
    taken out, signs moved and ranges narrowed.
    """
    layer: str
    node: Optional[str]
    asked_bits: Optional[int]
    declared: Optional[DeclaredAccumulators]
    not_declared: Optional[str]  # why the model declares no integers for it
    built: LayerBuiltAccumulators
    channels_over: List[int]  # channels that need more than Asked bits: as declared, else as built
    samples: Optional[AccumulatorSumsOnSamples]


class LayerBuiltAccumulators(Record):
    """Describes a layer's accumulators in the hardware. They are unsigned if no sum is negative.
    """
    exact_bits: int
    type: str  # holds the sums of all channels
    slack_bits: Optional[int]
    channels: List[BuiltChannelSums]


class LayerClocksPerFrame(Record):
    """Holds the clocks per frame of a layer.
    """
    layer: str
    clocks: int


class LayerExternalWeights(Record):
    """LayerExternalWeightsReport describes the weights that one layer reads from memory with every frame.
    """
    layer: str
    port: str  # name of the AXI4-Stream of the accelerator
    bits: int  # width of the stream; a word per clock
    bytes_per_frame: int  # size of the table times its reads per frame
    gb_per_s: float  # at the simulated frame rate


class LayerOverflow(Record):
    """LayerOverflow describes a layer with narrower accumulators.
    """
    layer: str
    node: str
    bits: int
    exact_bits: int  # with this width nothing overflows
    sums: int
    sums_that_overflow: int


class LayerStats(Record):
    """LayerStats holds the counts of a layer: a node of the file that adds up products, such as a matrix product, a
    convolution or one direction of a recurrence. A node that adds, multiplies or compares data without weights has
    a WeightlessNodeStats instead.
    """
    index: int  # index of the node in the file
    node: str
    op: str
    kind: str
    becomes: str  # where the node is computed, as in hlsgen check
    reverse: Optional[bool]  # goes through its sequence from the end
    steps: int  # time steps of its sequence; 1 without a sequence
    output_shape: List[int]
    output_type: str  # type of the quantiser behind it, or the stored type without one
    macs: int  # products that are added up, including products with padding
    effective_macs: int  # products whose weight is not 0
    bops: float  # bit operations: effective_macs * input bits * weight bits + macs * (input bits + weight bits + log2(terms))
    dense_bops: float  # bit operations if products with a weight of 0 count as well
    weights: int  # number of weights
    zero_weights: int
    weight_bits: int  # memory of the weights, by their declared type
    input_bits: int  # memory of all data that are read, by their declared types
    output_bits: int  # memory of the output, in the type of the quantiser behind it
    macs_per_step: int
    macs_per_byte: float  # where each weight, input and output moves once
    entropy: Optional[WeightEntropy]
    states: Optional[NeuronStateStats]
    products: List[ProductStats]  # one product; in a recurrence, one per product in its body


class MACPartLUTs(Record):
    """MACPartLUTs names one part of a multiply-accumulate and states how many LUTs it takes.
    """
    name: str
    lut: int


class Manifest(Record):
    """Manifest records the inputs of a build. It is the content of the manifest file in the build's folder.
    """
    version: int  # JSONVersion
    tool: str
    model: str
    model_sha256: str
    board: str
    part: str
    clock_mhz: float
    cost: str
    options: Dict[str, str]
    host_prefix: List[str]
    host_suffix: List[str]
    verified: Verification
    files: List[WrittenFile]  # all files except the manifest, by path
    seal: str  # SHA-256 of the manifest with zeros in place of the seal


class MinimalNodeBits(Record):
    """MinimalNodeBits holds the fewest bits of each node with which the asked share of samples keeps its class. If
    even mostBits do not suffice, fewer samples than asked keep it.
    """
    keep: float  # the asked share of samples that keep their class
    same: int  # of Samples, the number that keeps its class
    samples: int
    bits: List[NodeBits]


class MinimisedMeasure(Record):
    """MinimisedMeasureReport gives a measure that the search minimised at the design's interval: the design's value
    and a proved lower bound.
    """
    measure: str
    value: float
    least_possible: float


class ModelAccuracy(Record):
    """ModelAccuracy holds the accuracy of a labelled model. The integer network, run by the engine eval, classifies
    the samples. A sample with a negative label does not count.
    """
    name: str
    samples: int
    right: int
    interval: List[float]  # 95 % confidence interval of the accuracy (Wilson), in percent
    accumulator: int  # bits of the widest accumulator
    held: List[str]  # types of the inputs of layers that accumulate
    own_accuracy: Optional[float]  # accuracy of the whole test set that info.json states, as a share


class NeuronStateStats(Record):
    """NeuronStateStats tells how many different states of a layer occur (neural efficiency, arXiv 2102.11289). A state
    is the set of the layer's neurons whose output exceeds 0.
    """
    tensor: str  # tensor that is observed: the layer's output behind its activation
    neurons: int  # channels of a matrix or a convolution, units of a recurrence
    seen: int  # number of states that were observed: one per sample, output position and time step
    distinct: int
    on: float  # share of neurons, over all states, whose output exceeds 0
    entropy_bits: float  # entropy of the states
    efficiency: float  # entropy divided by the number of neurons: 1 if all states occur equally often


class NodeBits(Record):
    """NodeBits gives the bits of a node's weights, or else of its input activations.
    """
    node: str
    weights: bool
    bits: int


class NodeFate(Record):
    """NodeFate says how one ONNX node is implemented. It is one line of the output of `hlsgen check`.
    """
    index: int
    node: str
    op: str
    becomes: str  # Fate is a layer's name (with ", host prefix" or ", host suffix" if a part stays on the host), "constant", "host prefix", "host suffix", "unused", "undecided", "not reached" or "not mapped".
    module: Optional[str]  # Module is the network's module to which the node belongs, if the exporter's metadata name one.


class OperationCounts(Record):
    """Holds the counts of a product, a layer or a network for one sample. For a layer in a loop they include all time
    steps.
    """
    macs: int  # products that are added up, including products with padding
    effective_macs: int  # products whose weight is not 0
    bops: float  # bit operations: effective_macs * input bits * weight bits + macs * (input bits + weight bits + log2(terms))
    dense_bops: float  # bit operations if products with a weight of 0 count as well
    weights: int  # number of weights
    zero_weights: int
    weight_bits: int  # memory of the weights, by their declared type
    input_bits: int  # memory of all data that are read, by their declared types
    output_bits: int  # memory of the output, in the type of the quantiser behind it


class OperatorCount(Record):
    """OperatorCount holds the number of nodes that have an operator.
    """
    op: str
    nodes: int


class OutputComparison(Record):
    """OutputComparison counts samples by how their outputs compare with those in the file of --compare.
    """
    samples: int
    equal: int  # equal in every output code; real values after the last quantiser may be rounded differently
    equal_bits: int  # of the equal samples, those equal to the last bit of float32
    near_ties: int  # float32 provably rounds differently than exact arithmetic, at a rounding boundary
    differ: int
    first_difference: Optional[str]


class OverBudgetDesign(Record):
    """OverBudgetDesign is a design that does not fit: the speed and the resources of what the request would take.
    """
    fps: float  # samples per second
    interval_clocks: float
    latency_clocks: int
    resources: Resources
    largest_share: float  # of the board's amount of any resource


class Overflow(Record):
    """OverflowReport describes the outputs that too narrow accumulators would give. No hardware of hlsgen computes
    them.
    """
    overflow: str
    layers: List[LayerOverflow]
    samples_changed: int  # samples whose outputs differ from the model's
    accuracy: Optional[Accuracy]
    orders: Optional[List[RandomOrderOverflow]]  # of --acc-order: random orders of addition


class ParetoPoint(Record):
    """FrontItem is the JSON of one design of a front.
    """
    fps: float
    interval_clocks: float
    latency_clocks: int
    cost: Resources
    certificate: Certificate


class ParetoResult(Record):
    """FrontJSON is the JSON of a front.
    """
    version: int  # JSONVersion
    model: str
    example: bool
    board: str
    part: str
    clock_mhz: float
    measure: str
    whole: bool
    points: List[ParetoPoint]
    diagnostics: List[Diag]
    error: Optional[str]


class PartFigures(Record):
    """Holds what one source, such as HLS or the board, states about a part of a design. Unknown figures are zero or
    nil.
    """
    resources: Optional[Resources]
    period_ns: Optional[float]
    latency_clocks: Optional[int]  # latency of the pipeline
    interval_clocks: Optional[int]  # interval from frame to frame
    samples_per_second: Optional[float]
    slacks: Optional[Slacks]


class PointBounds(Record):
    """Holds limits that no design within the budget exceeds. If no rate or interval was given, FPS and Interval bound
    the speed, and Least is the least amount at that speed. Otherwise Least is the least amount at the given speed.
    """
    fps_at_most: Optional[float]  # samples per second
    interval_clocks_at_least: Optional[int]
    measure: str
    at_least: float  # the least value of Measure: a share of the budget, or an amount


class PointResult(Record):
    """PointResult is the result of one search of a sweep: a design, the reason why there is none, or bounds of all
    designs.
    """
    id: Optional[str]  # the same for equal designs; empty if there is no design
    board: str
    part: str
    clock_mhz: float  # the requested clock
    fps_asked: Optional[float]  # samples per second
    interval_asked_clocks: Optional[float]  # the requested interval
    memory: str
    compute: str
    max_use: str
    interleave: int  # samples that take turns, all in one frame
    backend: Optional[str]
    budget: Optional[Resources]
    precision: Optional[str]  # the precision that the model was quantised to again, and its accuracy; empty if the model stays as it is
    accuracy: Optional[Accuracy]
    status: str
    reason: Optional[str]  # why Status is not Fits
    fps: Optional[float]  # samples per second
    clock_reached_mhz: Optional[float]  # the requested clock, or the fastest that every layer has a fold for
    interval_clocks: Optional[float]
    latency_clocks: Optional[int]
    resources: Optional[Resources]
    largest_share: Optional[float]  # the largest share of the board's amount of any resource
    bottleneck: Optional[str]
    proved: bool  # whether the search proved that no design is better
    clocks: Optional[List[LayerClocksPerFrame]]
    folding: Optional[Any]  # the folding file of the design, with the depths of its FIFOs
    bounds: Optional[PointBounds]
    over_budget: Optional[OverBudgetDesign]
    sequences: Optional[SequenceRates]
    front: Optional[List[str]]  # the resources in which no other point with this board and clock is as fast and takes as little
    chosen: Optional[bool]
    synthesis: Optional[Vendor]


class PrecisionAccuracies(Record):
    """Holds the accuracies of a model that was quantised again: of its float and its own form, and of each variant.
    """
    labelled: bool  # whether accuracies compare with labels; if not, with the largest outputs of the float model, which counts as right
    float: Accuracy
    as_is: Accuracy
    bare: Optional[bool]  # whether it has no quantisers
    least: Optional[MinimalNodeBits]


class ProductStats(Record):
    """ProductStats holds the counts of one sum of products: of data with weights, or of data with data.
    """
    tensor: str  # tensor of the sums; in a recurrence, its name in the body
    input_type: str
    input_width: int
    weight_type: str  # type of the weights; for data with data, type of the second factor
    weight_width: int
    terms: int  # products in a sum: inputs of a group, times kernel positions
    sums: int  # number of sums in all time steps
    counts: OperationCounts
    zeros_per_channel: Optional[List[int]]  # zero weights per output channel, in the order of the weights; absent for data with data


class RandomOrderOverflow(Record):
    """RandomOrderOverflow holds the results of a run in which each layer adds its products in a random order of its
    own.
    """
    samples_changed: int
    accuracy: Optional[Accuracy]


class ReportedDelay(Record):
    """Is an operation's delay in schedule reports: the median of Reports operations.
    """
    operation: str
    bits: int
    ns: float
    operations: int


class ReportedPipelineDepth(Record):
    """Is the depth of a pipeline in a report. Ours is the depth by the tables, or 0 if it is not known.
    """
    name: str
    depth: int
    interval: int
    ours: Optional[int]


class Resources(Record):
    """Counts the resources of an FPGA. BRAM is in RAMB18 halves. LUTRAM is a part of LUT: the LUTs used as memory, as
    shift registers or as RAM, which only some LUTs of a device can be.
    """
    LUT: int
    LUTRAM: int
    FF: int
    BRAM_18K: int
    URAM: int
    DSP: int


class ResourcesAndPeriod(Record):
    """ResourcesAndPeriod holds the resources and the clock period of a design.
    """
    resources: Resources
    period_ns: Optional[float]  # shortest period that the tool states; 0 if none


class SequenceLengths(Record):
    """SequenceLengthsReport gives the range of sequence lengths. Other figures per frame are those of the longest
    sequence.
    """
    axis: str
    min_steps: int
    max_steps: int


class SequenceRates(Record):
    """SequenceRatesReport gives the rates of a design that accepts sequences of different lengths, one per frame: for
    the longest and for the shortest sequences.
    """
    axis: str  # name of the model's axis
    longest: SequenceTiming
    shortest: SequenceTiming


class SequenceTiming(Record):
    """SequenceTimingReport gives the timing of consecutive sequences of one length.
    """
    steps: int
    interval_clocks: float  # from the start of a sequence to the start of the next one
    clocks_per_step: float  # the interval divided by Steps
    latency_clocks: int
    fps: float


class Share(Record):
    """Share is the JSON of one resource: the use of a design, the budget, and the amount on the board.
    """
    resource: str
    used: float  # an amount; for the mean, a share
    budget: float
    board: float


class SimulationResult(Record):
    """Simulated is the JSON of a simulation. The outputs themselves are in the file that --output names.
    """
    version: int  # JSONVersion
    model: str
    example: bool
    engine: str
    samples: int
    steps: Optional[List[int]]  # the length of each sample in steps, if lengths differ
    outputs: List[Tensor]
    accuracy: Optional[Accuracy]
    overflow: Optional[Overflow]
    stated_accuracy: Optional[float]  # with labels: the accuracy that info.json beside the model gives, from 0 to 1
    decode: Optional[str]
    texts: Optional[List[str]]
    fps: Optional[float]
    interval_clocks: Optional[float]
    latency_clocks: Optional[int]
    simulated_clocks: Optional[int]  # of all samples
    sequences: Optional[SequenceRates]
    folding: Optional[Dict[str, Folded]]
    compare: Optional[OutputComparison]
    diagnostics: List[Diag]
    error: Optional[str]


class Slacks(Record):
    """Are the worst slacks of a routed design in ns. Below 0 the design misses its clock.
    """
    wns_ns: float  # of setup
    whs_ns: float  # of hold, which no slower clock mends


class StatsResult(Record):
    """Counted is the JSON of statistics.
    """
    version: int  # JSONVersion
    model: str
    example: bool
    buildable: bool  # the whole model can be built
    layers: List[LayerStats]
    others: List[WeightlessNodeStats]  # nodes that compute on data without weights
    total: StatsTotal
    inference_cost: Dict[str, float]  # the figures of qonnx' inference_cost, by its keys
    samples: Optional[int]  # of --data
    neural_efficiency: Optional[float]  # the geometric mean over the layers
    plot: Optional[str]
    diagnostics: List[Diag]
    error: Optional[str]


class StatsTotal(Record):
    """StatsTotal has the counts of a whole network. A weight tensor that several layers share counts once.
    """
    macs: int  # products that are added up, including products with padding
    effective_macs: int  # products whose weight is not 0
    bops: float  # bit operations: effective_macs * input bits * weight bits + macs * (input bits + weight bits + log2(terms))
    dense_bops: float  # bit operations if products with a weight of 0 count as well
    weights: int  # number of weights
    zero_weights: int
    weight_bits: int  # memory of the weights, by their declared type
    input_bits: int  # memory of all data that are read, by their declared types
    output_bits: int  # memory of the output, in the type of the quantiser behind it
    macs_per_byte: float
    entropy: Optional[WeightEntropy]


class Stream(Record):
    """StreamReport describes a stream at the input or output of a layer.
    """
    tensor: Optional[str]
    shape: List[int]
    type: str
    min: int
    max: int
    word_bits: Optional[int]
    words_per_frame: Optional[int]
    fifo_depth: Optional[int]


class SumHistogramBin(Record):
    """SumHistogramBin counts the sums of one sign that need the same number of bits. Min and Max are the ends of its
    range.
    """
    bits: int  # as a signed number
    min: int
    max: int
    sums: int


class SweepPoints(Record):
    """Sheet is the content of sweep.json: the points and what they have in common.
    """
    version: int  # JSONVersion
    model: str
    precision: Optional[PrecisionAccuracies]
    accuracy: Optional[Accuracy]
    points: List[PointResult]


class SweepResult(Record):
    """Swept is the JSON of a sweep. sweep.json has the points.
    """
    version: int  # JSONVersion
    model: str
    points: int
    fates: Dict[str, int]
    searches: int
    searches_made_now: int
    precision: Optional[PrecisionAccuracies]
    accuracy: Optional[Accuracy]
    chosen: Optional[PointResult]
    out: str
    files: List[str]
    slurm_jobs: Optional[int]
    reports_collected: Optional[int]
    diagnostics: List[Diag]
    error: Optional[str]


class SynthResult(Record):
    """Synthesised is the JSON of the synth command.
    """
    version: int  # JSONVersion
    model: str
    tasks: int
    unchanged: int
    made_now: int
    failed: List[str]
    diagnostics: List[Diag]
    error: Optional[str]


class Tensor(Record):
    """Tensor is the JSON of an output, without its elements.
    """
    name: str
    dtype: str
    shape: List[int]


class TraceIndex(Record):
    """TraceIndex describes the arrays of a trace file. The file has it as the array index.json: the bytes of a JSON
    text.
    """
    version: int  # JSONVersion
    samples: int  # the first axis of all values and integers
    tensors: List[TraceIndexRow]


class TraceIndexRow(Record):
    """TraceIndexRow names the arrays of a tensor. Where it is the integers of a stream, values are scale*integers +
    bias.
    """
    tensor: str  # the name in the ONNX file
    layer: Optional[str]  # the layer that computes it, where a stream carries it
    integers: Optional[str]
    scale: Optional[str]  # of one sample
    bias: Optional[str]  # of one sample


class ValueRange(Record):
    """ValueRange is a range of integers, with both ends included.
    """
    least: int
    most: int


class Vendor(Record):
    """VendorReport holds the vendor's figures for one design. Missing figures are nil.
    """
    hls: Optional[ResourcesAndPeriod]
    vivado: Optional[ResourcesAndPeriod]
    hls_interval_clocks: Optional[int]
    hls_latency_clocks: Optional[int]


class Verification(Record):
    """VerificationReport describes the comparison of the engines in a build.
    """
    samples: int
    recorded: int  # number of samples in the test bench that csim runs
    engines: List[str]  # engines that agree with the model's own execution
    left_out: Optional[str]
    steps: Optional[List[int]]  # lengths of the samples, if sequences differ in length
    fewer_samples_of_large_network: bool  # the network is so large that fewer samples than usual were run


class WeightEntropy(Record):
    """WeightEntropy tells how far weights can be compressed without loss if each weight is coded by itself (arXiv
    2301.13376). For several tensors, it holds the mean of theirs, weighted by their numbers of elements, since each
    tensor has a code of its own.
    """
    bits_per_weight: float  # -sum p*log2(p) over the codes that occur, where p is the frequency of a code
    compression: Optional[float]  # 32 bits per weight divided by the entropy; absent if the entropy is 0, which means that all weights are equal


class WeightLoad(Record):
    """WeightLoadReport gives the time to load weights before the first frame, and the traffic of weights that layers
    read with every frame.
    """
    tables: int
    words: int  # of 32 bits, with a last word that no table takes
    bytes: int
    clocks_at_least: Optional[int]  # minimum time from the first word to the last, through the host's port, if the memory is always ready; 0 for registers
    seconds_at_least: Optional[float]  # Clocks in seconds, or longer if the memory's peak rate limits it
    gb_per_s: Optional[float]  # rate while loading
    of_port: Optional[float]  # share of the port's rate, to a thousandth; 0 without a port
    of_memory: Optional[float]  # share of the memory's peak rate; 0 if that is unknown
    mover: bool  # the build contains a mover that reads the weights
    external: Optional[List[LayerExternalWeights]]


class WeightlessNodeStats(Record):
    """WeightlessNodeStats holds the counts of a node that computes without weights. Its operations do not count as
    MACs.
    """
    index: int
    node: str
    op: str
    becomes: str
    operations: int  # additions and products of data with data, element by element, and terms of sums over windows or axes


class WeightsResult(Record):
    """Weighed is the JSON of the weights command.
    """
    version: int  # JSONVersion
    model: str
    example: bool
    design: str  # the hash of the hardware
    words: int  # of 32 bits
    tables: int
    out: str
    files: List[str]
    diagnostics: List[Diag]
    error: Optional[str]


class WrittenFile(Record):
    """WrittenFile is the path, size and hash of a file that hlsgen wrote.
    """
    path: str  # path below the folder, with slashes
    bytes: int
    sha256: str


AccumulatorSumsOnSamples._makers = {"histogram": list_of(SumHistogramBin)}
AccumulatorWidths._optional = ("zero_centred_bound_bits",)
Board._optional = ("aliases", "family", "speed_grade", "bram", "bram_kbit", "spram", "ps", "pll_mhz", "memory_ports", "board_part", "board_files", "board_connections", "platform", "pins", "unverified", "ps_source", "pll_source", "board_part_source", "platform_source", "pin_source",)
Bottleneck._optional = ("state_comes_back",)
BuildResult._optional = ("clock_on_board_mhz", "assumed_pll_mhz", "least", "most", "sequences", "host_port", "weights", "accuracy", "kept", "error",)
BuildResult._makers = {"latency_at_ends_clocks": IOLatencyClocks, "least": IntervalAndLatency, "most": IntervalAndLatency, "sequences": SequenceRates, "series": FrameSeries, "bottleneck": Bottleneck, "host_port": HostPort, "weights": WeightLoad, "layers": list_of(Layer), "fifo_cost": Resources, "host_cost": Resources, "cost": Resources, "resources": list_of(Share), "certificate": Certificate, "verified": Verification, "accuracy": Accuracy, "diagnostics": list_of(Diag)}
BuiltChannelSums._optional = ("weights", "slack_bits",)
BuiltChannelSums._makers = {"weights": ChannelWeightSums}
Certificate._optional = ("least_possible_interval_clocks", "options_below_the_least_interval", "few_bits_in_luts", "dear_serial_folds", "large_tables_in_luts", "few_words_in_luts", "latency_clocks", "gap", "interrupted", "lengths",)
Certificate._makers = {"options_below_the_least_interval": FoldExclusion, "minimised": list_of(MinimisedMeasure), "latency_clocks": LatencyWithBound, "lengths": SequenceLengths}
ChannelSumsInModelIntegers._optional = ("zero_centred_bound_bits", "slack_bits",)
CheckResult._optional = ("lengths", "accumulators", "error",)
CheckResult._makers = {"nodes": list_of(NodeFate), "layers": list_of(Layer), "lengths": SequenceLengths, "accumulators": list_of(LayerAccumulator), "diagnostics": list_of(Diag)}
CollectResult._optional = ("missed_bitstream", "error",)
CollectResult._makers = {"parts": list_of(FiguresBySource), "diagnostics": list_of(Diag)}
ConvertResult._optional = ("to", "error",)
ConvertResult._makers = {"before": list_of(OperatorCount), "after": list_of(OperatorCount), "diagnostics": list_of(Diag)}
DeclaredAccumulators._optional = ("zero_centred_bound_bits", "l1_cap", "slack_bits",)
DeclaredAccumulators._makers = {"channels": list_of(ChannelSumsInModelIntegers)}
Diag._optional = ("node", "op", "where", "hint", "notes", "text",)
DotProductWidthsAndLUTs._optional = ("cells",)
DotProductWidthsAndLUTs._makers = {"parts": list_of(MACPartLUTs)}
FiguresBySource._optional = ("kind", "estimate", "hls", "vivado", "vivado_rtl", "bitstream", "board",)
FiguresBySource._makers = {"estimate": PartFigures, "hls": PartFigures, "vivado": PartFigures, "vivado_rtl": PartFigures, "bitstream": PartFigures, "board": PartFigures}
Fold._optional = ("SIMD", "ram_style", "resType", "steps", "accumulator_bits_per_pe",)
FormatsResult._optional = ("models", "error",)
FormatsResult._makers = {"formats": list_of(DotProductWidthsAndLUTs), "models": list_of(ModelAccuracy), "diagnostics": list_of(Diag)}
HostPort._optional = ("memory_gb_per_s",)
IntervalAndLatency._optional = ("interval_clocks",)
LatenciesResult._optional = ("part", "tool", "error",)
LatenciesResult._makers = {"delays": list_of(ReportedDelay), "processes": list_of(ReportedPipelineDepth), "diagnostics": list_of(Diag)}
Layer._optional = ("modules", "accumulator", "fold", "clocks", "pipeline_latency_clocks", "pipeline_latency_range_clocks", "table_latency_clocks", "recurrences", "cost_parts", "cost", "carried_path_ns", "synthesis_minutes",)
Layer._makers = {"in": list_of(Stream), "out": list_of(Stream), "accumulator": AccumulatorWidths, "fold": Fold, "pipeline_latency_range_clocks": ValueRange, "cost_parts": list_of(CostContribution), "cost": Resources}
LayerAccumulator._optional = ("node", "asked_bits", "declared", "not_declared", "samples",)
LayerAccumulator._makers = {"declared": DeclaredAccumulators, "built": LayerBuiltAccumulators, "samples": AccumulatorSumsOnSamples}
LayerBuiltAccumulators._optional = ("slack_bits",)
LayerBuiltAccumulators._makers = {"channels": list_of(BuiltChannelSums)}
LayerStats._optional = ("reverse", "entropy", "states",)
LayerStats._makers = {"entropy": WeightEntropy, "states": NeuronStateStats, "products": list_of(ProductStats)}
Manifest._makers = {"verified": Verification, "files": list_of(WrittenFile)}
MinimalNodeBits._makers = {"bits": list_of(NodeBits)}
ModelAccuracy._optional = ("own_accuracy",)
NodeFate._optional = ("module",)
OutputComparison._optional = ("first_difference",)
OverBudgetDesign._makers = {"resources": Resources}
Overflow._optional = ("accuracy", "orders",)
Overflow._makers = {"layers": list_of(LayerOverflow), "accuracy": Accuracy, "orders": list_of(RandomOrderOverflow)}
ParetoPoint._makers = {"cost": Resources, "certificate": Certificate}
ParetoResult._optional = ("error",)
ParetoResult._makers = {"points": list_of(ParetoPoint), "diagnostics": list_of(Diag)}
PartFigures._optional = ("resources", "period_ns", "latency_clocks", "interval_clocks", "samples_per_second", "slacks",)
PartFigures._makers = {"resources": Resources, "slacks": Slacks}
PointBounds._optional = ("fps_at_most", "interval_clocks_at_least",)
PointResult._optional = ("id", "fps_asked", "interval_asked_clocks", "backend", "budget", "precision", "accuracy", "reason", "fps", "clock_reached_mhz", "interval_clocks", "latency_clocks", "resources", "largest_share", "bottleneck", "clocks", "folding", "bounds", "over_budget", "sequences", "front", "chosen", "synthesis",)
PointResult._makers = {"budget": Resources, "accuracy": Accuracy, "resources": Resources, "clocks": list_of(LayerClocksPerFrame), "bounds": PointBounds, "over_budget": OverBudgetDesign, "sequences": SequenceRates, "synthesis": Vendor}
PrecisionAccuracies._optional = ("bare", "least",)
PrecisionAccuracies._makers = {"float": Accuracy, "as_is": Accuracy, "least": MinimalNodeBits}
ProductStats._optional = ("zeros_per_channel",)
ProductStats._makers = {"counts": OperationCounts}
RandomOrderOverflow._optional = ("accuracy",)
RandomOrderOverflow._makers = {"accuracy": Accuracy}
ReportedPipelineDepth._optional = ("ours",)
ResourcesAndPeriod._optional = ("period_ns",)
ResourcesAndPeriod._makers = {"resources": Resources}
SequenceRates._makers = {"longest": SequenceTiming, "shortest": SequenceTiming}
SimulationResult._optional = ("steps", "accuracy", "overflow", "stated_accuracy", "decode", "texts", "fps", "interval_clocks", "latency_clocks", "simulated_clocks", "sequences", "folding", "compare", "error",)
SimulationResult._makers = {"outputs": list_of(Tensor), "accuracy": Accuracy, "overflow": Overflow, "sequences": SequenceRates, "folding": dict_of(Folded), "compare": OutputComparison, "diagnostics": list_of(Diag)}
StatsResult._optional = ("samples", "neural_efficiency", "plot", "error",)
StatsResult._makers = {"layers": list_of(LayerStats), "others": list_of(WeightlessNodeStats), "total": StatsTotal, "diagnostics": list_of(Diag)}
StatsTotal._optional = ("entropy",)
StatsTotal._makers = {"entropy": WeightEntropy}
Stream._optional = ("tensor", "word_bits", "words_per_frame", "fifo_depth",)
SweepPoints._optional = ("precision", "accuracy",)
SweepPoints._makers = {"precision": PrecisionAccuracies, "accuracy": Accuracy, "points": list_of(PointResult)}
SweepResult._optional = ("precision", "accuracy", "chosen", "slurm_jobs", "reports_collected", "error",)
SweepResult._makers = {"precision": PrecisionAccuracies, "accuracy": Accuracy, "chosen": PointResult, "diagnostics": list_of(Diag)}
SynthResult._optional = ("error",)
SynthResult._makers = {"diagnostics": list_of(Diag)}
TraceIndex._makers = {"tensors": list_of(TraceIndexRow)}
TraceIndexRow._optional = ("layer", "integers", "scale", "bias",)
Vendor._optional = ("hls", "vivado", "hls_interval_clocks", "hls_latency_clocks",)
Vendor._makers = {"hls": ResourcesAndPeriod, "vivado": ResourcesAndPeriod}
Verification._optional = ("left_out", "steps",)
WeightEntropy._optional = ("compression",)
WeightLoad._optional = ("clocks_at_least", "seconds_at_least", "gb_per_s", "of_port", "of_memory", "external",)
WeightLoad._makers = {"external": list_of(LayerExternalWeights)}
WeightsResult._optional = ("error",)
WeightsResult._makers = {"diagnostics": list_of(Diag)}
