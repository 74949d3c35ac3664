#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: build/peers/jax/bin/python benchmarks/peer_jax.py [--threads N] [--repeats N] [--only gpt]

The training step, the decoder's Jacobian and the small ops of bench_engine in JAX on the processor. Step and Jacobian are compiled by jax.jit before the first
measured call; small ops run one by one, without it. N threads are N processors. Prints {"peer": name and version, "seconds": {case: {metric: median}}} as JSON.
"""
import argparse
import functools
import json
import os
import statistics
import sys
import time

CHAIN = 1000
BATCH, LAYERS, CODES = 64, 32, 16


def arguments_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=21)
    parser.add_argument("--only", choices=["gpt"], help="the step of the language model alone, with the memory of the process in MB, since that counts what a process has ever held")
    return parser.parse_args()


# XLA makes one thread per processor it may use, so this comes before the import.
ARGUMENTS = arguments_of()
PROCESSORS = sorted(os.sched_getaffinity(0))
if len(PROCESSORS) < ARGUMENTS.threads:
    sys.exit(f"peer_jax: expected {ARGUMENTS.threads} processors, got {len(PROCESSORS)}")
os.sched_setaffinity(0, PROCESSORS[: ARGUMENTS.threads])
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy  # noqa: E402

jax.config.update("jax_enable_x64", True)
NAMES = {jnp.float32: "f32", jnp.float64: "f64"}


def median_seconds(work, repeats):
    seconds = []
    for i in range(repeats + 2):
        begin = time.perf_counter()
        jax.block_until_ready(work())
        if i > 1:
            seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds)


def conv(x, w, stride=1):
    """x [n, extent, c], w [window, c, k]."""
    return jax.lax.conv_general_dilated(x, w, (stride,), ((1, 1),), dimension_numbers=("NWC", "WIO", "NWC"))


def upsample(x, w):
    """The adjoint of a convolution with window 3, stride 2, padding 1: twice the extent."""
    return jax.lax.conv_general_dilated(x, w, (1,), ((1, 2),), lhs_dilation=(2,), dimension_numbers=("NWC", "WIO", "NWC"))


def batch_norm(x, p, running, training):
    mean, var = (x.mean((0, 1)), x.var((0, 1))) if training else running
    n = x.shape[0] * x.shape[1]
    moved = (0.9 * running[0] + 0.1 * mean, 0.9 * running[1] + 0.1 * var * n / (n - 1)) if training else running
    return (x - mean) * jax.lax.rsqrt(var + 1e-5) * p["scale"] + p["shift"], moved


class Maker:
    """Parameters and running statistics by the order in which they are made."""

    def __init__(self, dtype):
        self.random, self.dtype, self.parameters, self.running = numpy.random.default_rng(1), dtype, [], []

    def normal(self, shape, n_in):
        return jnp.asarray(self.random.standard_normal(shape) * (2.0 / n_in) ** 0.5, self.dtype)

    def weights(self, window, n_in, n_out):
        self.parameters.append({"w": self.normal((window, n_in, n_out), window * n_in)})

    def block(self, n_in, n_out):
        self.parameters.append({"w": self.normal((3, n_in, n_out), 3 * n_in), "scale": jnp.ones(n_out, self.dtype), "shift": jnp.zeros(n_out, self.dtype)})
        self.running.append((jnp.zeros(n_out, self.dtype), jnp.ones(n_out, self.dtype)))

    def linear(self, n_in, n_out):
        self.parameters.append({"w": self.normal((n_in, n_out), n_in), "b": jnp.zeros(n_out, self.dtype)})


def make_encoder(make):
    n_in = 1
    for n_out in (16, 32, 64):
        make.block(n_in, n_out)
        make.block(n_out, n_out)
        n_in = n_out
    make.linear(256, CODES)
    make.linear(256, CODES)


def make_decoder(make):
    make.linear(CODES, 256)
    for n_in, n_out in ((64, 32), (32, 16)):
        make.weights(3, n_in, n_out)
        make.block(n_out, n_out)
        make.block(n_out, n_out)
    make.weights(3, 16, 1)
    make.weights(3, 1, 1)


class Reader:
    """Hands parameters out in the order in which they were made."""

    def __init__(self, parameters, running, training):
        self.parameters, self.running, self.training, self.moved = iter(parameters), iter(running), training, []

    def block(self, x):
        p = next(self.parameters)
        y, moved = batch_norm(conv(x, p["w"]), p, next(self.running), self.training)
        self.moved.append(moved)
        return jax.nn.silu(y)

    def linear(self, x):
        p = next(self.parameters)
        return x @ p["w"] + p["b"]

    def weights(self):
        return next(self.parameters)["w"]


def decode(read, code):
    x = jax.nn.silu(read.linear(code)).reshape(-1, 4, 64)
    for _ in range(2):
        x = read.block(read.block(upsample(x, read.weights())))
    return conv(upsample(x, read.weights()), read.weights())[:, :, 0]


def autoencode(read, profiles, noise):
    x = profiles[:, :, None]
    for _ in range(3):
        x = read.block(read.block(x))
        x = x.reshape(x.shape[0], x.shape[1] // 2, 2, x.shape[2]).max(2)
    flat = x.reshape(x.shape[0], -1)
    mean, log_variance = read.linear(flat), read.linear(flat)
    return mean, log_variance, decode(read, mean + jnp.exp(0.5 * log_variance) * noise)


def similarity(x, y):
    c1, c2 = 0.02, 0.06
    mean_x, mean_y = x.mean(), y.mean()
    covariance = ((x - mean_x) * (y - mean_y)).mean()
    return (2 * mean_x * mean_y + c1) * (2 * covariance + c2) / ((mean_x**2 + mean_y**2 + c1) * (x.var() + y.var() + c2))


def training(dtype, repeats):
    make = Maker(dtype)
    make_encoder(make)
    make_decoder(make)
    random = numpy.random.default_rng(2)
    profiles = jnp.asarray(3 + 0.5 * random.standard_normal((BATCH, LAYERS)), dtype)
    noise = jnp.asarray(random.standard_normal((BATCH, CODES)), dtype)

    def loss(parameters, running):
        read = Reader(parameters, running, training=True)
        mean, log_variance, decoded = autoencode(read, profiles, noise)
        divergence = -0.5 * (1 + log_variance - mean**2 - jnp.exp(log_variance)).mean()
        return ((profiles - decoded) ** 2).mean() + 0.06 * (1 - similarity(profiles, decoded)) + 0.01 * divergence, read.moved

    @jax.jit
    def step(parameters, running, m, v, t):
        (value, moved), slope = jax.value_and_grad(loss, has_aux=True)(parameters, running)
        m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, slope)
        v = jax.tree.map(lambda a, g: 0.999 * a + 0.001 * g * g, v, slope)
        rate = (8e-4 * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)).astype(dtype)
        return jax.tree.map(lambda p, a, b: p - rate * a / (jnp.sqrt(b) + 1e-8), parameters, m, v), moved, m, v, t + 1, value

    zeros = jax.tree.map(jnp.zeros_like, make.parameters)
    state = [make.parameters, make.running, zeros, zeros, jnp.ones((), dtype)]

    def run():
        *state[:], value = step(*state)
        return float(value)

    return {"loss, gradients, Adam": median_seconds(run, repeats)}


def decoder_jacobian(dtype, repeats, columns=40):
    """The faster of batched forward and batched reverse mode, compiled."""
    make = Maker(dtype)
    make_decoder(make)
    codes = jnp.asarray(numpy.random.default_rng(4).standard_normal((columns, CODES)), dtype)

    def decoder(x):
        return decode(Reader(make.parameters, make.running, training=False), x)

    def one(code):
        return decoder(code[None])[0]

    routes = [jax.jit(jax.vmap(mode(one))) for mode in (jax.jacfwd, jax.jacrev)]
    values = jax.jit(decoder)
    return {"values": median_seconds(lambda: values(codes), repeats), "Jacobian": min(median_seconds(lambda: route(codes), repeats) for route in routes)}


def dispatch(repeats):
    start, other = jnp.ones(16, jnp.float32), jnp.ones(16, jnp.float32)

    def chain():
        x = start
        for _ in range(CHAIN):
            x = x + other
        return x

    def product(x):
        for _ in range(CHAIN):
            x = x * other
        return x.sum()

    slope = jax.value_and_grad(product)
    return {"chain of 1000 additions of 16 f32": {"record, run, free; per op": median_seconds(chain, repeats) / CHAIN},
            "chain of 1000 products of 16 f32": {"value and gradient, per op": median_seconds(lambda: slope(start), max(repeats // 4, 3)) / CHAIN}}


def chain_of_8(repeats):
    x = jnp.full(1 << 24, 0.3, jnp.float32)

    @jax.jit
    def chain(x):
        z = jnp.abs(0.5 - x * 1.5) + 0.25
        return jnp.maximum(-z * 0.75, 0.125) - 2.0

    return {"call": median_seconds(lambda: chain(x), repeats)}


class Gpt:
    """The language model of bench_compile: parameters as a tree, the loss as a function of them."""

    WIDTH, HEADS, WORDS, VOCABULARY, DEPTH, TEXTS = 384, 6, 256, 1024, 6, 8

    def __init__(self):
        random = numpy.random.default_rng(5)

        def normal(*shape):
            return jnp.asarray(0.02 * random.standard_normal(shape), jnp.float32)

        def norm():
            return {"scale": jnp.ones(self.WIDTH, jnp.float32), "shift": jnp.zeros(self.WIDTH, jnp.float32)}

        def linear(n_in, n_out):
            return {"w": normal(n_in, n_out), "b": jnp.zeros(n_out, jnp.float32)}

        w = self.WIDTH
        blocks = [{"norms": [norm(), norm()], "parts": linear(w, 3 * w), "out": linear(w, w), "wide": linear(w, 4 * w), "narrow": linear(4 * w, w)} for _ in range(self.DEPTH)]
        self.parameters = {"words": normal(self.VOCABULARY, w), "positions": normal(self.WORDS, w), "blocks": blocks, "norm": norm(), "logits": normal(w, self.VOCABULARY)}
        self.text, self.following = (jnp.asarray(random.integers(self.VOCABULARY, size=(self.TEXTS, self.WORDS))) for _ in range(2))

    def block(self, p, x):
        def norm(x, p):
            x = x - x.mean(-1, keepdims=True)
            return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * p["scale"] + p["shift"]

        def dense(x, p):
            return x @ p["w"] + p["b"]

        parts = dense(norm(x, p["norms"][0]), p["parts"]).reshape(*x.shape[:2], 3, self.HEADS, -1)
        seen = jax.nn.dot_product_attention(parts[:, :, 0], parts[:, :, 1], parts[:, :, 2], is_causal=True)
        x = x + dense(seen.reshape(x.shape), p["out"])
        return x + dense(jax.nn.gelu(dense(norm(x, p["norms"][1]), p["wide"]), approximate=False), p["narrow"])

    def loss(self, p):
        x = p["words"][self.text] + p["positions"]
        for block in p["blocks"]:
            x = self.block(block, x)
        x = x - x.mean(-1, keepdims=True)
        x = x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * p["norm"]["scale"] + p["norm"]["shift"]
        logits = jax.nn.log_softmax(x @ p["logits"])
        return -jnp.take_along_axis(logits, self.following[:, :, None], -1).mean()


def status_megabytes(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024e-6 for line in file if line.startswith(key))


def gpt(repeats):
    """Memory is what the process holds at most beyond what it held before, compiler included; the step takes its state over (donation)."""
    before = status_megabytes("VmRSS:")
    net = Gpt()

    @functools.partial(jax.jit, donate_argnums=(0, 1, 2))
    def step(parameters, m, v, t):
        value, slope = jax.value_and_grad(net.loss)(parameters)
        m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, slope)
        v = jax.tree.map(lambda a, g: 0.999 * a + 0.001 * g * g, v, slope)
        rate = (1e-3 * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)).astype(jnp.float32)
        return jax.tree.map(lambda p, a, b: p - rate * a / (jnp.sqrt(b) + 1e-8), parameters, m, v), m, v, t + 1, value

    def zeros():
        return jax.tree.map(jnp.zeros_like, net.parameters)

    state = [net.parameters, zeros(), zeros(), jnp.ones((), jnp.float32)]
    net.parameters = None

    def run():
        *state[:], value = step(*state)
        return float(value)

    run()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    seconds = median_seconds(run, repeats)
    return {"step": seconds, "memory of the process": status_megabytes("VmHWM:") - before}


def main():
    repeats = ARGUMENTS.repeats
    if ARGUMENTS.only:
        print(json.dumps({"peer": f"jax {jax.__version__}", "seconds": {"GPT step": gpt(5)}}))
        return
    seconds = {**dispatch(repeats), "chain of 8 ops on 16 M f32": chain_of_8(repeats)}
    for dtype, name in NAMES.items():
        seconds[f"MT-VAE training step, {name}"] = training(dtype, repeats)
        seconds[f"MT decoder, 40 columns, {name}"] = decoder_jacobian(dtype, repeats)
    print(json.dumps({"peer": f"jax {jax.__version__}", "seconds": seconds}))


if __name__ == "__main__":
    main()
