# SPDX-License-Identifier: Apache-2.0
"""convert of models: a volume and a section through every format and back, maps on the globe, what is lost, refusals; the commands of docs/modem.md."""
import os
import struct

from support import DATA, SOURCE, Folder, check, expect, expect_error, finish

VOLUME = os.path.join(DATA, "modem_block2_3d", "m0.ws")
SECTION = os.path.join(DATA, "modem_block2_2d", "m0.rho")
WORDS_3D, WORDS_2D = ["in 3 dimensions"], ["in 2 dimensions"]


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


def tags_of(path):
    """Returns the tags of the first image of a little-endian TIFF: {tag: (type, count, bytes)}."""
    data = bytes_of(path)
    check(data[:4] == b"II*\0", f"{path} is a TIFF")
    sizes = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 11: 4, 12: 8}
    at = struct.unpack_from("<I", data, 4)[0]
    tags = {}
    for k in range(struct.unpack_from("<H", data, at)[0]):
        tag, kind, count, value = struct.unpack_from("<HHII", data, at + 2 + 12 * k)
        size = sizes.get(kind, 1) * count
        place = at + 2 + 12 * k + 8 if size <= 4 else value
        tags[tag] = kind, count, data[place:place + size]
    return tags


with Folder() as folder:
    # Every format that is read comes back with the same bytes of ModEM's file
    expect(0, WORDS_3D, "convert", VOLUME, "-o", folder / "first.rho")
    first = text_of(folder / "first.rho")
    before = folder / "first.rho"
    for name in ("a.h5", "a.toml", "a.rho", "a.xyz", "a.sg"):
        expect(0, WORDS_3D, "convert", before, "-o", folder / name)
        before = folder / name
    check(os.path.exists(folder / "a__ascii@@"), "the table of an SGrid lies beside it")
    expect(0, WORDS_3D, "convert", before, "-o", folder / "last.rho")
    numbers = [[float(word) for word in text.split() if word[0] in "-0123456789"] for text in (first, text_of(folder / "last.rho"))]
    check(len(numbers[0]) == len(numbers[1]) and all(abs(a - b) < 1e-12 * max(1.0, abs(a)) for a, b in zip(*numbers)), "the numbers of a volume after all formats")
    for name in ("a.h5", "a.toml", "a.xyz", "a.sg"):
        again = folder / ("again_" + name)
        expect(0, WORDS_3D, "convert", folder / name, "-o", again)
        if name != "a.h5":
            other = "a__ascii@@" if name == "a.sg" else name
            check(bytes_of(folder / other) == bytes_of(folder / ("again_" + other)), f"{name}: the same bytes after reading it")
    expect(0, WORDS_2D, "convert", SECTION, "-o", folder / "s.toml")
    expect(0, WORDS_2D, "convert", folder / "s.toml", "-o", folder / "s.h5")
    expect(0, WORDS_2D, "convert", folder / "s.h5", "-o", folder / "s.xyz")
    expect(0, WORDS_2D, "convert", folder / "s.xyz", "-o", folder / "s.rho", "--scale", "linear")
    expect(0, WORDS_2D + ["vtk cannot hold"], "convert", folder / "s.rho", "-o", folder / "s.vtu")
    check("LINEAR" in text_of(folder / "s.rho"), "--scale is that of the file")
    # Occam2D's set of three files comes back, too
    expect(0, WORDS_2D, "convert", folder / "s.h5", "-o", folder / "o.iter")
    expect(0, ["Occam2D model"], "info", folder / "o.iter")
    expect(0, WORDS_2D, "convert", folder / "o.iter", "-o", folder / "p.iter")
    for ending in ("model", "mesh", "iter"):
        texts = [text_of(folder / f"{name}.{ending}").replace("p.m", "o.m") for name in "op"]
        check(texts[0] == texts[1], f".{ending}: the same text after reading it")
    expect(0, ["TOML model", "100"], "info", folder / "s.toml")
    expect(0, ["XYZ model"], "info", folder / "s.xyz")
    expect(0, ["GOCAD SGrid"], "info", folder / "a.sg")

    # forward takes what was written, with the bits of the model
    sites = folder.write("sites.csv", "site,y_m\na,60000\nb,70000\n")
    answers = []
    for model in (folder / "s.h5", folder / "s.toml"):
        expect(0, [], "forward", "--model", model, "--sites", sites, "--periods", "10", "--accuracy", "iteration", "-o", folder / "r.csv")
        answers.append(text_of(folder / "r.csv"))
    check(answers[0] == answers[1], "HDF5 and TOML give the same responses")

    # invert starts from either
    said = []
    for ending in ("toml", "h5"):
        expect(0, WORDS_3D, "convert", os.path.join(DATA, "modem_block2_3d", "pr.ws"), "-o", folder / f"start.{ending}")
        result = expect(0, ["21 × 28 × 11 = 6468"], "invert", os.path.join(SOURCE, "examples/block2/block2_3d.toml"), "--dim", "3", "--dry-run", "--set", f"start.model_file={folder / 'start.' + ending}")
        said.append([line for line in result.stdout.splitlines() if line.startswith(("grid:", "unknowns:"))])
    check(said[0] == said[1] and len(said[0]) == 2, "HDF5 and TOML are the same start")

    # Maps: GeoTIFF with a georeference, XYZ in degrees, SGrid in a projection
    place = ("--origin", "38.5,-117.9,1200")
    expect(0, ["geotiff cannot hold"], "convert", VOLUME, "-o", folder / "depth.tif", "--depths-km", "1,20,60", "--epsg", "32611", *place)
    expect(0, ["3 maps of log10 resistivity (log10(ohm m))", "at 20 km"], "info", folder / "depth.tif")
    tags = tags_of(folder / "depth.tif")
    width, height, bands = (int.from_bytes(tags[tag][2], "little") for tag in (256, 257, 277))
    scale = struct.unpack("<3d", tags[33550][2])
    check(bands == 3 and width > 10 and height > 10 and scale[0] == scale[1] > 0.0, f"three maps of {width} x {height} pixels of {scale[0]} m")
    tie = struct.unpack("<6d", tags[33922][2])
    # 38.5 N, 117.9 W is 421 521 m east and 4 261 677 m north in zone 11
    # The model begins there; north of it is half a degree off the north of the grid, 1.2 km over its 120 km.
    corner = tie[3] - 421521.0, tie[4] - height * scale[1] - 4261677.0
    check(all(abs(each) < 1200.0 + scale[0] for each in corner), f"the maps begin at the origin, {corner} m off")
    check(32611 in struct.unpack(f"<{tags[34735][1]}H", tags[34735][2]), "the projection is stated")
    expect(0, WORDS_3D, "convert", VOLUME, "-o", folder / "degrees.xyz", "--epsg", "4326", *place)
    rows = [line.split() for line in text_of(folder / "degrees.xyz").splitlines()[2:]]
    check(all(38.5 < float(row[1]) < 39.6 and -117.9 < float(row[0]) < -116.5 for row in rows), "points lie north-east of the origin")
    expect(0, WORDS_3D, "convert", VOLUME, "-o", folder / "map.sg", "--epsg", "32611", *place)
    check("EPSG:32611" in text_of(folder / "map.sg"), "the SGrid names its system")
    expect(0, WORDS_3D, "convert", VOLUME, "-o", folder / "placed.toml", *place)
    expect(0, WORDS_3D, "convert", folder / "placed.toml", "-o", folder / "again.tif", "--depths-km", "1,20,60", "--epsg", "32611")
    check(bytes_of(folder / "depth.tif") == bytes_of(folder / "again.tif"), "a model keeps the place that it was given")

    # MARE2DEM
    demo = os.path.join(DATA, "mare2dem_demo", "Demo.0.resistivity")
    expect(0, WORDS_2D, "convert", demo, "-o", folder / "demo.toml")
    expect(0, ["MARE2DEM model"], "info", demo)
    check("[sea]" in text_of(folder / "demo.toml"), "the sea comes along")

    # Refusals leave nothing behind
    none = folder / "none"
    expect(2, [".rho", ".edi"], "convert", VOLUME, "-o", none)
    expect_error(2, "output_of_other_kind", [".rho"], "convert", VOLUME, "-o", none + ".edi")
    expect_error(2, "output_of_other_kind", [".edi"], "convert", os.path.join(DATA, "gabbs_valley", "edi"), "-o", none + ".rho")
    expect_error(2, "option_of_other_kind", ["--sites"], "convert", VOLUME, "-o", none + ".h5", "--sites", "a")
    expect_error(2, "option_of_other_kind", ["--sign"], "convert", VOLUME, "-o", none + ".h5", "--sign", "plus")
    expect_error(2, "option_of_other_kind", ["--origin"], "convert", os.path.join(DATA, "gabbs_valley", "edi"), "-o", none + ".h5", "--origin", "1,2")
    expect_error(2, "several_models", [], "convert", VOLUME, SECTION, "-o", none + ".h5")
    expect_error(2, "has_origin", ["placed.toml"], "convert", folder / "placed.toml", "-o", none + ".h5", *place)
    expect(2, ["--depths-km"], "convert", VOLUME, "-o", none + ".h5", "--depths-km", "1")
    expect(2, ["--scale"], "convert", VOLUME, "-o", none + ".h5", "--scale", "linear")
    expect(2, ["--origin"], "convert", VOLUME, "-o", none + ".h5", "--origin", "99,0")
    expect(2, ["--epsg"], "convert", VOLUME, "-o", none + ".h5", "--epsg", "32611")
    expect_error(5, "no_depth", ["--depths-km"], "convert", VOLUME, "-o", none + ".tif", *place)
    expect_error(5, "depth_outside", ["9000"], "convert", VOLUME, "-o", none + ".tif", "--depths-km", "9000", *place)
    expect_error(5, "no_place_on_map", ["--origin"], "convert", VOLUME, "-o", none + ".tif", "--depths-km", "1")
    expect_error(5, "too_many_pixels", ["--pixel"], "convert", VOLUME, "-o", none + ".tif", "--depths-km", "1", "--pixel", "1", *place)
    expect_error(5, "not_a_volume", [], "convert", SECTION, "-o", none + ".sg")
    expect_error(3, "output_is_input", [], "convert", folder / "a.h5", "-o", folder / "a.h5")
    check(not any(name.startswith("none") for name in os.listdir(folder.path)), "refusals leave nothing behind")
finish()
