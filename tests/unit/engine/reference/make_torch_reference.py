#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: make_torch_reference.py [OUT]

Writes the arrays that test_torch_parity.cpp compares layers, losses and optimisers with, computed by torch in double precision from random inputs with a
fixed seed. OUT is torch.safetensors beside this file. Names read "case.x" (input), "case.y" (output), "case.w" (weights of the sum of y that is
differentiated), "case.parameter.NAME", "case.state.NAME" (what a batch norm holds afterwards) and "case.slope.NAME" (gradients).

Arrays are stored the way the engine lays them out: channels last, weights of convolutions [window..., in / groups, out], of linear layers [in, out].
Needs torch and numpy (2.15 and 2.4 when the file was made).
"""
import json
import pathlib
import struct
import sys

import numpy
import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
random = numpy.random.default_rng(20)
arrays = {}


def drawn(*shape):
    return torch.from_numpy(random.normal(size=shape))


def keep(name, tensor):
    arrays[name] = tensor.detach().numpy().copy(order="C")


def channels_last(tensor):
    return tensor.movedim(1, -1)


def same(tensor):
    return tensor


def layer(case, function, x, parameters=(), data=channels_last):
    """Keeps inputs, outputs and gradients of function(x); parameters: (name, tensor, layout)."""
    x = x.clone().requires_grad_()
    y = function(x)
    w = drawn(*y.shape)
    gradients = torch.autograd.grad((y * w).sum(), [x] + [tensor for _, tensor, _ in parameters])
    keep(f"{case}.x", data(x))
    keep(f"{case}.y", data(y))
    keep(f"{case}.w", data(w))
    keep(f"{case}.slope.x", data(gradients[0]))
    for (name, tensor, layout), gradient in zip(parameters, gradients[1:]):
        keep(f"{case}.parameter.{name}", layout(tensor))
        keep(f"{case}.slope.{name}", layout(gradient))


def of_convolution(weight):  # [out, in, window...] -> [window..., in, out], and the same with in and out exchanged for the transposed one
    return weight.movedim((0, 1), (-1, -2))


def parameters_of(module, layouts):
    """Random values; `layouts`: name here -> (name there, layout)."""
    result = []
    for name, parameter in module.named_parameters():
        with torch.no_grad():
            parameter.copy_(drawn(*parameter.shape))
        there, layout = layouts[name]
        result.append((there, parameter, layout))
    return result


def linear_and_convolutions():
    linear = torch.nn.Linear(5, 3)
    layer("linear", linear, drawn(2, 4, 5), parameters_of(linear, {"weight": ("weight", torch.t), "bias": ("bias", same)}), same)
    convolution = {"weight": ("weight", of_convolution), "bias": ("bias", same)}
    for case, module, shape in [
            ("conv_1d", torch.nn.Conv1d(4, 6, 3, stride=2, padding=2, dilation=2, groups=2), (2, 4, 9)),
            ("conv_1d_plain", torch.nn.Conv1d(3, 2, 4, bias=False), (2, 3, 7)),
            ("conv_2d", torch.nn.Conv2d(2, 3, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2)), (2, 2, 6, 5)),
            ("conv_3d", torch.nn.Conv3d(2, 4, (2, 3, 2), stride=(1, 2, 1), padding=(1, 1, 0), groups=2), (2, 2, 3, 4, 3)),
            ("conv_transpose_1d", torch.nn.ConvTranspose1d(4, 6, 3, stride=2, padding=1, output_padding=1, dilation=2, groups=2), (2, 4, 5)),
            ("conv_transpose_2d", torch.nn.ConvTranspose2d(2, 3, (3, 2), stride=(2, 1), padding=(1, 0), output_padding=(1, 0)), (2, 2, 3, 4)),
            ("conv_transpose_3d", torch.nn.ConvTranspose3d(2, 2, (2, 3, 2), stride=(2, 1, 1), padding=(0, 1, 0), bias=False), (1, 2, 2, 3, 2))]:
        layer(case, module, drawn(*shape), parameters_of(module, convolution))


def embedding():
    table = torch.nn.Embedding(5, 3)
    with torch.no_grad():
        table.weight.copy_(drawn(5, 3))
    x = torch.tensor([[4, 0, 1], [1, 1, 3]])
    y = table(x)
    w = drawn(*y.shape)
    keep("embedding.x", x)
    keep("embedding.y", y)
    keep("embedding.w", w)
    keep("embedding.parameter.weight", table.weight)
    keep("embedding.slope.weight", torch.autograd.grad((y * w).sum(), table.weight)[0])


def normalizations():
    names = {"weight": ("scale", same), "bias": ("shift", same)}
    norm = torch.nn.BatchNorm1d(3)
    layer("batch_norm", norm, 2.0 * drawn(4, 3, 5) + 1.0, parameters_of(norm, names))
    keep("batch_norm.state.running_mean", norm.running_mean)
    keep("batch_norm.state.running_variance", norm.running_var)
    norm.eval()
    layer("batch_norm_evaluated", norm, drawn(2, 3, 5), parameters_of(norm, names))
    norm = torch.nn.LayerNorm((3, 4))
    layer("layer_norm", norm, drawn(2, 3, 3, 4), parameters_of(norm, names), same)
    norm = torch.nn.GroupNorm(2, 6)
    layer("group_norm", norm, drawn(2, 6, 3, 2), parameters_of(norm, names))


def pools():
    layer("max_pool_1d", torch.nn.MaxPool1d(3, stride=2, padding=1), drawn(2, 3, 9))
    layer("max_pool_2d", torch.nn.MaxPool2d(2), drawn(1, 2, 4, 5))
    layer("avg_pool_1d", torch.nn.AvgPool1d(2), drawn(2, 3, 7))
    layer("avg_pool_2d", torch.nn.AvgPool2d((3, 2), stride=(2, 1), padding=(1, 0)), drawn(2, 2, 5, 4))
    layer("avg_pool_3d", torch.nn.AvgPool3d(2), drawn(1, 2, 4, 2, 5))


def activations():
    for name, function in {
            "relu": F.relu, "leaky_relu": lambda x: F.leaky_relu(x, 0.2), "elu": lambda x: F.elu(x, 0.7), "gelu": F.gelu, "silu": F.silu,
            "sigmoid": torch.sigmoid, "tanh": torch.tanh, "softplus": F.softplus, "softmax": lambda x: F.softmax(x, -1),
            "log_softmax": lambda x: F.log_softmax(x, 0)}.items():
        layer(name, function, 2.0 * drawn(3, 5), data=same)


def network():
    """One block of the autoencoder of 1-D profiles, with a residual in it."""
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Conv1d(1, 4, 3, padding=1, bias=False)
            self.norm = torch.nn.BatchNorm1d(4)
            self.inner = torch.nn.Conv1d(4, 4, 3, padding=1)
            self.dense = torch.nn.Linear(16, 2)

        def forward(self, x):
            x = F.max_pool1d(F.silu(self.norm(self.conv(x))), 2)
            x = x + torch.tanh(self.inner(x))
            return self.dense(channels_last(x).flatten(1))

    net = Net()
    layouts = {"conv.weight": ("0.weight", of_convolution), "norm.weight": ("1.scale", same), "norm.bias": ("1.shift", same),
               "inner.weight": ("4.inner.0.weight", of_convolution), "inner.bias": ("4.inner.0.bias", same),
               "dense.weight": ("6.weight", torch.t), "dense.bias": ("6.bias", same)}
    layer("network", net, drawn(5, 1, 8), parameters_of(net, layouts), lambda t: channels_last(t) if t.dim() == 3 else t)


def similarity(x, y, window, c1=1e-4, c2=9e-4):
    """Equation 13 of Wang et al. 2004 with E[x^2] - E[x]^2 for variances; window None: all as one."""
    if window is None:
        local = torch.mean
    else:
        line = torch.exp(-0.5 * ((torch.arange(window) - 0.5 * (window - 1)) / 1.5) ** 2)
        line = line / line.sum()
        kernel = torch.outer(line, line)[None, None].expand(x.shape[1], 1, window, window)
        local = lambda t: F.conv2d(t, kernel, groups=x.shape[1])
    mx, my = local(x), local(y)
    vx, vy, cov = local(x * x) - mx ** 2, local(y * y) - my ** 2, local(x * y) - mx * my
    return ((2 * mx * my + c1) * (2 * cov + c2) / ((mx ** 2 + my ** 2 + c1) * (vx + vy + c2))).mean()


def losses():
    def loss(case, function, x, target, data=same):
        keep(f"{case}.target", data(target))
        layer(case, lambda t: function(t, target), x, data=lambda t: data(t) if t.dim() else t)

    loss("mean_squared_error", F.mse_loss, drawn(3, 4), drawn(3, 4))
    loss("mean_absolute_error", lambda x, t: F.l1_loss(x, t, reduction="sum"), drawn(3, 4), drawn(3, 4))
    loss("huber", lambda x, t: F.huber_loss(x, t, delta=0.8), drawn(3, 4), drawn(3, 4))
    loss("cross_entropy", F.cross_entropy, drawn(4, 3), torch.tensor([2, 0, 1, 1]))
    loss("cross_entropy_probabilities", F.cross_entropy, drawn(4, 3), F.softmax(drawn(4, 3), -1))
    loss("binary_cross_entropy", F.binary_cross_entropy_with_logits, 3.0 * drawn(3, 4), torch.sigmoid(drawn(3, 4)))
    unit = torch.distributions.Normal(0.0, 1.0)
    normal = lambda mean, log_variance: torch.distributions.Normal(mean, torch.exp(0.5 * log_variance))
    kl = torch.distributions.kl_divergence
    loss("divergence", lambda x, t: kl(normal(x, t), unit).mean(), drawn(3, 4), drawn(3, 4))
    loss("divergence_between", lambda x, t: kl(normal(x[0], x[1]), normal(t[0], t[1])).sum(), drawn(2, 3, 4), drawn(2, 3, 4))
    loss("similarity", lambda x, t: similarity(x, t, None), drawn(3, 4), drawn(3, 4))
    image = drawn(2, 2, 8, 7)
    loss("similarity_window", lambda x, t: similarity(x, t, 5), image + 0.3 * drawn(2, 2, 8, 7), image, channels_last)


def optimizers():
    start, gradients = drawn(6), drawn(3, 6)
    keep("optimizer.start", start)
    keep("optimizer.gradients", gradients)
    for case, make in {
            "sgd": lambda p: torch.optim.SGD(p, lr=0.1, weight_decay=0.05),
            "sgd_momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
            "sgd_nesterov": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.05),
            "adam": lambda p: torch.optim.Adam(p, lr=0.1, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.05),
            "adam_w": lambda p: torch.optim.AdamW(p, lr=0.1, weight_decay=0.05)}.items():
        parameter = torch.nn.Parameter(start.clone())
        optimizer = make([parameter])
        path = []
        for gradient in gradients:
            parameter.grad = gradient.clone()
            optimizer.step()
            path.append(parameter.detach().clone())
        keep(f"{case}.path", torch.stack(path))


def attention():
    """Self-attention of 2 heads, causal or not. Without biases: the slope in that of the keys is zero but for rounding."""
    class Attention(torch.nn.Module):
        def __init__(self, causal):
            super().__init__()
            self.causal = causal
            for name in ("query", "key", "value", "out"):
                self.add_module(name, torch.nn.Linear(6, 6, bias=False))

        def forward(self, x):
            q, k, v = (of(x).unflatten(-1, (2, 3)).transpose(-3, -2) for of in (self.query, self.key, self.value))
            return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=self.causal).transpose(-3, -2).flatten(-2))

    layouts = {f"{name}.weight": (f"{name}.weight", torch.t) for name in ("query", "key", "value", "out")}
    for case, causal in (("attention", False), ("attention_causal", True)):
        net = Attention(causal)
        layer(case, net, drawn(2, 5, 6), parameters_of(net, layouts), same)


def write(path):
    """safetensors: the length of the header, the header as JSON, the bytes of the arrays one after the other."""
    header, data = {}, b""
    for name, array in sorted(arrays.items()):
        raw = array.tobytes()
        dtype = {"float64": "F64", "int64": "I64"}[array.dtype.name]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    print(f"{path.name}: {len(arrays)} arrays, {path.stat().st_size} bytes, torch {torch.__version__}")


for make in (linear_and_convolutions, normalizations, pools, activations, network, losses, optimizers, embedding, attention):
    make()
write(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("torch.safetensors"))
