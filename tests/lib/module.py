# SPDX-License-Identifier: MIT
"""Runs one unittest module and ends with a line of JSON that counts the results."""
import importlib.util
import json
import sys
import unittest


def main():
    spec = importlib.util.spec_from_file_location("module", sys.argv[1])
    module = importlib.util.module_from_spec(spec)
    sys.modules["module"] = module
    spec.loader.exec_module(module)
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    bad = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    # An error in setUpClass counts although no test ran.
    passed = max(0, result.testsRun - bad - len(result.skipped))
    print()
    print(json.dumps({"passed": passed, "failed": bad, "skipped": len(result.skipped)}))


main()
