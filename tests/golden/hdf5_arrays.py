# SPDX-License-Identifier: Apache-2.0
"""Reads an HDF5 file through the HDF5 library that the program itself is linked with, by ctypes: no Python package is needed."""
import array
import ctypes
import ctypes.util
import functools
import os

INT64, DOUBLE, STRING, COMPOUND, ENUM, FLOAT = "int64", "double", 3, 6, 8, 1
GROUP_OBJECT, DATASET_OBJECT = 2, 5
ID = ctypes.c_int64
VISITOR = ctypes.CFUNCTYPE(ctypes.c_int, ID, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)
# Functions that return an identifier or a size; all others return an int.
WIDE = ("H5Fopen", "H5Oopen", "H5Dget_type", "H5Dget_space", "H5Aopen_by_idx", "H5Aget_type", "H5Aget_space", "H5Aget_name", "H5Tget_member_type", "H5Tcopy",
        "H5Sget_simple_extent_npoints", "H5Tget_size", "H5Tget_member_offset")


@functools.lru_cache(None)
def library():
    names = [os.environ.get("LODESTONE_HDF5_LIBRARY", ""), *(ctypes.util.find_library(n) or "" for n in ("hdf5_serial", "hdf5", "hdf5_openmpi")),
             "libhdf5_serial.so.103", "libhdf5.so.103", "libhdf5_openmpi.so.103"]
    for name in filter(None, names):
        try:
            h5 = ctypes.CDLL(name)
        except OSError:
            continue
        for function in WIDE:
            getattr(h5, function).restype = ID
        h5.H5open()
        h5.H5Eset_auto2(ID(0), None, None)
        return h5
    raise OSError("no HDF5 library found; name one in the environment variable LODESTONE_HDF5_LIBRARY")


def native(name):
    return ID(ID.in_dll(library(), {INT64: "H5T_NATIVE_INT64_g", DOUBLE: "H5T_NATIVE_DOUBLE_g"}[name]).value)


def shape_of(space):
    h5 = library()
    rank = h5.H5Sget_simple_extent_ndims(ID(space))
    dims = (ctypes.c_uint64 * max(rank, 1))()
    if rank > 0:
        h5.H5Sget_simple_extent_dims(ID(space), dims, None)
    return tuple(dims[:rank]), h5.H5Sget_simple_extent_npoints(ID(space))


def texts(kind, n, read):
    """Strings of fixed or of variable length."""
    h5 = library()
    if h5.H5Tis_variable_str(ID(kind)) > 0:
        pointers = (ctypes.c_char_p * n)()
        read(ID(kind), pointers)
        return [(p or b"").decode("utf-8", "replace") for p in pointers]
    size = h5.H5Tget_size(ID(kind))
    buffer = ctypes.create_string_buffer(n * size)
    read(ID(kind), buffer)
    return [buffer.raw[i * size:(i + 1) * size].split(b"\0")[0].decode("utf-8", "replace") for i in range(n)]


def numbers(kind, n, read):
    """Integers, flags and enumerations as 64-bit integers, all floating-point numbers as doubles, which changes the value of none."""
    h5 = library()
    of = h5.H5Tget_class(ID(kind))
    if of == FLOAT:
        buffer = (ctypes.c_double * n)()
        read(native(DOUBLE), buffer)
        return array.array("d", bytes(buffer))
    if of == ENUM:  # not converted to integers by the library
        size = h5.H5Tget_size(ID(kind))
        raw = ctypes.create_string_buffer(max(n * size, 1))
        read(ID(kind), raw)
        return array.array("q", [int.from_bytes(raw.raw[i * size:(i + 1) * size], "little", signed=True) for i in range(n)])
    if of == 0:
        buffer = (ctypes.c_int64 * n)()
        read(native(INT64), buffer)
        return array.array("q", bytes(buffer))
    raise ValueError(f"HDF5 type class {of} is not read here")


def compound(kind, n, read):
    """A compound of doubles, as {r, i}: its members one after the other for every element."""
    h5 = library()
    size = h5.H5Tget_size(ID(kind))
    for member in range(h5.H5Tget_nmembers(ID(kind))):
        of = h5.H5Tget_member_type(ID(kind), ctypes.c_uint(member))
        if h5.H5Tget_class(ID(of)) != FLOAT or h5.H5Tget_size(ID(of)) != 8 or size % 8:
            raise ValueError("a compound of other things than doubles is not read here")
        h5.H5Tclose(ID(of))
    buffer = ctypes.create_string_buffer(max(n * size, 1))
    read(ID(kind), buffer)
    return array.array("d", buffer.raw[:n * size])


def values(kind, space, read):
    """(shape, values): a list of texts, or an array of type q or d."""
    h5 = library()
    shape, n = shape_of(space)
    of = h5.H5Tget_class(ID(kind))
    found = (texts if of == STRING else compound if of == COMPOUND else numbers)(kind, n, read)
    h5.H5Tclose(ID(kind))
    h5.H5Sclose(ID(space))
    return shape, found


def read_with(function, *arguments):
    def read(kind, buffer):
        if function(*arguments(kind, buffer)) < 0:
            raise OSError("HDF5: an array cannot be read")
    arguments = arguments[0]
    return read


def attributes_of(thing, path, found):
    h5 = library()
    for i in range(h5.H5Aget_num_attrs(ID(thing))):
        attribute = h5.H5Aopen_by_idx(ID(thing), b".", 0, 0, ctypes.c_uint64(i), ID(0), ID(0))
        name = ctypes.create_string_buffer(512)
        h5.H5Aget_name(ID(attribute), ctypes.c_size_t(512), name)
        read = read_with(h5.H5Aread, lambda kind, buffer, a=attribute: (ID(a), kind, buffer))
        found[f"{path}@{name.value.decode()}"] = values(h5.H5Aget_type(ID(attribute)), h5.H5Aget_space(ID(attribute)), read)
        h5.H5Aclose(ID(attribute))


def read_hdf5(path):
    """{name: (shape, values)} of all arrays and of all attributes, these under the name "array@attribute"."""
    h5 = library()
    file = h5.H5Fopen(os.fsencode(path), ctypes.c_uint(0), ID(0))
    if file < 0:
        raise OSError(f"{path}: no HDF5 file, or one that cannot be read")
    names = []
    visit = VISITOR(lambda group, name, info, data: names.append(name) or 0)
    getattr(h5, "H5Lvisit", None) or setattr(h5, "H5Lvisit", h5.H5Lvisit2)
    h5.H5Lvisit(ID(file), 0, 0, visit, None)
    found = {}
    attributes_of(file, "", found)
    for name in names:
        thing = h5.H5Oopen(ID(file), name, ID(0))
        text = name.decode()
        if h5.H5Iget_type(ID(thing)) == DATASET_OBJECT:
            read = read_with(h5.H5Dread, lambda kind, buffer, d=thing: (ID(d), kind, ID(0), ID(0), ID(0), buffer))
            found[text] = values(h5.H5Dget_type(ID(thing)), h5.H5Dget_space(ID(thing)), read)
        attributes_of(thing, text, found)
        h5.H5Oclose(ID(thing))
    h5.H5Fclose(ID(file))
    return found
