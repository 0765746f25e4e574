// SPDX-License-Identifier: MIT
// The toolchain managers that a profile can name. What each of them brings is in
// plan/toolchains/managers.c.
#pragma once

enum toolchain {
	TOOLCHAIN_NVM,
	TOOLCHAIN_FNM,
	TOOLCHAIN_VOLTA,
	TOOLCHAIN_NPM,
	TOOLCHAIN_PNPM,
	TOOLCHAIN_BUN,
	TOOLCHAIN_DENO,
	TOOLCHAIN_CARGO,
	TOOLCHAIN_PYENV,
	TOOLCHAIN_UV,
	TOOLCHAIN_PIPX,
	TOOLCHAIN_CONDA,
	TOOLCHAIN_RBENV,
	TOOLCHAIN_SDKMAN,
	TOOLCHAIN_GO,
	TOOLCHAIN_ASDF,
	TOOLCHAIN_MISE,
	TOOLCHAIN_HOMEBREW,
	TOOLCHAIN_OPT,
	TOOLCHAIN_COUNT,
};
extern const char *const toolchain_names[TOOLCHAIN_COUNT];

// Sets of them, as bits.
#define TOOLCHAIN_BIT(toolchain) (1U << (toolchain))
#define TOOLCHAINS_ALL           (TOOLCHAIN_BIT(TOOLCHAIN_COUNT) - 1)
