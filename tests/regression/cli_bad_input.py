# SPDX-License-Identifier: Apache-2.0
"""Bad input: one paragraph that says where and what to do, the exit code of its class, nothing half-written."""
import os
import re
import resource
import shutil
import subprocess

from support import DATA, EDI, PROGRAM, Folder, check, expect, expect_error, finish, synthetic

STATIONS = ["kim438", "kim439", "kim440", "kim441"]


def edi_folder(folder, name, stations=STATIONS):
    os.makedirs(folder / name, exist_ok=True)
    for station in stations:
        shutil.copy(os.path.join(EDI, f"SAMTEX.{station}.2004.edi"), folder / name)
    return name


def config(folder, name, data, rest=""):
    return folder.write(name, "[data]\n" + data + "\n" + rest)


def dry(code, words, path, *more):
    return expect(code, words, "invert", path, "--dry-run", *more)


def refused(id, parts, path, *more):
    return expect_error(2, id, parts, "invert", path, "--dry-run", *more)


with Folder() as folder:
    edi_folder(folder, "edi")
    good = 'edi_folder = "edi"'

    # Configuration
    dry(3, ["missing.toml"], folder / "missing.toml")
    dry(2, ["syntax.toml:2"], folder.write("syntax.toml", "[data]\nedi_folder = \n"))
    refused("unknown_key", ["typo.toml:4", "target_rms"], config(folder, "typo.toml", good, "[inversion]\ntargetrms = 1.0\n"))
    refused("unknown_key", ["table.toml", "inversion"], config(folder, "table.toml", good, "[inversions]\ntarget_rms = 1.0\n"))
    refused("wrong_type", ["type.toml:4", "target_rms"], config(folder, "type.toml", good, '[inversion]\ntarget_rms = "small"\n'))
    refused("out_of_range", ["target_rms", "0"], config(folder, "sign.toml", good, "[inversion]\ntarget_rms = -1\n"))
    refused("exclusive_keys", ["edi_folder", "modem_file"], config(folder, "both.toml", good + '\nmodem_file = "a.dat"'))
    refused("exclusive_keys", ["frequencies_hz", "period_min_s"], config(folder, "periods.toml", good + "\nfrequencies_hz = [1.0]\nperiod_min_s = 1.0"))
    refused("empty_interval", ["resistivity_min_ohm_m"], config(folder, "bounds.toml", good, "[bounds]\nresistivity_min_ohm_m = 10\nresistivity_max_ohm_m = 1\n"))
    refused("out_of_range", ["start.toml:4", "start.resistivity_ohm_m", "1e-06 to 1e+12 ohm m", "1e-30"], config(folder, "start.toml", good, "[start]\nresistivity_ohm_m = 1e-30\n"))
    folder.write("solid.mod", "2 2 LOG10\n1000 1000\n1000 1000\n0\n2 2\n2 -30\n")
    dry(4, ["solid.mod:6", "1e-06 to 1e+12 ohm m", "1e-30"], config(folder, "solid.toml", good, '[start]\nmodel_file = "solid.mod"\n'))
    refused("no_model_file", ["from_start_model"], config(folder, "grid.toml", good, "[grid]\nfrom_start_model = true\n"))
    refused("no_data", ["edi_folder"], config(folder, "nothing.toml", ""))
    refused("unknown_key", ["dat.toml:1", "[data]?"], folder.write("dat.toml", "[dat]\n" + good + "\n"))
    refused("wrong_type", ["--set", "target_rms"], config(folder, "set.toml", good), "--set", "inversion.target_rms=false")

    # What cannot be: shifts of modes in determinants, blocks of ModEM for apparent resistivities of TE, tensors of a section
    few = "\nfrequencies_hz = [1.41, 0.176]"
    expect_error(5, "nothing_shifted", ["determinant", "static_shift"], "invert", config(folder, "det.toml", good + few + '\nkind = "determinant"', "[static_shift]\nenabled = true\n"), "--dry-run")
    expect_error(2, "modem_has_no_block", ["output.modem", 'data.kind = "impedance"'], "invert", config(folder, "blocks.toml", good + few, "[output]\nmodem = true\n"), "-o", folder / "blocks")
    expect_error(5, "no_usable_datum", ["not_predicted"], "invert", config(folder, "tensor.toml", good + few + '\nkind = "phase_tensor"'), "--dry-run")

    # Data
    os.makedirs(folder / "empty")
    dry(3, ["nowhere"], config(folder, "folder.toml", 'edi_folder = "nowhere"'))
    dry(3, ["*.edi"], config(folder, "empty.toml", 'edi_folder = "empty"'))
    folder.write("binary/a.edi", bytes(range(256)) * 40)
    dry(4, ["the only file could not be read"], config(folder, "binary.toml", 'edi_folder = "binary"'))
    dry(4, ["a.edi"], config(folder, "modem.toml", 'modem_file = "binary/a.edi"'))
    refused("no_period", ["period_min_s"], config(folder, "band.toml", good + "\nperiod_min_s = 1e8"))
    refused("too_many_cells", ["2000000", "10000", "201"], config(folder, "large.toml", good, "[grid]\nn_columns = 10000\nn_layers = 201\n"))
    folder.write("sites.bin", bytes(range(256)) * 40)
    section = folder.write("section.toml", "layers = []\n")
    expect(2, ["1e-9", "1e9"], "forward", "--model", section, "--sites", folder / "sites.bin", "--periods", "1e-300")
    folder.write("block.toml", "[background]\nresistivity_ohm_m = [100.0]\n")
    folder.write("far.csv", "site,y_m\na,0\nb,1e300\n")
    expect(4, ["far.csv:3", "1e+300 m"], "forward", "--model", folder / "block.toml", "--sites", folder / "far.csv", "--periods", "1")
    sites = folder.write("near.csv", "site,y_m\na,0\n")
    for name, words, text in (
            ("sea.toml", ["sea.toml:3", "resistivity_ohm_m of the sea water"], "[sea]\nlevel_m = 0\n"),
            ("no_water.toml", ["no_water.toml:4", "water in it", "z = 0 m"], "[sea]\nlevel_m = 5\nresistivity_ohm_m = 0.3\n"),
            ("turns.toml", ["turns.toml:4", "from left to right", "point 3"], "[surface]\npoints = [[0, 0], [10, 5], [5, 9]]\n"),
            ("bow.toml", ["bow.toml:4"], "[[polygon]]\npoints = [[0, 0], [10, 10], [10, 0], [0, 10]]\nresistivity_ohm_m = 1\n")):
        model = folder.write(name, "[background]\nresistivity_ohm_m = [100.0]\n" + text)
        expect(2, words, "forward", "--model", model, "--sites", sites, "--periods", "1")
    for name, text in (("empty.csv", ""), ("header.csv", "name,y\na,0\n")):
        result = expect(4, [name + ":1", "`site,y_m`"], "forward", "--model", folder / "block.toml", "--sites", folder.write(name, text), "--periods", "1")
        check("modem" not in result.stderr.lower(), f"{name}: speaks of CSV alone")
    marine = os.path.join(DATA, "mare2dem_demo")
    dry(5, ["1 (2172.1 m below)", "profile.drape"], config(folder, "deep.toml", f'mare2dem_file = "{marine}/DemoSynthMT.emdata"'))
    refused("no_resistivity", ["sea.resistivity_ohm_m"], config(folder, "dry_sea.toml", good, "[sea]\nlevel_m = 0.0\n"))
    refused("dry_sea", ["dry_land.toml:4", "sea.level_m"], config(folder, "dry_land.toml", good, "[sea]\nlevel_m = 0.0\nresistivity_ohm_m = 0.3\n"))
    refused("distortion_of_section", ["matrices.toml:4", "distortion.enabled", "--dim 3"], config(folder, "matrices.toml", good, "[distortion]\nenabled = true\n"))
    folder.write("map.csv", "x_m,y_m,z_m\n0,0,0\n0,1,0\n1,0,0\n1,1,0\n")
    refused("is_a_map", ["map.toml:5", "profile.surface_file", "2 × 2"], config(folder, "map.toml", good, '[profile]\nelevation = "file"\nsurface_file = "map.csv"\n'))
    dry(3, ["nowhere.csv", "ground.toml:5: profile.surface_file names it"], config(folder, "ground.toml", good, '[profile]\nelevation = "file"\nsurface_file = "nowhere.csv"\n'))
    dry(3, ["nowhere.rho", "model.toml:4: start.model_file names it"], config(folder, "model.toml", good, '[start]\nmodel_file = "nowhere.rho"\n'))
    refused("exclusive_keys", ["modem_file", "mt2d_file"], config(folder, "two.toml", 'modem_file = "a"\nmt2d_file = "b"'))
    folder.write("short.dat", "Format: MT2DData_1.0\nReceiver Location (m): 2\n0 0\n")
    dry(4, ["short.dat:3", "cut off"], config(folder, "short.toml", 'mt2d_file = "short.dat"'))
    folder.write("rows.emdata", "Format: EMData_2.2\n# MT Frequencies: 1\n1\n# MT Receivers: 1\n0 0 0 0 0 0 0 0 a\n# Data: 1\n104 1 1 2 45 1\n")
    dry(4, ["rows.emdata:7", "receiver number"], config(folder, "rows.toml", 'mare2dem_file = "rows.emdata"'))
    cut = edi_folder(folder, "cut")
    path = folder / "cut/SAMTEX.kim439.2004.edi"
    whole = open(path).read()
    folder.write("cut/SAMTEX.kim439.2004.edi", whole[:whole.index(">ZYXR")])
    dry(0, ["no >END"], config(folder, "cut.toml", f'edi_folder = "{cut}"'))
    edi_folder(folder, "twins")
    text = open(folder / "twins/SAMTEX.kim438.2004.edi").read().replace("kim438", "copy")
    folder.write("twins/SAMTEX.copy.2004.edi", text)
    dry(0, ["copy: merged with the bands of kim438"], config(folder, "twins.toml", 'edi_folder = "twins"'))
    dry(2, ["kim439", "did you mean"], config(folder, "order.toml", good + '\nstation_order = ["kim438", "kim4399"]'))

    # One bad file among many: reported and skipped.
    edi_folder(folder, "mixed")
    whole = open(os.path.join(EDI, "SAMTEX.kim442.2004.edi"), "rb").read()
    folder.write("mixed/SAMTEX.kim442.2004.edi", whole[: len(whole) // 3])
    dry(0, ["skipped", "kim442", "4 stations"], config(folder, "mixed.toml", 'edi_folder = "mixed"\nfrequencies_hz = [1.41, 0.176]'))

    # Output
    path = synthetic(folder, accuracy="iteration")
    folder.write("taken", "a file")
    expect_error(3, "taken_by_file", ["taken: expected a folder", "this is a file"], "invert", path, "-o", folder / "taken")
    expect_error(3, "taken_by_file", [f"{folder / 'taken'} is a file"], "invert", path, "-o", folder / "taken/run")
    folder.write("full/notes.txt", "mine")
    expect_error(2, "folder_in_use", ["full", "notes.txt"], "invert", path, "-o", folder / "full")
    check(sorted(os.listdir(folder / "full")) == ["notes.txt"], "nothing is written into a foreign folder")
    expect(3, ["checkpoint"], "invert", path, "-o", folder / "new", "--resume")

    # A period that no field has is refused at its line, and nothing is left behind.
    folder.write("endless.dat", re.sub(r"(?m)^1 ", "1e300 ", open(folder / "data.dat").read()))
    expect_error(4, "period_not_positive", ["endless.dat:11", "1e+300"], "invert", path, "-o", folder / "blank", "--set", 'data.modem_file="endless.dat"')
    check(not os.path.exists(folder / "blank"), "no folder of a run without data")

    # A disk that is full: an error of its class, and no file cut short under its final name.
    limit = 20000
    run = subprocess.run([PROGRAM, "invert", path, "-o", folder / "limited"], capture_output=True, text=True, timeout=100,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    check(run.returncode == 3, f"a full disk is a file error, got {run.returncode}: {run.stderr[-600:]}")
    left = [f for _, _, files in os.walk(folder / "limited") for f in files]
    check(not any(f.startswith(".") for f in left), f"no temporary file is left: {left}")
    for name in ("result.h5", "report.html"):
        check(name not in left, f"no {name} of a failed run")
    with open("/dev/full", "w") as full:
        run = subprocess.run([PROGRAM, "info", os.path.join(EDI, "SAMTEX.kim438.2004.edi")], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    check(run.returncode == 3 and "standard output" in run.stderr, "a full standard output is a file error")
finish()
