# SPDX-License-Identifier: MIT
"""The factor for the rounds of tests that repeat something; `make stress` sets more than 1."""
import os

STRESS = max(1, int(os.environ.get("STRESS") or 1))
