#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: build/peers/mtpy/bin/python benchmarks/mtpy_pictures.py OUT [EDI ...] [--azimuth DEG] [--station NAME] [--run RUN_DIR]

Draws with mtpy what our report draws: pseudosections of TE and TM apparent resistivity and phase along the profile, under the names of the report's pictures,
and the sounding curves of a station. mtpy reads the files and rotates the tensors as `mt_invert invert` does: x along strike, azimuth − 90 degrees, so that xy is
TE and yx is TM. With --run the values that mtpy reads are set beside the data of that run (status 1 where they differ), and the pseudosections of
both are put on one page. Without EDI: the KIM-ETO line. `scripts/peers.sh pictures` makes the environment.
"""
import argparse
import pathlib
import sys
import tomllib

import matplotlib

matplotlib.use("Agg")

import h5py  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402
import mtpy  # noqa: E402
import numpy as np  # noqa: E402
import pandas  # noqa: E402
import PIL.Image  # noqa: E402
import pyproj  # noqa: E402
from loguru import logger  # noqa: E402
from matplotlib.colors import LinearSegmentedColormap  # noqa: E402
from mtpy import MT  # noqa: E402
from mtpy.imaging import PlotResPhasePseudoSection  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parent.parent
DEMO = SOURCE / "examples" / "kim_eto" / "kim_eto.toml"
PICTURES = {  # name in our report: mtpy's name of the quantity, title
    "pseudosection_te_apparent_resistivity": ("res_xy", "TE apparent resistivity"),
    "pseudosection_te_phase": ("phase_xy", "TE phase"),
    "pseudosection_tm_apparent_resistivity": ("res_yx", "TM apparent resistivity"),
    "pseudosection_tm_phase": ("phase_yx", "TM phase (folded by +180°)"),
}
QUANTITIES = {"log10_rho_xy": "res_xy", "phase_xy": "phase_xy", "log10_rho_yx": "res_yx", "phase_yx": "phase_yx"}  # by data/key/quantity in result.h5
SAME_FREQUENCY = 0.02  # relative, as data.frequency_tolerance
# Largest differences that pass, beyond any digit that is printed: relative, degrees, m.
LIMITS = {"apparent resistivity": (1e-6, "relative"), "phase": (1e-4, "degrees"), "distance along the profile": (0.1, "m")}
# Our colours (io/report/colour_map.cpp), so that the pictures can be compared at a glance.
RESISTIVITY_COLOURS = ["#7d0a25", "#c52f2c", "#ec7f35", "#f7c25c", "#f6f2b9", "#b3dfb4", "#5db7b8", "#2f7fb6", "#2c3f8e"]
PHASE_COLOURS = ["#2b1b5a", "#2f4f8f", "#257f8e", "#3da878", "#96cb52", "#f5e85a"]


def wrapped(degrees):
    """−180 to 180."""
    return (degrees + 180.0) % 360.0 - 180.0


class Sounding:
    """A station as mtpy reads and rotates it: ohm m and degrees at its periods, phases of yx folded; NaN in gaps, which mtpy fills with zeros."""

    def __init__(self, path, strike_deg):
        self.mt = MT(path)
        try:
            self.mt.read()
        except Exception as error:  # mtpy raises whatever its parser met
            sys.exit(f"mtpy_pictures: {path}: expected a file that mtpy reads, got {type(error).__name__}: {error}")
        if not self.mt.has_impedance():
            sys.exit(f"mtpy_pictures: {path}: expected impedances, mtpy found none; leave the file out")
        if self.mt.latitude == 0.0 and self.mt.longitude == 0.0:
            sys.exit(f"mtpy_pictures: {path}: expected latitude and longitude, mtpy found none; add them or leave the file out")
        self.mt.rotate(strike_deg % 360.0)  # mtpy turns the axes clockwise from north, as we do
        self.name, self.period_s, self.offset_m = self.mt.station, np.asarray(self.mt.period), 0.0
        z = self.mt.Z
        self.values = {"res_xy": z.res_xy, "phase_xy": wrapped(z.phase_xy), "res_yx": z.res_yx, "phase_yx": wrapped(z.phase_yx + 180.0)}
        for component in ("xy", "yx"):
            gap = self.values[f"res_{component}"] == 0.0
            for kind in ("res", "phase"):
                self.values[f"{kind}_{component}"] = np.where(gap, np.nan, self.values[f"{kind}_{component}"])


def middle_projection(latitude_deg, longitude_deg):
    """Transverse Mercator through the middle of the stations, as `profile.projection = "local"`."""
    latitude, longitude = np.radians([latitude_deg, longitude_deg])
    x, y, z = np.mean([np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)], axis=1)
    return f"+proj=tmerc +lat_0={np.degrees(np.arctan2(z, np.hypot(x, y))):.6f} +lon_0={np.degrees(np.arctan2(y, x)):.6f} +datum=WGS84"


def lay_on_profile(soundings, azimuth_deg, projection):
    """Sorts by the distance along the azimuth from the first station, in a projection of PROJ (None: through the middle)."""
    latitude_deg, longitude_deg = np.array([[sounding.mt.latitude, sounding.mt.longitude] for sounding in soundings]).T
    east, north = pyproj.Proj(projection or middle_projection(latitude_deg, longitude_deg))(longitude_deg, latitude_deg)
    direction = np.radians(azimuth_deg)
    offsets = east * np.sin(direction) + north * np.cos(direction)
    for sounding, offset_m in zip(soundings, offsets - offsets.min()):
        sounding.offset_m = offset_m
    soundings.sort(key=lambda sounding: sounding.offset_m)


def table_of(soundings, band_s):
    """The table mtpy's pseudosection is drawn from. Its own one has distances in degrees, which its gridding then mixes with decades of period."""
    rows = []
    for sounding in soundings:
        inside = (sounding.period_s >= band_s[0] * (1.0 - SAME_FREQUENCY)) & (sounding.period_s <= band_s[1] * (1.0 + SAME_FREQUENCY))
        columns = {name: np.log10(values) if name.startswith("res") else values for name, values in sounding.values.items()}
        table = pandas.DataFrame({"station": sounding.name, "offset": sounding.offset_m, "period": np.log10(sounding.period_s), "res_xx": 1.0, **columns})
        rows.append(table[inside])
    return pandas.concat(rows, ignore_index=True)


