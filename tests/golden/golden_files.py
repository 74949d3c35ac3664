# SPDX-License-Identifier: Apache-2.0
"""Reads what the program writes as named arrays: {name: (shape, values)}, values being a list of texts or an array of integers (type q) or numbers (type d)."""
import array
import base64
import csv
import json
import math
import re
import struct
import xml.etree.ElementTree as xml
import zlib

from hdf5_arrays import read_hdf5

SAFETENSORS = {"F64": "d", "F32": "f", "I64": "q", "I32": "i", "U32": "I", "U64": "Q", "I8": "b", "U8": "B", "BOOL": "B"}
VTK_TYPES = {"Float64": "d", "Float32": "f", "Int64": "q", "Int32": "i", "UInt64": "Q", "UInt32": "I", "Int8": "b", "UInt8": "B", "Int16": "h", "UInt16": "H"}


def without_folders(text):
    """Texts that name a file keep its name alone."""
    return re.sub(r'[^\s"\'(]*/([^\s"\'/]+\.[A-Za-z0-9]+)(?![\w/])', r"\1", text)


def as_numbers(words):
    """An array of integers or of numbers (an empty word or null is none), or None where a word is neither."""
    try:
        return array.array("q", [int(word) for word in words])
    except (ValueError, OverflowError):
        pass
    try:
        return array.array("d", [math.nan if word in ("", "null", "None") else float(word) for word in words])
    except ValueError:
        return None


def as_values(words):
    found = as_numbers(words)
    return ((len(words),), [without_folders(word) for word in words] if found is None else found)


def widened(raw, kind):
    """Bytes of one type of number as an array of type q or d."""
    found = array.array(kind, raw)
    return array.array("d", found) if kind in "df" else array.array("q", [value if value < 2**63 else value - 2**64 for value in found])


def read_csv(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    if not rows:
        return {}
    columns = list(zip(*rows[1:])) if len(rows) > 1 else [()] * len(rows[0])
    return {name: as_values(list(column)) for name, column in zip(rows[0], columns)}


def read_text(path):
    """Lines of equally many words count as a table: a column of numbers is an array, all other words are texts. Comments are left out."""
    tables = {}
    with open(path) as file:
        for line in file:
            words = line.split()
            if words and not line.startswith("#"):
                tables.setdefault(len(words), []).append(words)
    return {f"lines of {n} words, word {i + 1}": as_values(list(column)) for n, rows in sorted(tables.items()) for i, column in enumerate(zip(*rows))}


def read_configuration(path):
    with open(path) as file:
        lines = [without_folders(line.rstrip("\n")) for line in file if line.strip() and not line.startswith("#")]
    found, table, counts = {}, "", {}
    for line in lines:
        if line.startswith("["):
            table = line.strip("[] ")
            if line.startswith("[["):
                counts[table] = counts.get(table, -1) + 1
                table += f"[{counts[table]}]"
        else:
            key, _, value = line.partition(" = ")
            found[f"{table}.{key}"] = ((1,), [value])
    return found


def flatten(node, name, found):
    if isinstance(node, dict):
        for key, value in node.items():
            flatten(value, f"{name}.{key}" if name else key, found)
    elif isinstance(node, list):
        for value in node:
            flatten(value, f"{name}[]", found)
    else:
        found.setdefault(name, []).append("null" if node is None else repr(node) if isinstance(node, float) else str(node))


def read_json(path):
    """Numbers and texts by their place; what stands at one place in the objects of a list is one array."""
    found = {}
    with open(path) as file:
        flatten(json.load(file), "", found)
    return {name: as_values(words) for name, words in found.items()}


def read_safetensors(path):
    with open(path, "rb") as file:
        raw = file.read()
    size = struct.unpack("<Q", raw[:8])[0]
    found = {}
    for name, entry in json.loads(raw[8:8 + size]).items():
        if name == "__metadata__":
            texts = {key: value for key, value in entry.items() if not key.endswith("crc32c")}  # of the same bytes once more
            found.update({f"@{key}": ((1,), [without_folders(value)]) for key, value in texts.items()})
            continue
        first, last = (8 + size + offset for offset in entry["data_offsets"])
        found[name] = (tuple(entry["shape"]), widened(raw[first:last], SAFETENSORS[entry["dtype"]]))
    return found


def vtk_block(raw, at, head, compressed):
    """The bytes of one array that begins at a place of raw bytes."""
    size = struct.calcsize(head)
    if not compressed:
        n = struct.unpack_from("<" + head, raw, at)[0]
        return raw[at + size:at + size + n]
    n_blocks = struct.unpack_from("<" + head, raw, at)[0]
    sizes = struct.unpack_from(f"<{n_blocks}{head}", raw, at + 3 * size)
    at, parts = at + (3 + n_blocks) * size, []
    for n in sizes:
        parts.append(zlib.decompress(raw[at:at + n]))
        at += n
    return b"".join(parts)


def unpacked(text, head, compressed):
    """Base64 as VTK writes it: with compression the header is encoded by itself."""
    if not compressed:
        return base64.b64decode(text + "=" * (-len(text) % 4))
    size = struct.calcsize(head)
    first = base64.b64decode(text[:4 * ((size + 2) // 3)])
    n_head = 4 * (((3 + struct.unpack("<" + head, first[:size])[0]) * size + 2) // 3)
    header = base64.b64decode(text[:n_head])
    rest = text[n_head:]
    return header + base64.b64decode(rest + "=" * (-len(rest) % 4))


def read_vtk(path):
    with open(path, "rb") as file:
        raw = file.read()
    begin = raw.find(b"<AppendedData")
    text = raw if begin < 0 else raw[:begin] + b"</VTKFile>"
    appended = b"" if begin < 0 else raw[raw.index(b"_", raw.index(b">", begin)) + 1:]
    base64_data = begin >= 0 and b'encoding="base64"' in raw[begin:raw.index(b">", begin)]
    root = xml.fromstring(text)
    head = VTK_TYPES[root.get("header_type", "UInt32")]
    compressed = root.get("compressor") is not None
    found = {}
    parents = {child: parent for parent in root.iter() for child in parent}
    for node in root.iter("DataArray"):
        name = f"{parents[node].tag}/{node.get('Name', '')}"
        if node.get("format") == "appended":
            at = int(node.get("offset"))
            data = vtk_block(unpacked(appended[at:].decode("ascii", "ignore"), head, compressed), 0, head, compressed) if base64_data \
                else vtk_block(appended, at, head, compressed)
        elif node.get("format") == "binary":
            data = vtk_block(unpacked("".join((node.text or "").split()), head, compressed), 0, head, compressed)
        else:
            found[name] = as_values((node.text or "").split())
            continue
        if node.get("type") not in VTK_TYPES:
            raise ValueError(f"VTK type {node.get('type')} is not read here")
        values = widened(data, VTK_TYPES[node.get("type")])
        found[name] = ((len(values),), values)
    return found


def read_list(path):
    """A ParaView collection: its files and times."""
    found = {}
    for node in xml.parse(path).getroot().iter("DataSet"):
        for key, value in node.attrib.items():
            found.setdefault(key, []).append(value)
    return {name: as_values(words) for name, words in found.items()}


READERS = {".h5": read_hdf5, ".safetensors": read_safetensors, ".csv": read_csv, ".json": read_json, ".vtu": read_vtk, ".vtp": read_vtk, ".pvd": read_list, ".toml": read_configuration,
           ".dat": read_text, ".txt": read_text}
