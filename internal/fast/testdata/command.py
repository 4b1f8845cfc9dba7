"""Runs an ONNX model over the samples of a .npy file with onnxruntime on one thread, as a script of a user would:

    command.py MODEL SAMPLES OUTPUT BATCH on|off

BATCH samples are run at a time; on and off are onnxruntime's optimisations of the graph. It prints the CPU seconds that
its start has taken: Python's, that of the packages, and the model's.
"""

import sys
import time

import numpy as np
import onnxruntime as ort


def main(model, samples, output, batch, optimised):
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    if optimised == "off":
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    name, step = session.get_inputs()[0].name, int(batch)
    print(time.process_time())
    x = np.load(samples)
    made = [session.run(None, {name: x[i : i + step]})[0] for i in range(0, len(x), step)]
    np.save(output, np.concatenate(made).astype(np.float32, copy=False))


main(*sys.argv[1:])
