# SPDX-License-Identifier: Apache-2.0
"""Bad input to every command: files of every format cut, garbled, of other encodings, or no files at all."""
import os
import re

from trial import run

NUMBERS = [b"1e308", b"-1e308", b"nan", b"inf", b"1e-320", b"0", b"-0.0", b"99999999999999999999", b"", b"1,5", b"1e", b"0x1p9", b"61:61:61"]
TEXTS = [b"caf\xe9", b"\xff\xfe\x00", b"\x00", b"\x1b[2J", b"A" * 100000, "Ω μ 電".encode(), b"\xc3", b"\r", b"\t", b'"', b"%s%n"]


def garbled(content, random):
    """Another file from one: (bytes, what was done)."""
    how = random.randrange(8)
    at = random.randrange(len(content)) if content else 0
    if how == 0:
        return content[:at], f"cut at {at}"
    if how == 1:
        n = random.randrange(1, 200)
        return content[:at] + random.randbytes(n) + content[at:], f"{n} random bytes at {at}"
    if how in (2, 3):
        found = [m.span() for m in re.finditer(rb"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?", content[:200000])]
        if found:
            begin, end = random.choice(found)
            number = random.choice(NUMBERS)
            return content[:begin] + number + content[end:], f"{content[begin:end]!r} at {begin} is {number!r}"
    if how in (4, 5):
        text = random.choice(TEXTS)
        return content[:at] + text + content[at:], f"{text[:12]!r} at {at}"
    lines = content.split(b"\n")
    row = random.randrange(len(lines))
    if how == 6:
        return b"\n".join(lines[:row] + lines[row + 1:]), f"without line {row + 1}"
    return b"\n".join(lines[:row] + [lines[row]] * random.randrange(2, 50) + lines[row + 1:]), f"line {row + 1} many times"


class Inputs:
    def __init__(self, base):
        self.base = base
        data = os.path.join(base.source, "data")
        edi = os.path.join(data, "samtex", "edi_kim_eto")
        samples = [os.path.join(edi, sorted(name for name in os.listdir(edi) if name.endswith(".edi"))[0]),
                   os.path.join(data, "mare2dem_demo", "DemoSynthMT.emdata"), os.path.join(data, "coprod2", "coprod2data.dat"),
                   os.path.join(data, "modem_block2_2d", "pr.rho"), base / "data.dat", base / "sites.csv", base / "model.toml", base / "whole/result.h5",
                   base / "network/vae.h5"]
        samples.append(base.write("ground.prfl", "y_m,z_m\n" + "".join(f"{y},{y / 100:g}\n" for y in range(-20000, 20001, 1000))))
        self.files = [(os.path.basename(path), open(path, "rb").read()) for path in samples if os.path.exists(path)]

    def _commands(self, path, ending):
        base = self.base
        forward = ["forward", "--model", base / "model.toml", "--sites", base / "sites.csv", "--periods", "0.1"]
        commands = [["info", path], ["info", "--json", path]]
        if ending in ("toml", "rho"):
            commands.append([path if word == base / "model.toml" else word for word in forward])
        if ending in ("csv", "dat"):
            commands.append([path if word == base / "sites.csv" else word for word in forward])
        keys = {"edi": "edi_files", "emdata": "mare2dem_file", "dat": "modem_file"}
        if ending in keys:
            value = f'["{path}"]' if ending == "edi" else f'"{path}"'
            configuration = re.sub(r"modem_file = .*", f"{keys[ending]} = {value}", base.read("config.toml").decode())
            if ending == "emdata":
                configuration = configuration.replace('kind = "impedance"', 'kind = "log10_rho_phase"')
            if ending == "edi":
                configuration += "[profile]\nazimuth_deg = 0.0\n"
            commands.append(["invert", base.write(os.path.basename(path) + ".toml", configuration), "--dry-run"])
        if ending == "prfl":
            commands = [["invert", base / "config.toml", "--dry-run", "--set", 'profile.elevation="file"', "--set", f'profile.surface_file="{path}"']]
        if ending == "h5":
            commands.append(["compare", path, base / "whole"])
        return commands

    def attack(self, number, random, tally):
        name, content = random.choice(self.files)
        ending = name.rsplit(".", 1)[1]
        bad = f"bad_{number}.{ending}"
        if random.randrange(20) == 0:
            what = random.choice(["a FIFO", "/dev/zero", "a folder", "nothing", "an empty file"])
            path = self.base / bad
            if what == "a FIFO":
                os.mkfifo(path)
            elif what == "/dev/zero":
                os.symlink("/dev/zero", path)
            elif what == "a folder":
                os.makedirs(path)
            elif what == "an empty file":
                self.base.write(bad, b"")
        else:
            changed, what = garbled(content, random)
            path = self.base.write(bad, changed)
        arguments = random.choice(self._commands(path, ending))
        ended = run(self.base.command(*arguments), cwd=self.base.folder)
        words = " ".join(os.path.basename(str(word)) for word in arguments[:3])
        if tally.judge("inputs", f"{words}: {name}: {what}", ended, [bad]) and "\x1b" in ended.said:
            tally.fault("silent", f"{words}: {name}: {what}: a control character is printed", ended.said)
        if os.path.exists(path + ".toml"):
            os.remove(path + ".toml")
        if os.path.isdir(path) and not os.path.islink(path):
            os.rmdir(path)
        elif os.path.lexists(path):
            os.remove(path)
