# SPDX-License-Identifier: Apache-2.0
# The lines above this one are choices of the view: change them at will. ParaView 5.10 or later runs the rest.
import os
import sys

from paraview import simple

FOLDER = os.path.dirname(os.path.abspath(__file__)) if "__file__" in globals() else os.getcwd()
INK, FADED = [0.13, 0.13, 0.13], 0.6


def opened(name):
    path = os.path.join(FOLDER, name)
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: expected a file of the run, but there is none; write the script again with mt_invert paraview")
    return simple.OpenDataFile(path)


def cut_by_plane(source, along, place_m, keep):
    """Returns the part of a source beyond a place of an axis of the grid ("greater") or before it ("less")."""
    part = simple.Clip(Input=source)
    part.ClipType = "Plane"
    if along == "z":
        part.ClipType.Origin, part.ClipType.Normal = [ORIGIN[0], ORIGIN[1], place_m], [0.0, 0.0, 1.0]
    else:
        axis = X_AXIS if along == "x" else Y_AXIS
        part.ClipType.Origin = [ORIGIN[0] + place_m * axis[0], ORIGIN[1] + place_m * axis[1], 0.0]
        part.ClipType.Normal = [axis[0], axis[1], 0.0]
    part.Invert = 1 if keep == "less" else 0
    return part


def cells_between(source, array, low, high):
    part = simple.Threshold(Input=source)
    part.Scalars = ["CELLS", array]
    part.ThresholdMethod = "Between"
    part.LowerThreshold, part.UpperThreshold = low, high
    return part


def parts_to_show(earth):
    """A section down to its lower end; of a volume the block around the sites, without the quarter in front of both slices."""
    if SLICES is None:
        return [cut_by_plane(earth, "z", BOTTOM, "greater")]
    block = earth
    for along in ("x", "y"):
        low, high = SLICES[along]
        block = cut_by_plane(cut_by_plane(block, along, low, "greater"), along, high, "less")
    block = cut_by_plane(block, "z", BOTTOM, "greater")
    behind = cut_by_plane(block, "x", SLICES["along_y_at_x"], "greater")
    front = cut_by_plane(block, "x", SLICES["along_y_at_x"], "less")
    return [behind, cut_by_plane(front, "y", SLICES["along_x_at_y"], "less")]


def is_empty(source):
    source.UpdatePipeline()
    return source.GetDataInformation().GetNumberOfCells() == 0


def bounds_of(sources):
    """Bounds of what is shown, with the vertical exaggeration."""
    low, high = [float("inf")] * 3, [float("-inf")] * 3
    for source in sources:
        source.UpdatePipeline()
        bounds = source.GetDataInformation().GetBounds()
        for k in range(3):
            stretch = EXAGGERATION if k == 2 else 1.0
            low[k], high[k] = min(low[k], stretch * bounds[2 * k]), max(high[k], stretch * bounds[2 * k + 1])
    return low, high


def colours(table, fade):
    """Sets the colours of the report, or the same mixed with white."""
    points = []
    for k, colour in enumerate(COLOURS):
        channels = [int(colour[i : i + 2], 16) / 255.0 for i in (0, 2, 4)]
        points += [LOW + (HIGH - LOW) * k / (len(COLOURS) - 1.0)] + [c + fade * (1.0 - c) for c in channels]
    table.AutomaticRescaleRangeMode = "Never"
    table.ColorSpace = "RGB"
    table.RGBPoints = points
    table.NanColor = [0.88, 0.88, 0.88]


def show_cells(source, view, fade):
    display = simple.Show(source, view)
    display.Representation = "Surface"
    display.Scale = [1.0, 1.0, EXAGGERATION]
    simple.ColorBy(display, ("CELLS", ARRAY), separate=fade > 0.0)
    colours(simple.GetColorTransferFunction(ARRAY, display, separate=fade > 0.0), fade)
    display.SetScalarBarVisibility(view, False)
    display.Ambient, display.Diffuse, display.Specular = (1.0, 0.0, 0.0) if SLICES is None else (0.55, 0.45, 0.0)
    return display


def show_earth(part, view):
    """The cells, paler where the data do not see, with a line around those that they see."""
    if INVESTIGATED is None:
        show_cells(part, view, 0.0)
        return
    for low, high, fade in ((0.5, 1.0, 0.0), (0.0, 0.5, FADED)):
        cells = cells_between(part, INVESTIGATED, low, high)
        if not is_empty(cells):
            show_cells(cells, view, fade)
    skin = simple.CellDatatoPointData(Input=simple.ExtractSurface(Input=part))
    border = simple.Contour(Input=skin)
    border.ContourBy = ["POINTS", INVESTIGATED]
    border.Isosurfaces = [0.5]
    if not is_empty(border):
        show_plain(border, view, INK).LineWidth = 2.0


def show_plain(source, view, colour, opacity=1.0, stretch=EXAGGERATION):
    display = simple.Show(source, view)
    display.Scale = [1.0, 1.0, stretch]
    display.ColorArrayName = [None, ""]
    display.AmbientColor = display.DiffuseColor = colour
    display.Opacity = opacity
    return display


