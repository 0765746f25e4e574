// SPDX-License-Identifier: MIT
// The table of toolchain managers.
//
// Theory of operation: a row lists what comes along. Whatever it does not list stays outside, and
// so does a file that a program writes beside the listed parts later: the root itself is a
// directory of the box's own. Where a manager keeps settings in the directory of a version (npm's
// etc/npmrc, pip.conf), the parts of each version are listed, not the version.
#include "plan/toolchains/managers.h"

#include "base/arena.h"

// The parts of an installation with the layout of /usr.
#define TREE "{bin,lib,lib64,include,share}"
// The parts of a virtual environment of Python.
#define VENV "{bin,lib,lib64,pyvenv.cfg}"
// The files of a Java installation's conf, without passwords and keystores.
#define JAVA_CONF                                                                \
	"conf/{security,sdp,net.properties,logging.properties,jaxp*.properties," \
	"management/management.properties}"
// The parts of a Go installation.
#define GO_PARTS "bin,lib,misc,pkg,src,go.env,VERSION"
// The parts of a package of npm.
#define PACKAGE "{bin,lib,dist,node_modules,package.json,index.js}"
// The parts of an installation of any language.
#define INSTALL                                                                                 \
	"{bin,sbin,lib,lib32,lib64,libexec,include,share,jmods,legal,release,go,packages,boot," \
	"toolchains,releases,erts-*,usr,.npm/bin,.npm/lib,!}"
// The parts of a program in /opt.
#define OPTIONAL                                                                                     \
	"{bin,sbin,lib,lib32,lib64,libexec,include,share,jre,jmods,legal,release,resources,locales," \
	"plugins,!}"
// The parts of a plugin, which is a git repository.
#define PLUGIN "{bin,lib,libexec,share,shims,hooks,etc,utils}"

