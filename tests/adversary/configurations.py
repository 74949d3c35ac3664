# SPDX-License-Identifier: Apache-2.0
"""Mutated configurations: every key with values that nobody means, and texts cut, doubled or garbled."""
import os
import re

from trial import run

OTHER_FILE = "../../../../etc/passwd"  # one that exists and can be read; what is wrong with it is said of the file
NASTY = ["1e308", "-1e308", "1e-308", "-1", "0", "0.0", "nan", "inf", "-inf", "1e300", "9223372036854775807", "-9223372036854775808", "2147483648", '""', '"x"',
         '"\\u0000"', '"' + "long" * 5000 + '"', "[]", "[[]]", "[1e308]", "[nan]", '[""]', '["", "te"]', "[0.0, 0.0]", "[1, 2, 3]", "true", "false", "{}", "1979-05-27",
         f'"{OTHER_FILE}"', '"/dev/zero"', '"."', '"caf\\u00e9 \\u001b[31m"', "1e9", "100000", "1e-12", "0.5"]


def keys_of(text):
    """Lines with a key, by number."""
    return [i for i, line in enumerate(text.splitlines()) if re.match(r"\s*[A-Za-z_]+ = ", line)]


FILE = "mutated_"  # begins the name of a configuration
# Tables with a name that no file has, and the key that the error names.
IN_VAIN = {'[[data.mask]]\nstation = "s9"': "data.mask[0].station", '[[data.mask]]\nstation = ""': "data.mask[0].station",
           '[[data.mask]]\nquantities = []': "data.mask[0].quantities", '[[data.mask]]\nmode = "te"\n[[data.mask]]\nmode = "tm"': "data.modem_file",
           '[[data.floor]]\nkind = "impedance"\nfloor = 0.1\nstation = "s9"': "data.floor[0].station"}


def key_of(lines, row):
    """The key in a line with its table, as errors name it; without the table for one of an array, which is numbered."""
    key = lines[row].split(" = ")[0].strip()
    headers = [line.strip() for line in lines[:row] if line.startswith("[")]
    return f".{key}" if headers and headers[-1].startswith("[[") else f"{headers[-1].strip('[]')}.{key}" if headers else key


class Configurations:
    def __init__(self, base):
        self.base = base
        self.texts = {"invert": self._whole("whole/config.toml"), "train": self._whole("network/config.toml")}

    def _whole(self, name):
        """Every key with the value in force, relative to the corpus."""
        return self.base.read(name).decode()

    def _mutated(self, text, random):
        lines = text.splitlines()
        row = random.choice(keys_of(text))
        key = lines[row].split(" = ")[0].strip()
        how = random.randrange(11)
        if how < 7:
            value = random.choice(NASTY)
            lines[row] = f"{key} = {value}"
            return "\n".join(lines), f"{key} = {value[:60]}", [key_of(lines, row), FILE, *([OTHER_FILE] if OTHER_FILE in value else [])]
        if how == 7:
            lines.insert(row, lines[row])
            return "\n".join(lines), f"{key} twice", []
        if how == 8:
            at = random.randrange(len(text))
            return text[:at], f"cut at {at}", []
        if how == 9 and "[data]" in lines:
            added = random.choice(list(IN_VAIN))
            return f"{text}\n{added}\n", repr(added), [IN_VAIN[added]]
        at = random.randrange(len(text))
        letter = random.choice("\0\x01\x7f\"'[]{}=.,#\n\\9é")
        return text[:at] + letter + text[at + 1:], f"letter {at} is {letter!r}", []

    def attack(self, number, random, tally):
        command = random.choice(list(self.texts))
        text, what, names = self._mutated(self.texts[command], random)
        folder = "network" if command == "train" else "whole"
        name = f"{FILE}{number}.toml"
        path = self.base.write(name, text)
        arguments = [command, path, "--dry-run"] if command == "invert" else [command, path, "-o", self.base / f"trained_{number}", "--preview"]
        ended = run(self.base.command(*arguments), cwd=self.base.folder)
        tally.judge("configurations", f"{command} {folder}: {what}", ended, names or [name])
        os.remove(path)
        self.base.drop(f"trained_{number}")
