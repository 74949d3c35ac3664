# SPDX-License-Identifier: Apache-2.0
"""The models that the tests of the command line invert in seconds: a conductive block below seven sites, and a box below a map."""

BLOCK = """[background]
resistivity_ohm_m = [100.0]

[[box]]
y_min_m = -400.0
y_max_m = 400.0
z_min_m = 200.0
z_max_m = 800.0
resistivity_ohm_m = 5.0
"""

SITES = "site,y_m\n" + "".join(f"s{i},{-1500 + 500 * i}\n" for i in range(7))

BOX = """dimension = 3
[background]
resistivity_ohm_m = [100.0]
[[box]]
x_min_m = -700.0
x_max_m = 300.0
y_min_m = -300.0
y_max_m = 900.0
z_min_m = 200.0
z_max_m = 900.0
resistivity_ohm_m = 2.0
"""
