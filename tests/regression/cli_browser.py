# SPDX-License-Identifier: Apache-2.0
"""Pages of reports in a browser without a window: no message in its console, no text that is cut off, pictures that are drawn, names that stay text. Skipped where Chromium is
missing."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys

from block import BOX
from support import EDI, SOURCE, Folder, check, expect, finish, run, synthetic

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
BROWSER = next((found for found in map(shutil.which, BROWSERS) if found), None)
EVIL = 'x<script>document.title="run"</script>&amp;"y'

# Stands at the end of a copy of a page. It opens what is folded, measures, and leaves what it found as text.
PROBE = """<script>
const found = {cut: [], outside: [], wide: [], unseen: [], scripts: 0, pictures: 0, texts: 0, title: document.title};
document.querySelectorAll('details').forEach(each => each.open = true);
const label = each => each.tagName + ' ' + each.textContent.trim().slice(0, 60);
document.querySelectorAll('h1, h2, p, td, th, figcaption, nav, summary, li, pre').forEach(each => {
  const style = getComputedStyle(each);
  if (each.scrollWidth > each.clientWidth + 1 && style.display != 'inline' && !['auto', 'scroll'].includes(style.overflowX)) found.cut.push(label(each));
});
if (document.documentElement.scrollWidth > document.documentElement.clientWidth) found.wide.push(document.documentElement.scrollWidth + ' of ' + document.documentElement.clientWidth);
document.querySelectorAll('svg').forEach(svg => {
  if (svg.parentElement.closest('svg')) return;
  const frame = svg.getBoundingClientRect();
  found.pictures += 1;
  if (!(frame.width > 20 && frame.height > 10) || svg.querySelectorAll('path, circle').length == 0) found.unseen.push(label(svg));
  svg.querySelectorAll('text').forEach(text => {
    const box = text.getBoundingClientRect();
    found.texts += 1;
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1) found.outside.push(label(text));
  });
});
document.querySelectorAll('img').forEach(each => { found.pictures += 1; if (!(each.naturalWidth > 0)) found.unseen.push(each.src); });
found.scripts = document.querySelectorAll('script').length - 1;
const report = document.createElement('pre');
report.id = 'found';
report.textContent = JSON.stringify(found);
document.body.appendChild(report);
</script></body>"""


def in_browser(folder, page, change=lambda text: text):
    """Returns what the probe finds in a page, and the messages of the browser's console."""
    with open(page, encoding="utf-8") as file:
        text = change(file.read())
    assert text.count("</body>") == 1, page
    copy = os.path.join(os.path.dirname(page), "probed.html")
    with open(copy, "w", encoding="utf-8") as file:
        file.write(text.replace("</body>", PROBE))
    result = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--window-size=1280,1000",
                             f"--user-data-dir={folder / 'profile'}", "--enable-logging=stderr", "--virtual-time-budget=10000", "--dump-dom", "file://" + copy],
                            capture_output=True, text=True, timeout=120, check=False)
    os.remove(copy)
    console = [line for line in result.stderr.splitlines() if "CONSOLE" in line]
    said = re.search(r'<pre id="found">(.*?)</pre>', result.stdout, re.S)
    if not said:
        check(False, f"{page}: the browser opens it: {result.stderr[-600:]}")
        return None, console
    plain = said.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return json.loads(plain), console


def check_page(folder, page, n_pictures):
    found, console = in_browser(folder, page)
    if not found:
        return
    name = os.path.relpath(page, folder.path)
    check(not console, f"{name}: the console is silent: {console[:3]}")
    for key, what in (("cut", "no text is cut off"), ("outside", "no text leaves its picture"), ("wide", "the page is not wider than its window"), ("unseen", "pictures are drawn")):
        check(not found[key], f"{name}: {what}: {found[key][:5]}")
    check(found["pictures"] >= n_pictures and found["texts"] > 10, f"{name}: {found['pictures']} pictures with {found['texts']} texts, at least {n_pictures}")
    check(found["scripts"] == 0, f"{name}: {found['scripts']} scripts")
    check(found["title"] != "run", f"{name}: a name that looks like a script does not run")


