#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: build/peers/torch/bin/python benchmarks/peer_torch.py [--threads N] [--repeats N] [--only convolutions]

The cases of bench_engine in PyTorch, eager, channels first as it likes them best. Prints {"peer": name and version, "seconds": {case: {metric: median}}} as JSON.
"""
import argparse
import json
import statistics
import time

import torch

F32, F64, C128 = torch.float32, torch.float64, torch.complex128
NAMES = {F32: "f32", F64: "f64", C128: "c128"}
CHAIN = 1000
BATCH, LAYERS, CODES = 64, 32, 16


def median_seconds(work, repeats):
    seconds = []
    for i in range(repeats + 1):
        begin = time.perf_counter()
        work()
        if i > 0:
            seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds)


class Block(torch.nn.Sequential):
    """Window 3, same length, BatchNorm, swish."""

    def __init__(self, n_in, n_out):
        super().__init__(torch.nn.Conv1d(n_in, n_out, 3, padding=1, bias=False), torch.nn.BatchNorm1d(n_out), torch.nn.SiLU())


def upsample(n_in, n_out):
    return torch.nn.ConvTranspose1d(n_in, n_out, 3, stride=2, output_padding=1, padding=1, bias=False)


class Decoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = torch.nn.Linear(CODES, 256)
        self.up = torch.nn.Sequential(upsample(64, 32), Block(32, 32), Block(32, 32), upsample(32, 16), Block(16, 16), Block(16, 16), upsample(16, 1),
                                      torch.nn.Conv1d(1, 1, 3, padding=1, bias=False))

    def forward(self, code):
        return self.up(torch.nn.functional.silu(self.dense(code)).reshape(-1, 64, 4)).squeeze(1)


class Vae(torch.nn.Module):
    def __init__(self):
        super().__init__()
        layers, n_in = [], 1
        for n_out in (16, 32, 64):
            layers += [Block(n_in, n_out), Block(n_out, n_out), torch.nn.MaxPool1d(2)]
            n_in = n_out
        self.encoder = torch.nn.Sequential(*layers, torch.nn.Flatten())
        self.mean, self.log_variance = torch.nn.Linear(256, CODES), torch.nn.Linear(256, CODES)
        self.decoder = Decoder()

    def forward(self, profiles, noise):
        flat = self.encoder(profiles.unsqueeze(1))
        mean, log_variance = self.mean(flat), self.log_variance(flat)
        return mean, log_variance, self.decoder(mean + torch.exp(0.5 * log_variance) * noise)


def similarity(x, y):
    c1, c2 = 0.02, 0.06
    mean_x, mean_y = x.mean(), y.mean()
    covariance = ((x - mean_x) * (y - mean_y)).mean()
    var_x, var_y = ((x - mean_x) ** 2).mean(), ((y - mean_y) ** 2).mean()
    return (2 * mean_x * mean_y + c1) * (2 * covariance + c2) / ((mean_x ** 2 + mean_y ** 2 + c1) * (var_x + var_y + c2))


def training(dtype, repeats):
    torch.manual_seed(1)
    net = Vae().to(dtype)
    optimizer = torch.optim.Adam(net.parameters(), 8e-4)
    profiles, noise = 3 + 0.5 * torch.randn(BATCH, LAYERS, dtype=dtype), torch.randn(BATCH, CODES, dtype=dtype)

    def step():
        optimizer.zero_grad()
        mean, log_variance, decoded = net(profiles, noise)
        divergence = -0.5 * (1 + log_variance - mean ** 2 - torch.exp(log_variance)).mean()
        loss = ((profiles - decoded) ** 2).mean() + 0.06 * (1 - similarity(profiles, decoded)) + 0.01 * divergence
        loss.backward()
        optimizer.step()
        return loss.item()

    return {"loss, gradients, Adam": median_seconds(step, repeats)}


def decoder_jacobian(dtype, repeats, columns=40):
    """The fastest of three routes: batched forward mode, batched reverse mode, one reverse pass per layer."""
    torch.manual_seed(1)
    decoder = Decoder().to(dtype).eval()
    codes = torch.randn(columns, CODES, dtype=dtype)

    def rows():
        x = codes.clone().requires_grad_()
        y = decoder(x)
        return torch.stack([torch.autograd.grad(y[:, i].sum(), x, retain_graph=True)[0] for i in range(LAYERS)], 1)

    one = lambda code: decoder(code.unsqueeze(0)).squeeze(0)  # noqa: E731
    routes = [rows, lambda: torch.func.vmap(torch.func.jacfwd(one))(codes), lambda: torch.func.vmap(torch.func.jacrev(one))(codes)]
    def values():
        with torch.inference_mode():
            decoder(codes)

    return {"values": median_seconds(values, repeats), "Jacobian": min(median_seconds(route, repeats) for route in routes)}


def dispatch(repeats):
    start, other = torch.ones(16), torch.ones(16)

    def chain():
        x = start
        with torch.inference_mode():
            for _ in range(CHAIN):
                x = x + other

    def slope():
        x = start.clone().requires_grad_()
        y = x
        for _ in range(CHAIN):
            y = y * other
        y.sum().backward()

    return {"chain of 1000 additions of 16 f32": {"record, run, free; per op": median_seconds(chain, repeats) / CHAIN},
            "chain of 1000 products of 16 f32": {"value and gradient, per op": median_seconds(slope, repeats) / CHAIN}}


def products(repeats):
    result = {}
    for dtype in (F32, F64, C128):
        for n in (8, 256, 1024):
            a, b = torch.randn(n, n, dtype=dtype), torch.randn(n, n, dtype=dtype)
            times = 1000 if n == 8 else 1

            def work():
                with torch.inference_mode():
                    for _ in range(times):
                        a @ b

            result[f"product of {n} x {n}, {NAMES[dtype]}"] = {"product": median_seconds(work, repeats) / times}
    return result


# name: (batch, channels, extent), (channels out, window), stride
CONVOLUTIONS = {"3 x 3, 16 x 56 x 56 x 64 to 64": ((16, 64, 56, 56), (64, 64, 3, 3), 1), "4 x 4 by 2, 64 x 32 x 32 x 32 to 64": ((64, 32, 32, 32), (64, 32, 4, 4), 2),
                "3, 64 x 32 x 16 to 16": ((64, 16, 32), (16, 16, 3), 1), "3, 64 x 8 x 64 to 64": ((64, 64, 8), (64, 64, 3), 1)}


def convolutions(repeats):
    result = {}
    for dtype in (F32, F64):
        for name, (x_shape, w_shape, stride) in CONVOLUTIONS.items():
            x, w = torch.randn(x_shape, dtype=dtype), torch.randn(w_shape, dtype=dtype)
            if len(x_shape) == 4:
                x, w = x.to(memory_format=torch.channels_last), w.to(memory_format=torch.channels_last)
            call = torch.nn.functional.conv2d if len(x_shape) == 4 else torch.nn.functional.conv1d
            with torch.inference_mode():
                forward = median_seconds(lambda: call(x, w, stride=stride, padding=1), repeats)
            y = call(x, w, stride=stride, padding=1)
            slope = torch.randn_like(y)
            n = len(x_shape) - 2

            def back(which):
                return torch.ops.aten.convolution_backward(slope, x, w, None, [stride] * n, [1] * n, [1] * n, False, [0] * n, 1, which)

            result[f"convolution {name}, {NAMES[dtype]}"] = {"forward": forward, "slope in x": median_seconds(lambda: back([True, False, False]), repeats),
                                                             "slope in w": median_seconds(lambda: back([False, True, False]), repeats)}
    return result


def all_cases(repeats):
    return {**dispatch(repeats), **products(repeats), **convolutions(repeats), "MT-VAE training step, f32": training(F32, repeats), "MT-VAE training step, f64": training(F64, repeats),
            **{f"MT decoder, 40 columns, {NAMES[dtype]}": decoder_jacobian(dtype, repeats) for dtype in (F32, F64)}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=21)
    parser.add_argument("--only", choices=["convolutions"])
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    seconds = (convolutions if arguments.only else all_cases)(arguments.repeats)
    print(json.dumps({"peer": f"torch {torch.__version__}", "seconds": seconds}))


if __name__ == "__main__":
    main()
