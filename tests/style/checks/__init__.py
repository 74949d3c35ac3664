# SPDX-License-Identifier: Apache-2.0
"""The rules that check_style.py runs, one module per family of rules."""
