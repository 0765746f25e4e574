// SPDX-License-Identifier: MIT
// Shared by the fuzz targets: the entry point of libFuzzer, and an assertion for every input.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                     \
	do {                                                                \
		if (!(condition)) {                                         \
			fprintf(stderr, "does not hold: %s\n", #condition); \
			abort();                                            \
		}                                                           \
	} while (0)