def check_planted(folder, page):
    """The probe sees faults that are planted into a page."""
    faults = {"cut": lambda text: text.replace("</h1>", "</h1><p style='width:40px;white-space:nowrap;overflow:hidden'>a text that is cut off</p>"),
              "outside": lambda text: text.replace("<text x=\"", "<text x=\"9", 1),
              "wide": lambda text: text.replace("</h1>", "</h1><div style='width:3000px'>wide</div>"),
              "unseen": lambda text: text.replace("</h1>", "</h1><img src='none.png'>")}
    for key, plant in faults.items():
        found, _ = in_browser(folder, page, plant)
        check(found and found[key], f"a planted fault is found: {key}")
    found, console = in_browser(folder, page, lambda text: text.replace("</h1>", "</h1><script>document.title = 'run'; console.error('planted')</script>"))
    check(found and found["scripts"] == 1 and found["title"] == "run", "a script that runs is found")
    check(any("planted" in line for line in console), f"a message in the console is found: {console}")


def make_survey(folder):
    os.makedirs(folder / "edi")
    for name in ("ETO001A", "ETO004A", "ETO007C", "ETO010A", "kim438"):
        shutil.copy(glob.glob(os.path.join(EDI, f"SAMTEX.{name}.*.edi"))[0], folder / "edi")
    path = glob.glob(folder / "edi/*ETO004A*")[0]
    with open(path, encoding="latin-1") as file:
        text = file.read()
    with open(path, "w", encoding="latin-1") as file:
        file.write(text.replace('DATAID="ETO004A"', "DATAID=" + EVIL.replace('"', "'")))
    expect(0, [], "report", folder / "edi", "-o", folder / "survey", "--stations-per-page", "4")


VOLUME = """[data]
modem_file = "box.dat"
kind = "full_impedance"
tipper = true
[grid]
n_columns = 8
n_rows = 8
n_layers = 8
[inversion]
max_iterations = 2
[forward]
final_accuracy = "iteration"
certificate = "none"
[output]
vtk = false
"""


def make_volume(folder):
    sites = folder.write("map.csv", "site,x_m,y_m\n" + "".join(f"s{k},{x},{y}\n" for k, (x, y) in enumerate((x, y) for x in (-1200, -200, 800) for y in (-900, 300, 1500))))
    expect(0, ["wrote"], "forward", "--model", folder.write("box.toml", BOX), "--sites", sites, "--periods", "0.03,0.3", "--accuracy", "iteration", "-o", folder / "box.dat")
    ended = run("invert", folder.write("volume.toml", VOLUME), "--dim", "3", "-o", folder / "volume")
    check(ended.returncode in (0, 10), f"a volume is inverted: {(ended.stdout + ended.stderr)[-600:]}")


if not BROWSER:
    print("no Chromium is here: scripts/setup.sh --tests")
    sys.exit(77)

with Folder() as folder:
    make_survey(folder)
    check_page(folder, folder / "survey/report.html", 7)
    check_page(folder, folder / "survey/soundings_1.html", 5)
    with open(folder / "survey/report.html", encoding="utf-8") as file:
        check("x&lt;script&gt;" in file.read(), "the name of the station is in the page")

    config = synthetic(folder)
    ended = run("invert", config, "-o", folder / "run", "--set", "output.report=true", "--set", "uncertainty.posterior=true",
                "--set", 'run.title="block ' + EVIL.replace('"', "'") + '"')
    check(ended.returncode in (0, 10), f"a section is inverted: {(ended.stdout + ended.stderr)[-600:]}")
    check_page(folder, folder / "run/report.html", 15)
    expect(0, [], "report", folder / "run", "--contours")
    check_page(folder, folder / "run/report.html", 15)
    layers = run("invert", config, "--dim", "1", "-o", folder / "layers", "--set", "output.report=true")
    check(layers.returncode in (0, 10), f"layered earths are inverted: {(layers.stdout + layers.stderr)[-600:]}")
    check_page(folder, folder / "layers/report.html", 10)
    expect(0, ["codes in use"], "train", os.path.join(SOURCE, "examples/getting_started/prior.toml"), "-o", folder / "prior", "--set", "training.epochs=2", "--set", "training.draws=2000")
    check_page(folder, folder / "prior/report.html", 4)
    make_volume(folder)
    check_page(folder, folder / "volume/report.html", 12)
    check_planted(folder, folder / "run/report.html")
finish()