def correct_axes(plot, soundings, band_s):
    """mtpy's whole decades stand wherever its axis starts, and its station names overlap: labels at their places, the frame where ours stands."""
    axes, bar = plot.fig.axes
    decades = np.arange(np.ceil(np.log10(band_s[0])), np.floor(np.log10(band_s[1])) + 1)
    axes.set_yticks(decades, [f"{10.0**decade:g}" for decade in decades])
    axes.set_ylim(np.log10(band_s[1]), np.log10(band_s[0]))
    axes.set_ylabel("Period (s)", fontweight="normal", fontsize=8)
    ends = [sounding.offset_m for sounding in soundings]
    axes.set_xticks(ends, [sounding.name for sounding in soundings], rotation=90, fontsize=7)
    axes.set_xlabel("")
    half = [0.5 * (ends[1] - ends[0]), 0.5 * (ends[-1] - ends[-2])] if len(ends) > 1 else [500.0, 500.0]
    axes.set_xlim(ends[0] - half[0], ends[-1] + half[1])
    axes.secondary_xaxis("top", functions=(lambda m: m / 1e3, lambda km: km * 1e3)).set_xlabel("Distance along profile (km)", fontsize=8)
    axes.set_position([0.066, 0.25, 0.828, 0.47])
    bar.set_anchor("C")
    bar.set_position([0.91, 0.25, 0.014, 0.47])
    bar.set_aspect("auto")


def draw_pseudosections(out, soundings, band_s):
    table = table_of(soundings, band_s)
    low, high = np.nanpercentile(table[["res_xy", "res_yx"]].to_numpy(), [1, 99])
    colours = {"res": LinearSegmentedColormap.from_list("resistivity", RESISTIVITY_COLOURS), "phase": LinearSegmentedColormap.from_list("phase", PHASE_COLOURS)}
    for name, (quantity, title) in PICTURES.items():
        kind, component = quantity.split("_")
        plot = PlotResPhasePseudoSection(
            None, show_plot=False, data_df=table, n_periods=120, fig_size=(10, 2.7), fig_dpi=150, font_size=8, res_cmap=colours["res"], phase_cmap=colours["phase"],
            plot_xy=component == "xy", plot_yx=component == "yx", plot_resistivity=kind == "res", plot_phase=kind == "phase")
        plot.cmap_limits[quantity] = (int(np.floor(low)), int(np.ceil(high))) if kind == "res" else (0, 90)  # mtpy labels whole decades only
        plot.plot()
        correct_axes(plot, soundings, band_s)
        plot.fig.text(0.066, 0.93, f"{title}, drawn by mtpy {mtpy.__version__}", fontsize=9, fontweight="bold")
        plot.fig.savefig(out / f"{name}.png")
        plt.close(plot.fig)


