#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/vmath_coefficients.py
# Prints the coefficients in engine/vmath/exponential.hpp and inverse.hpp that are no Taylor series, and how far each polynomial is from its function. Needs mpmath.
from mpmath import asin, atan, cos, erf, erfc, exp, lu_solve, matrix, mp, mpf, nstr, pi, polyval, sqrt, tanh

mp.dps = 50
TINY = mpf(10) ** -12


def interpolant(f, a, b, degree):
    """Coefficients, constant term first, of the polynomial through f at Chebyshev's points of [a, b]."""
    points = [(a + b) / 2 + (b - a) / 2 * cos(pi * (2 * k + 1) / (2 * (degree + 1))) for k in range(degree + 1)]
    powers = matrix(degree + 1, degree + 1)
    values = matrix(degree + 1, 1)
    for i, point in enumerate(points):
        values[i] = f(point)
        for j in range(degree + 1):
            powers[i, j] = point ** j
    solution = lu_solve(powers, values)
    return [solution[j] for j in range(degree + 1)]


def tanh_rest(z):
    x = sqrt(max(z, TINY))
    return (tanh(x) / x - 1) / max(z, TINY)


def erf_rest(z):
    x = sqrt(max(z, TINY))
    return (erf(x) / x - 2 / sqrt(pi)) / max(z, TINY)


def scaled_erfc(u):
    x = 2 / (u + mpf(1) / 2) - 2
    return exp(x * x) * erfc(x)


def asin_rest(z):
    x = sqrt(max(z, TINY))
    return (asin(x) / x - 1) / max(z, TINY)


def atan_rest(z):
    x = sqrt(max(z, TINY))
    return (atan(x) / x - 1) / max(z, TINY)


def main():
    half = mpf(1) / 2
    for name, f, a, b, degree in [
        ("tanh_double", tanh_rest, mpf(0), mpf(1), 15), ("tanh_single", tanh_rest, mpf(0), mpf(1), 7),
        ("erf_double", erf_rest, mpf(0), mpf(1), 12), ("erf_single", erf_rest, mpf(0), mpf(1), 6),
        ("erfc_double", scaled_erfc, mpf(2) / 8 - half, mpf(2) / 3 - half, 17),
        ("erfc_single", scaled_erfc, mpf(2) / 6 - half, mpf(2) / 3 - half, 7),
        ("asin_double", asin_rest, mpf(0), mpf(1) / 4, 12), ("asin_single", asin_rest, mpf(0), mpf(1) / 4, 5),
        ("atan_double", atan_rest, mpf(0), (sqrt(mpf(2)) - 1) ** 2, 11), ("atan_single", atan_rest, mpf(0), (sqrt(mpf(2)) - 1) ** 2, 4),
    ]:
        c = interpolant(f, a, b, degree)
        worst = max(abs(polyval(c[::-1], a + (b - a) * k / 400) - f(a + (b - a) * k / 400)) for k in range(1, 401))
        print(f"{name}: within {nstr(worst, 2)}\n  " + ", ".join("%.17g" % float(each) for each in c))


if __name__ == "__main__":
    main()
