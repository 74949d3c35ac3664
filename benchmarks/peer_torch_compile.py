#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: build/peers/torch/bin/python benchmarks/peer_torch_compile.py [--threads N] [--repeats N] [--only gpt [--eager]]

The cases of compile.py by torch.compile; of the ways that a user has, the fastest. Prints {"peer": name and version, "seconds": {case: {metric: median}}} as JSON.
`--only gpt`: the step of the language model alone, with the memory of the process in MB, since that counts what a process has ever held.
"""
import argparse
import json
import sys

import torch
from peer_torch import BATCH, CODES, LAYERS, NAMES, Decoder, Vae, median_seconds, similarity

WIDTH, HEADS, WORDS, VOCABULARY, DEPTH, TEXTS = 384, 6, 256, 1024, 6, 8
F32, F64 = torch.float32, torch.float64


def training(dtype, repeats):
    torch.manual_seed(1)
    net = Vae().to(dtype)
    profiles, noise = 3 + 0.5 * torch.randn(BATCH, LAYERS, dtype=dtype), torch.randn(BATCH, CODES, dtype=dtype)

    def loss_of():
        mean, log_variance, decoded = net(profiles, noise)
        divergence = -0.5 * (1 + log_variance - mean**2 - torch.exp(log_variance)).mean()
        return ((profiles - decoded) ** 2).mean() + 0.06 * (1 - similarity(profiles, decoded)) + 0.01 * divergence

    compiled = torch.compile(loss_of)
    fused = torch.optim.Adam(net.parameters(), 8e-4, fused=True)
    plain = torch.optim.Adam(net.parameters(), torch.tensor(8e-4))
    update = torch.compile(plain.step, fullgraph=False)

    def step(change):
        net.zero_grad()
        loss = compiled()
        loss.backward()
        change()
        return loss.item()

    return {"loss, gradients, Adam": min(median_seconds(lambda: step(change), repeats) for change in (fused.step, update))}


def decoder(dtype, repeats, columns=40):
    torch.manual_seed(1)
    net = Decoder().to(dtype).eval()
    codes = torch.randn(columns, CODES, dtype=dtype)

    def one(code):
        return net(code.unsqueeze(0)).squeeze(0)

    values = torch.compile(net)
    with torch.inference_mode():
        result = {"values": median_seconds(lambda: values(codes), repeats)}
    seconds = []
    for way in (torch.func.jacfwd, torch.func.jacrev):
        route = torch.compile(torch.func.vmap(way(one)))
        try:
            with torch.no_grad():
                seconds.append(median_seconds(lambda: route(codes), repeats))
        except NotImplementedError as error:  # torch 2.15 compiles some of these in some processes only
            print(f"torch.compile of {way.__name__}: {error}", file=sys.stderr)
    return {**result, **({"Jacobian": min(seconds)} if seconds else {})}


def chain_of_8(repeats):
    x = torch.full((1 << 24,), 0.3)

    @torch.compile
    def chain(x):
        z = torch.abs(0.5 - x * 1.5) + 0.25
        return torch.clamp(-z * 0.75, min=0.125) - 2.0

    with torch.inference_mode():
        return {"call": median_seconds(lambda: chain(x), repeats)}


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)])
        self.parts, self.out = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.dense = torch.nn.Sequential(torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.GELU(), torch.nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in self.parts(self.norms[0](x)).chunk(3, -1))
        seen = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        return x + self.dense(self.norms[1](x))


class Gpt(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.positions = torch.nn.Embedding(VOCABULARY, WIDTH), torch.nn.Parameter(0.02 * torch.randn(WORDS, WIDTH))
        self.blocks = torch.nn.Sequential(*(Block() for _ in range(DEPTH)), torch.nn.LayerNorm(WIDTH), torch.nn.Linear(WIDTH, VOCABULARY, bias=False))

    def forward(self, text):
        return self.blocks(self.words(text) + self.positions)


def status_megabytes(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024e-6 for line in file if line.startswith(key))


def gpt(repeats, eager):
    """Memory is what the process holds at most beyond what it held before, compiler included where there is one."""
    before = status_megabytes("VmRSS:")
    torch.manual_seed(1)
    net = Gpt()
    optimizer = torch.optim.Adam(net.parameters(), 1e-3, fused=True)
    text, following = torch.randint(VOCABULARY, (TEXTS, WORDS)), torch.randint(VOCABULARY, (TEXTS, WORDS))

    def loss_of():
        return torch.nn.functional.cross_entropy(net(text).flatten(0, 1), following.flatten())

    call = loss_of if eager else torch.compile(loss_of)

    def step():
        optimizer.zero_grad()
        loss = call()
        loss.backward()
        optimizer.step()
        return loss.item()

    step()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    seconds = median_seconds(step, repeats)
    return {"step": seconds, "memory of the process": status_megabytes("VmHWM:") - before}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=21)
    parser.add_argument("--only", choices=["gpt"])
    parser.add_argument("--eager", action="store_true", help="the language model without torch.compile")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    if arguments.only:
        cases = {"GPT step": gpt(5, arguments.eager)}
    else:
        cases = {"chain of 8 ops on 16 M f32": chain_of_8(arguments.repeats)}
        for dtype in (F32, F64):
            cases[f"MT-VAE training step, {NAMES[dtype]}"] = training(dtype, arguments.repeats)
            cases[f"MT decoder, 40 columns, {NAMES[dtype]}"] = decoder(dtype, arguments.repeats)
    print(json.dumps({"peer": f"torch {torch.__version__}" + (", eager" if arguments.eager else ", compiled"), "seconds": cases}))


if __name__ == "__main__":
    main()