// Patterns are composed of the macros above.
// NOLINTBEGIN(bugprone-suspicious-missing-comma)
const struct manager_row manager_table[] = {
	{ TOOLCHAIN_NVM, .roots = { "$NVM_DIR", "~/.nvm", "$XDG_CONFIG_HOME/nvm", "~/.config/nvm" },
	  .parts = { "versions/node/*/" TREE, "alias", "nvm.sh", "nvm-exec", "bash_completion" },
	  .variables = { "NVM_DIR", "NVM_BIN", "NVM_INC" },
	  .why = "etc/npmrc of each version may have tokens; .cache and .git are not needed" },
	{ TOOLCHAIN_FNM,
	  .roots = { "$FNM_DIR", "$XDG_DATA_HOME/fnm", "~/.local/share/fnm", "~/.fnm" },
	  .parts = { "node-versions/*/installation/" TREE, "aliases/*", "fnm!" },
	  .programs = { "fnm" }, .variables = { "FNM_DIR" },
	  .why = "etc/npmrc of each version may have tokens" },
	{ TOOLCHAIN_VOLTA, .roots = { "$VOLTA_HOME", "~/.volta" },
	  .parts = { "bin", "tools/image/node/*/" TREE, "tools/image/{npm,pnpm,yarn}/*/" PACKAGE,
		     "tools/image/packages/{*,@*/*}/{bin,lib}", "tools/inventory", "tools/user",
		     "layout.v*" },
	  .variables = { "VOLTA_HOME" },
	  .why = "etc/npmrc of each version may have tokens; hooks.json may have addresses with "
		 "them" },
	{ TOOLCHAIN_NPM,
	  .roots = { "$NPM_CONFIG_PREFIX", "$npm_config_prefix", "~/.npm-global",
		     "~/.npm-packages" },
	  .sibling = "lib/node_modules", .parts = { "bin", "lib/node_modules" },
	  .why = "etc/npmrc may have tokens" },
	{ TOOLCHAIN_NPM, .roots = { "~/.local/lib/node_modules" }, .parts = { "*" },
	  .why = "with the prefix ~/.local, other programs have files in it too" },
	{ TOOLCHAIN_PNPM, .roots = { "$PNPM_HOME", "$XDG_DATA_HOME/pnpm", "~/.local/share/pnpm" },
	  .parts = { "!", "bin", "global/*/{node_modules,.pnpm,package.json}", "nodejs/*/" TREE,
		     ".tools/*/*/{bin,node_modules}" },
	  .variables = { "PNPM_HOME" }, .why = "the store is a cache; the box has its own" },
	{ TOOLCHAIN_BUN, .roots = { "$BUN_INSTALL", "~/.bun" },
	  .parts = { "bin", "install/global/{node_modules,package.json}" },
	  .variables = { "BUN_INSTALL" },
	  .settings = { { "BUN_INSTALL_BIN", "~/.local/bin" },
			{ "BUN_INSTALL_GLOBAL_DIR", "~/.local/share/bun-global" } },
	  .why = "the rest is a cache; new programs go to the box's own ~/.local/bin" },
	{ TOOLCHAIN_DENO, .roots = { "$DENO_INSTALL", "$DENO_INSTALL_ROOT", "~/.deno" },
	  .parts = { "bin" }, .variables = { "DENO_INSTALL" },
	  .settings = { { "DENO_INSTALL_ROOT", "~/.local" } },
	  .why = "new programs go to the box's own ~/.local/bin" },
	{ TOOLCHAIN_CARGO, .roots = { "$CARGO_HOME", "~/.cargo" }, .parts = { "bin", "env" },
	  .variables = { "CARGO_HOME" },
	  .why = "credentials.toml and config.toml may have tokens; registry and git are caches" },
	{ TOOLCHAIN_CARGO, .roots = { "$RUSTUP_HOME", "~/.rustup" }, .parts = { "toolchains/*" },
	  .copies = { "settings.toml" }, .sections = ".", .variables = { "RUSTUP_HOME" },
	  .why = "the proxies in ~/.cargo/bin execute the toolchains; [overrides] names other projects; "
		 "downloads and tmp are caches" },
	{ TOOLCHAIN_PYENV, .has_pythons = true, .roots = { "$PYENV_ROOT", "~/.pyenv" },
	  .parts = { "bin", "libexec", "shims", "completions", "versions/*/" TREE,
		     "versions/*/envs/*/" VENV, "versions/*/pyvenv.cfg", "plugins/*/" PLUGIN },
	  .copies = { "version" }, .variables = { "PYENV_ROOT" },
	  .why = "pip.conf of each version may have passwords; a hook in pyenv.d writes shims after each "
		 "pip, and fails" },
	{ TOOLCHAIN_UV, .has_pythons = true, .roots = { "$XDG_DATA_HOME/uv", "~/.local/share/uv" },
	  .parts = { "tools/*/" VENV, "python/*/" TREE }, .programs = { "uv", "uvx" },
	  .why = "credentials has passwords, and uv-receipt.toml and pip.conf may" },
	{ TOOLCHAIN_UV, .has_pythons = true, .roots = { "$UV_TOOL_DIR" }, .parts = { "*/" VENV },
	  .variables = { "UV_TOOL_DIR" }, .why = "tools in a directory of the user's choice" },
	{ TOOLCHAIN_UV, .has_pythons = true, .roots = { "$UV_PYTHON_INSTALL_DIR" },
	  .parts = { "*/" TREE }, .variables = { "UV_PYTHON_INSTALL_DIR" },
	  .why = "pythons in a directory of the user's choice" },
	{ TOOLCHAIN_PIPX, .has_pythons = true,
	  .roots = { "$PIPX_HOME", "$XDG_DATA_HOME/pipx", "~/.local/share/pipx", "~/.local/pipx" },
	  .parts = { "venvs/*/" VENV, "shared/" VENV, "py/*/" TREE }, .programs = { "pipx" },
	  .variables = { "PIPX_HOME" },
	  .why = "pipx_metadata.json and pip.conf may have passwords" },
	{ TOOLCHAIN_CONDA, .has_pythons = true,
	  .roots = { "$CONDA_EXE/../..", "$MAMBA_ROOT_PREFIX", "$CONDA_PREFIX", "~/miniconda3",
		     "~/miniforge3", "~/mambaforge", "~/anaconda3", "~/micromamba", "/opt/conda" },
	  .parts = { "{bin,condabin,lib,lib64,libexec,include,share,ssl,compiler_compat,"
		     "shell,x86_64-conda-linux-gnu,aarch64-conda-linux-gnu,etc/profile.d,"
		     "etc/fonts}",
		     "envs/*/{bin,lib,lib64,libexec,include,share,ssl,compiler_compat,"
		     "x86_64-conda-linux-gnu,aarch64-conda-linux-gnu,etc/fonts}" },
	  .programs = { "micromamba" },
	  .variables = { "CONDA_EXE", "CONDA_PREFIX", "CONDA_PYTHON_EXE", "MAMBA_EXE",
			 "MAMBA_ROOT_PREFIX" },
	  .why = "conda-meta and etc/conda have variables of environments and addresses with tokens, "
		 ".condarc, pip.conf and the rest of etc may; pkgs is a cache" },
	{ TOOLCHAIN_RBENV, .roots = { "$RBENV_ROOT", "~/.rbenv" },
	  .parts = { "bin", "libexec", "shims", "completions", "versions/*/" TREE,
		     "plugins/*/" PLUGIN },
	  .copies = { "version" }, .variables = { "RBENV_ROOT" },
	  .why = "etc of each version may have a gemrc with passwords; a hook in rbenv.d writes shims" },
	{ TOOLCHAIN_SDKMAN, .roots = { "$SDKMAN_DIR", "~/.sdkman" },
	  .parts = { "bin", "src", "contrib", "libexec",
		     "candidates/{ant,gradle,groovy,java,jbang,kotlin,ktlint,leiningen,micronaut,"
		     "quarkus,sbt,scala,scalacli,springboot}/*/{bin,lib,libexec,include,share,jre,"
		     "jmods,legal,maven2,release,VERSION,build.txt,shell-completion}",
		     "candidates/java/*/" JAVA_CONF, "candidates/groovy/*/conf/groovy-starter.conf",
		     "candidates/{ant,gradle,groovy,java,jbang,kotlin,ktlint,leiningen,micronaut,"
		     "quarkus,sbt,scala,scalacli,springboot}/current",
		     "candidates/maven/*/{bin,boot,lib,conf/logging,conf/maven*.properties}",
		     "candidates/mvnd/*/{bin,mvn/bin,mvn/boot,mvn/lib,mvn/conf/logging}",
		     "candidates/{maven,mvnd}/current" },
	  .variables = { "SDKMAN_DIR", "SDKMAN_CANDIDATES_DIR", "JAVA_HOME", "MAVEN_HOME",
			 "GRADLE_HOME", "KOTLIN_HOME", "GROOVY_HOME", "SCALA_HOME" },
	  .why = "etc, init scripts and properties of Gradle, settings.xml of Maven and conf of Java "
		 "may have passwords; archives and tmp are caches" },
	{ TOOLCHAIN_GO, .roots = { "$GOPATH", "~/go" }, .parts = { "bin" },
	  .variables = { "GOPATH" }, .why = "pkg is a cache, src are projects" },
	{ TOOLCHAIN_GO, .roots = { "$GOBIN" }, .parts = { "!" },
	  .why = "programs in a directory of the user's choice" },
	{ TOOLCHAIN_GO, .roots = { "$GOROOT" }, .parts = { "{" GO_PARTS "}" }, .cleaned = "go.env",
	  .variables = { "GOROOT" },
	  .why = "a Go installation in a directory of the user's choice" },
	{ TOOLCHAIN_GO, .roots = { "~/sdk" }, .parts = { "go*/{" GO_PARTS ",.unpacked-success}" },
	  .cleaned = "go.env",
	  .why = "further versions of Go; other directories there belong to other programs" },
	{ TOOLCHAIN_GO, .roots = { "~/.local/go", "~/.go" }, .parts = { "{" GO_PARTS "}" },
	  .cleaned = "go.env", .why = "a Go installation in the home directory" },
	{ TOOLCHAIN_ASDF, .has_pythons = true,
	  .roots = { "$ASDF_DATA_DIR", "$ASDF_DIR", "~/.asdf" },
	  .parts = { "shims", "bin", "lib", "libexec", "completions",
		     "{asdf.sh,asdf.fish,asdf.elv,asdf.nu,defaults,help.txt,version.txt}",
		     "installs/*/*/" INSTALL, "installs/java/*/" JAVA_CONF, "plugins/*/" PLUGIN },
	  .copies = { "~/.tool-versions", "~/.asdfrc" }, .programs = { "asdf" },
	  .variables = { "ASDF_DATA_DIR", "ASDF_DIR" },
	  .why = "installations have settings beside their programs (etc, .hex, .composer); .git of "
		 "plugins may have tokens" },
	{ TOOLCHAIN_MISE, .has_pythons = true,
	  .roots = { "$MISE_DATA_DIR", "$XDG_DATA_HOME/mise", "~/.local/share/mise" },
	  .parts = { "shims", "installs/*/.mise.backend*", "installs/*/*/" INSTALL,
		     "installs/*/*/*/{bin,!}", "installs/java/*/" JAVA_CONF, "plugins/*/" PLUGIN },
	  .copies = { "~/.config/mise/config.toml", "~/.tool-versions" },
	  .sections = "tools settings alias tool_alias plugins", .programs = { "mise" },
	  .variables = { "MISE_DATA_DIR" }, .settings = { { "MISE_TRUSTED_CONFIG_PATHS", "." } },
	  .why = "installations have settings beside their programs; [env] of config.toml may have "
		 "secrets" },
	{ TOOLCHAIN_HOMEBREW, .has_pythons = true,
	  .roots = { "$HOMEBREW_PREFIX", "/home/linuxbrew/.linuxbrew", "~/.linuxbrew" },
	  .parts = { "bin", "sbin", "Cellar", "opt", "lib", "include", "share" },
	  .variables = { "HOMEBREW_PREFIX", "HOMEBREW_CELLAR" },
	  .why = "etc and var have settings and data of services" },
	{ TOOLCHAIN_OPT, .roots = { "/opt/*" }, .parts = { OPTIONAL, JAVA_CONF, "*/" OPTIONAL },
	  .variables = { "JAVA_HOME" },
	  .why = "etc, var, conf and data of such programs may have secrets" },
};
// NOLINTEND(bugprone-suspicious-missing-comma)
const size_t manager_table_count = ARRAY_SIZE(manager_table);

const char *const watched_programs[] = {
	"node",      "npm",      "npx",      "pnpm",  "yarn",   "bun",    "deno",    "python",
	"python3",   "pip",      "pip3",     "uv",    "poetry", "java",   "javac",   "mvn",
	"gradle",    "kotlinc",  "go",       "cargo", "rustc",  "ruby",   "gem",     "bundle",
	"php",       "composer", "perl",     "gcc",   "g++",    "cc",     "clang",   "make",
	"cmake",     "ninja",    "meson",    "git",   "gh",     "docker", "kubectl", "helm",
	"terraform", "jq",       "rg",       "fd",    "dotnet", "swift",  "zig",     "elixir",
	"erl",       "ghc",      "julia",    "sbt",   "scala",  "lua",    "protoc",  "psql",
	"sqlite3",   "ffmpeg",   "chromium",
};
const size_t watched_program_count = ARRAY_SIZE(watched_programs);
_Static_assert(ARRAY_SIZE(watched_programs) <= 64, "one bit for each program");