def draw_sounding(out, sounding, band_s):
    plot = sounding.mt.plot_mt_response(show_plot=False, plot_tipper="n", plot_pt=False, fig_size=(6, 6), fig_dpi=150)
    plot.plot()
    plot.axr.set_xlim(0.8 * band_s[0], 1.25 * band_s[1])
    plot.fig.savefig(out / f"sounding_{sounding.name}.png")
    plt.close(plot.fig)


class Run:
    """What a run has read: station names, distances along the profile, and rows of period, station, quantity, value as mtpy gives it; no interpolated ones."""

    def __init__(self, folder):
        self.rows = []
        with h5py.File(folder / "result.h5") as file:
            self.projection = file["frame"].attrs["projection"].decode()
            self.distance = "running_sum" if "frame/bends" in file else "projected"
            self.names, self.y_m = [name.decode() for name in file["sites/name"][:]], file["sites/y_m"][:]
            columns = [file[f"data/{name}"][:] for name in ("key/quantity", "key/period_s", "key/site", "observed", "key/interpolated")]
        for quantity, period_s, site, observed, interpolated in zip(*columns):
            name = QUANTITIES.get(quantity.decode())
            if name and not interpolated and np.isfinite(observed):
                folded = np.pi if name == "phase_yx" else 0.0
                value = 10.0**observed if name.startswith("res") else wrapped(np.degrees(observed + folded))
                self.rows.append((period_s, site.decode(), name, value))


def compare(soundings, run):
    """Prints values of a few stations and periods from both programs and the largest difference of all; returns whether they agree."""
    by_name = {sounding.name: sounding for sounding in soundings}
    pairs, worst = {}, {}

    def note(kind, difference, place):
        worst[kind] = max(worst.get(kind, (0.0, place)), (difference, place))

    for period_s, name, quantity, ours in (row for row in run.rows if row[1] in by_name):
        at = np.argmin(np.abs(np.log(by_name[name].period_s / period_s)))
        theirs = by_name[name].values[quantity][at]
        if abs(by_name[name].period_s[at] / period_s - 1.0) <= SAME_FREQUENCY and np.isfinite(theirs):
            pairs[name, period_s, quantity] = (ours, theirs)
            kind, difference = ("apparent resistivity", abs(ours / theirs - 1.0)) if quantity.startswith("res") else ("phase", abs(wrapped(ours - theirs)))
            note(kind, difference, f"{name}, {quantity}, {period_s:.4g} s")
    if not pairs:
        sys.exit('mtpy_pictures: --run: expected apparent resistivities and phases (data.kind = "log10_rho_phase") of these stations, found none')
    both = [(y, by_name[name]) for name, y in zip(run.names, run.y_m) if name in by_name]
    for y, sounding in both if run.distance == "projected" else []:
        note("distance along the profile", abs((y - both[0][0]) - (sounding.offset_m - both[0][1].offset_m)), sounding.name)
    print_pairs(pairs)
    print(f"\n{len(pairs)} data of {len(both)} stations; largest differences between mt_invert and mtpy:")
    for kind, (difference, place) in worst.items():
        print(f"  {kind}: {difference:.2g} {LIMITS[kind][1]} ({place}); limit {LIMITS[kind][0]:g}")
    return all(difference <= LIMITS[kind][0] for kind, (difference, _) in worst.items())


