"""Writes alkaid's Verilog for the product of a constant matrix. usage: peer.py MATRIX.json FOLDER

MATRIX.json has "rows", the matrix, and the range "lo" to "hi" of its inputs. FOLDER/two gets modules with adders of two
operands, and FOLDER/three such with up to three, by the cell hlsgen_add_three. Both are named peer. Products of random
vectors must be exact.
"""

import json
import sys
from pathlib import Path

import numpy as np
from alkaid.codegen.rtl import RTLModel
from alkaid.trace import FVArrayInput, trace

VECTORS = 1000

# The sum of three by the cell, of which the first operand is never subtracted.
SUM = """
module peer_sum #(parameter W = 1, parameter T = W, parameter N0 = 0, parameter N1 = 0, parameter N2 = 0) (
    input [W-1:0] x0, input [W-1:0] x1, input [W-1:0] x2, output [W-1:0] y);
    generate
        if (N0 == 0) begin : first
            hlsgen_add_three #(.W(W), .T(T), .MINUS_B(N1), .MINUS_C(N2)) it (.a(x0), .b(x1), .c(x2), .sum(y));
        end else if (N1 == 0) begin : second
            hlsgen_add_three #(.W(W), .T(T), .MINUS_B(N0), .MINUS_C(N2)) it (.a(x1), .b(x0), .c(x2), .sum(y));
        end else if (N2 == 0) begin : third
            hlsgen_add_three #(.W(W), .T(T), .MINUS_B(N0), .MINUS_C(N1)) it (.a(x2), .b(x0), .c(x1), .sum(y));
        end else begin : none
            assign y = -x0 - x1 - x2;
        end
    endgenerate
endmodule
"""


def put(text, prefix, width, low):
    """Returns text with the cell for one of its sums."""
    was = f"wire signed [{prefix}_BW_ADD-1:0] accum = term0 + term1 + term2;"
    if text.count(was) != 1:
        sys.exit("the peer's sum of three is written in another way")
    bits = f"[{low}+:{width}]"
    widest = f"max2(max2(BW_INPUT0+PAD0, BW_INPUT1+PAD1), BW_INPUT2+PAD2)-{low}"
    tables = f"SIGNED0 || SIGNED1 || SIGNED2 ? {width} : max2(min2({widest}, {width}), 1)"
    return text.replace(was, f"""wire signed [{prefix}_BW_ADD-1:0] accum;
      peer_sum #(.W({width}), .T({tables}), .N0(NEGATE0), .N1(NEGATE1), .N2(NEGATE2)) it (.x0(in0_ext{bits}), .x1(in1_ext{bits}),
          .x2(in2_ext{bits}), .y(accum[{width}-1:0]));""")


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        given = json.load(f)
    rows, lo, hi = np.array(given["rows"]), given["lo"], given["hi"]
    bits = max(hi, -lo - 1).bit_length()
    columns = rows.shape[1]
    codes = FVArrayInput((columns,))
    x = codes.quantize(np.full(columns, lo < 0), np.full(columns, bits), np.zeros(columns, int))
    comb = trace(codes, x @ rows.T.astype(np.float64))
    vectors = np.random.default_rng(45).integers(lo, hi, (VECTORS, columns), endpoint=True)
    if not np.array_equal(comb.predict(vectors.astype(np.float64)), vectors @ rows.T):
        sys.exit("a product is wrong")
    for name, fuse in (("two", False), ("three", True)):
        folder = Path(sys.argv[2]) / name
        RTLModel(comb, folder, "peer", print_latency=False, ternary_fuse=fuse).write()
        file = folder / "src/static/ternary_adder.v"
        text = put(file.read_text(), "SUFFIX", "SUFFIX_BW", "UPPER_START")
        file.write_text(put(text, "FULL", "(BW_OUT+DROP_LSBS)", "0") + SUM)


main()