def show_sites(view):
    """Cones that stand on the ground with their tips; they are not stretched."""
    raised = simple.Transform(Input=opened(SITES))
    raised.Transform = "Transform"
    raised.Transform.Scale = [1.0, 1.0, EXAGGERATION]
    raised.Transform.Translate = [0.0, 0.0, 0.5 * SITE_SIZE]
    marks = simple.Glyph(Input=raised, GlyphType="Cone")
    marks.GlyphType.Resolution = 24
    marks.GlyphType.Radius = 0.35
    marks.GlyphType.Direction = [0.0, 0.0, -1.0]
    marks.OrientationArray = ["POINTS", "No orientation array"]
    marks.ScaleArray = ["POINTS", "No scale array"]
    marks.ScaleFactor = SITE_SIZE
    marks.GlyphMode = "All Points"
    show_plain(marks, view, INK, stretch=1.0)


def show_title(view):
    display = simple.Show(simple.Text(Text=TITLE), view)
    display.Color, display.FontSize = INK, 16
    display.WindowLocation = "Upper Left Corner"


def show_axes(view):
    axes = view.AxesGrid
    axes.Visibility = 1
    axes.XTitle, axes.YTitle = AXES[:2]
    axes.ZTitle = f"    {AXES[2]}    "  # aside of the numbers, at which it ends
    # In kilometres, as ParaView sets titles at a distance from the axes that longer numbers would reach.
    axes.DataScale = [1000.0, 1000.0, 1000.0 * EXAGGERATION]
    if SLICES is None:
        axes.AxesToLabel = 0b000111  # at the left and below, where a section has no other sides
    for name in ("XTitleColor", "YTitleColor", "ZTitleColor", "XLabelColor", "YLabelColor", "ZLabelColor", "GridColor"):
        setattr(axes, name, INK)


def show_colour_bar(view):
    bar = simple.GetScalarBar(simple.GetColorTransferFunction(ARRAY), view)
    bar.Title, bar.ComponentTitle = LABEL.replace(" (", "\n("), ""
    bar.HorizontalTitle, bar.TitleJustification = 1, "Left"  # above the bar: beside it, it would lie on the numbers
    bar.TitleColor = bar.LabelColor = INK
    bar.TitleFontSize = bar.LabelFontSize = 16
    bar.AutomaticLabelFormat = 0
    bar.LabelFormat = bar.RangeLabelFormat = "%.1f"
    bar.ScalarBarLength = 0.5
    bar.WindowLocation = "Any Location"
    bar.Position = [0.89, 0.25]
    bar.Visibility = 1


def place_camera(view, low, high):
    """A section from its right-hand side, level; a volume from above, over the quarter that is taken off."""
    if SLICES is None:
        back = [Y_AXIS[1], -Y_AXIS[0], 0.0]
    else:
        back = [0.55 * Y_AXIS[k] - 0.8 * X_AXIS[k] for k in range(2)] + [0.7]
    length = sum(each * each for each in back) ** 0.5
    back = [each / length for each in back]
    level = (back[0] ** 2 + back[1] ** 2) ** 0.5
    right = [-back[1] / level, back[0] / level, 0.0]
    up = [-back[0] * back[2] / level, -back[1] * back[2] / level, level]
    half = [0.5 * (high[k] - low[k]) for k in range(3)]
    middle = [low[k] + half[k] for k in range(3)]
    wide, tall = (sum(abs(axis[k]) * half[k] for k in range(3)) for axis in (right, up))
    far = 4.0 * sum(half)
    view.CameraFocalPoint = middle
    view.CameraPosition = [middle[k] + far * back[k] for k in range(3)]
    view.CameraViewUp = [0.0, 0.0, 1.0]
    view.CameraParallelProjection = 1
    view.CameraParallelScale = max(1.25 * tall, 1.75 * wide * view.ViewSize[1] / view.ViewSize[0])
    view.CenterOfRotation = middle


def make_view():
    simple._DisableFirstRenderCameraReset()
    view = simple.CreateRenderView()
    view.ViewSize = [1400, 560] if SLICES is None else [1200, 900]
    view.UseColorPaletteForBackground = 0
    view.BackgroundColorMode = "Single Color"
    view.Background = [1.0, 1.0, 1.0]
    view.OrientationAxesVisibility = 0 if SLICES is None else 1
    view.OrientationAxesLabelColor = INK
    model = opened(MODEL)
    parts = parts_to_show(cells_between(model, "sea", 0.0, 0.5) if SEA else model)
    for part in parts:
        show_earth(part, view)
    if SEA:
        for water in parts_to_show(cells_between(model, "sea", 0.5, 1.0)):
            if not is_empty(water):
                show_plain(water, view, [0.74, 0.85, 0.93], 0.4)
    if SITES is not None:
        show_sites(view)
    show_title(view)
    show_axes(view)
    show_colour_bar(view)
    place_camera(view, *bounds_of(parts))
    simple.Render(view)
    return view


VIEW = make_view()
if len(sys.argv) > 1 and sys.argv[-1].endswith(".png"):
    simple.SaveScreenshot(sys.argv[-1], VIEW, ImageResolution=VIEW.ViewSize)