def print_pairs(pairs):
    """Shortest, middle and longest period of the first, middle and last station."""
    print(f"\n{'station':10} {'period s':>9} mode {'rho_a ohm m':>12} {'mtpy':>12} {'phase deg':>11} {'mtpy':>11}")
    names = list(dict.fromkeys(name for name, _, _ in pairs))
    for name in (names[0], names[len(names) // 2], names[-1]):
        periods = sorted({period_s for station, period_s, _ in pairs if station == name})
        for period_s in (periods[0], periods[len(periods) // 2], periods[-1]):
            for mode, component in (("TE", "xy"), ("TM", "yx")):
                rho, phase = (pairs.get((name, period_s, f"{kind}_{component}"), (np.nan, np.nan)) for kind in ("res", "phase"))
                print(f"{name:10} {period_s:9.4g} {mode:4} {rho[0]:12.6g} {rho[1]:12.6g} {phase[0]:11.5f} {phase[1]:11.5f}")


def top_panel(path):
    """The observed data of a pseudosection of our report: the picture less its two lower panels (sizes in io/report/mt_pseudosections.cpp, width 1000)."""
    image = PIL.Image.open(path).convert("RGB")
    unit = image.width / 1000.0
    return image.crop((0, 0, image.width, image.height - int((2.0 * (132.0 + 30.0) + 48.0 - 8.0) * unit)))


def draw_side_by_side(out, run):
    """The run's pseudosections on the left, mtpy's on the right, in few colours: a small file."""
    width, gap = 1000, 12
    rows = []
    for name in (name for name in PICTURES if (run / "pictures" / f"{name}.png").is_file()):
        pair = [top_panel(run / "pictures" / f"{name}.png"), PIL.Image.open(out / f"{name}.png").convert("RGB")]
        rows.append([image.resize((width, round(image.height * width / image.width)), PIL.Image.Resampling.LANCZOS) for image in pair])
    heights = [max(image.height for image in pair) + gap for pair in rows]
    if not rows:
        return
    page = PIL.Image.new("RGB", (2 * width + gap, sum(heights)), "white")
    for top, pair in zip(np.cumsum([0, *heights]), rows):
        for column, image in enumerate(pair):
            page.paste(image, (column * (width + gap), int(top)))
    page.quantize(128, dither=PIL.Image.Dither.NONE).save(out / "side_by_side.png", optimize=True)


def arguments_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("edi", nargs="*", type=pathlib.Path)
    parser.add_argument("--azimuth", type=float, help="of the profile, degrees clockwise from north; default: that of the KIM-ETO line")
    parser.add_argument("--station", help="whose sounding curves are drawn; default: the first on the profile")
    parser.add_argument("--run", type=pathlib.Path, help="folder that mt_invert invert has written from the same files")
    arguments = parser.parse_args()
    if arguments.edi and arguments.azimuth is None:
        parser.error("--azimuth: expected the azimuth of the profile of these files (profile.azimuth_deg of their configuration), but the option is missing")
    if arguments.run and not (arguments.run / "result.h5").is_file():
        parser.error(f"--run: expected a folder with result.h5, as mt_invert invert writes it, got {arguments.run}")
    return arguments


def main():
    arguments = arguments_of()
    logger.remove()  # mtpy reports every rotation
    demo = tomllib.loads(DEMO.read_text())
    paths = arguments.edi or sorted((DEMO.parent / demo["data"]["edi_folder"]).glob("*.edi"))
    azimuth_deg = demo["profile"]["azimuth_deg"] if arguments.azimuth is None else arguments.azimuth
    run = Run(arguments.run) if arguments.run else None
    soundings = [Sounding(path, azimuth_deg - 90.0) for path in paths]
    lay_on_profile(soundings, azimuth_deg, run.projection if run else None)
    periods_s = np.concatenate([sounding.period_s for sounding in soundings]) if arguments.edi else 1.0 / np.array(demo["data"]["frequencies_hz"])
    band_s = (periods_s.min(), periods_s.max())
    chosen = next((sounding for sounding in soundings if sounding.name == (arguments.station or soundings[0].name)), None)
    if chosen is None:
        sys.exit(f"mtpy_pictures: --station: expected one of {', '.join(sounding.name for sounding in soundings)}, got {arguments.station}")
    print(f"mtpy {mtpy.__version__}: {len(soundings)} stations on {soundings[-1].offset_m / 1e3:.1f} km along azimuth {azimuth_deg:g}, "
          f"tensors rotated by {(azimuth_deg - 90.0) % 360.0:g} degrees")
    arguments.out.mkdir(parents=True, exist_ok=True)
    draw_pseudosections(arguments.out, soundings, band_s)
    draw_sounding(arguments.out, chosen, band_s)
    agree = True
    if run:
        draw_side_by_side(arguments.out, arguments.run)
        agree = compare(soundings, run)
    print(f"pictures: {arguments.out}")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
