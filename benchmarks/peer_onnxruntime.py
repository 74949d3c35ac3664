#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: build/peers/onnxruntime/bin/python benchmarks/peer_onnxruntime.py [--threads N] [--repeats N]

The values of the MT decoder in ONNX Runtime, which has no derivatives: those cases stay empty. Prints {"peer": name and version, "seconds": {case: {metric: median}}} as JSON.
"""
import argparse
import json
import statistics
import time

import numpy
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

CODES, COLUMNS = 16, 40


class Graph:
    """Nodes and weights of a network, added one after the other; `last` is the name of the newest value."""

    def __init__(self, dtype):
        self.random, self.dtype, self.nodes, self.weights, self.last = numpy.random.default_rng(1), dtype, [], [], "codes"

    def weight(self, values):
        self.weights.append(numpy_helper.from_array(values, f"w{len(self.weights)}"))
        return self.weights[-1].name

    def normal(self, shape, n_in):
        return self.weight((self.random.standard_normal(shape) * (2.0 / n_in) ** 0.5).astype(self.dtype))

    def add(self, op, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, [self.last, *inputs], [name], **attributes))
        self.last = name

    def swish(self):
        before = self.last
        self.add("Sigmoid")
        self.add("Mul", before)

    def up(self, n_in, n_out):
        self.add("ConvTranspose", self.normal((n_in, n_out, 3), 3 * n_in), strides=[2], pads=[1, 1], output_padding=[1])

    def conv(self, n_in, n_out):
        self.add("Conv", self.normal((n_out, n_in, 3), 3 * n_in), pads=[1, 1])

    def block(self, n):
        self.conv(n, n)
        ones, zeros = numpy.ones(n, self.dtype), numpy.zeros(n, self.dtype)
        self.add("BatchNormalization", *(self.weight(values) for values in (ones, zeros, zeros, ones)))
        self.swish()


def decoder(dtype):
    """The decoder of peer_torch.py with random weights, as a file in memory."""
    graph = Graph(dtype)
    graph.add("MatMul", graph.normal((CODES, 256), CODES))
    graph.add("Add", graph.weight(numpy.zeros(256, dtype)))
    graph.swish()
    graph.add("Reshape", graph.weight(numpy.array([-1, 64, 4], numpy.int64)))
    for n_in, n_out in ((64, 32), (32, 16)):
        graph.up(n_in, n_out)
        graph.block(n_out)
        graph.block(n_out)
    graph.up(16, 1)
    graph.conv(1, 1)
    kind = helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype)) if dtype != numpy.float32 else TensorProto.FLOAT
    values = [helper.make_tensor_value_info(name, kind, shape) for name, shape in (("codes", [COLUMNS, CODES]), (graph.last, [COLUMNS, 1, 32]))]
    made = helper.make_graph(graph.nodes, "decoder", values[:1], values[1:], graph.weights)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def median_seconds(work, repeats):
    seconds = []
    for i in range(repeats + 2):
        begin = time.perf_counter()
        work()
        if i > 1:
            seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds)


def values(dtype, threads, repeats):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(decoder(dtype), options, providers=["CPUExecutionProvider"])
    codes = numpy.random.default_rng(4).standard_normal((COLUMNS, CODES)).astype(dtype)
    return {"values": median_seconds(lambda: session.run(None, {"codes": codes}), repeats)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=21)
    arguments = parser.parse_args()
    seconds = {}
    for dtype, name in ((numpy.float32, "f32"), (numpy.float64, "f64")):
        try:
            seconds[f"MT decoder, 40 columns, {name}"] = values(dtype, arguments.threads, arguments.repeats)
        except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
            pass  # it has no convolutions in f64
    print(json.dumps({"peer": f"onnxruntime {onnxruntime.__version__}", "seconds": seconds}))


if __name__ == "__main__":
    main()
