# SPDX-License-Identifier: MIT
system:
let
  base = {
    inherit system;
    builder = "/bin/sh";
    PATH = "/usr/bin:/bin:/usr/sbin:/sbin";
    LANG = "C.UTF-8";
  };

  # Programs that are tried in the box, and what the libraries of all of them are collected for.
  core = [
    "basename" "cat" "chmod" "cp" "cut" "date" "dirname" "echo" "env" "false" "head" "id" "ln" "ls" "mkdir" "mktemp" "mv" "printf"
    "pwd" "readlink" "realpath" "rm" "rmdir" "sleep" "sort" "stat" "tail" "test" "touch" "tr" "true" "uname" "uniq" "wc" "whoami"
  ];
  all = core ++ [ "bash" "bwrap" "curl" "find" "git" "grep" "jq" "nft" "nix" "node" "pasta" "sed" ];

  collect = name: arguments: derivation (base // {
    inherit name;
    args = [ "-euc" "exec python3 ${./collect.py} ${./launcher.c} ${arguments}" ];
  });
  glibc = collect "glibc" "--libraries ${toString all}";
  package = name: programs: collect name "--programs ${glibc} ${toString programs}";

  script = name: scripts: derivation (base // {
    inherit name;
    args = [ "-euc" (toString (builtins.attrValues (builtins.mapAttrs
      (program: text: ''
        mkdir -p $out/bin
        printf '%s\n' '#!/bin/sh' '${text}' >"$out/bin/${program}"
        chmod +x "$out/bin/${program}"
      '')
      scripts))) ];
  });
  # Some that this machine need not have, and that only have to be there.
  nothing = name: derivation (base // { inherit name; args = [ "-euc" "mkdir -p $out/bin" ]; });
in
rec {
  inherit glibc script;
  bashInteractive = package "bash-interactive" [ "bash" "sh=bash" ];
  bubblewrap = package "bubblewrap" [ "bwrap" ];
  coreutils = package "coreutils" core;
  curl = package "curl" [ "curl" ];
  findutils = package "findutils" [ "find" ];
  git = package "git" [ "git" ];
  gnugrep = package "gnugrep" [ "grep" ];
  gnused = package "gnused" [ "sed" ];
  jq = package "jq" [ "jq" ];
  nftables = package "nftables" [ "nft" ];
  nix = package "nix" [ "nix" "nix-store=nix" ];
  nodejs = package "nodejs" [ "node" ];
  passt = package "passt" [ "pasta" ];
  ripgrep = script "ripgrep" { rg = ''exec grep -rn -- "$@"''; };
  fd = script "fd" { fd = ''exec find . -name "*$1*"''; };
  cacert = derivation (base // {
    name = "cacert";
    args = [ "-euc" "mkdir -p $out/etc/ssl/certs; echo 'certificates of Nix' >$out/etc/ssl/certs/ca-bundle.crt" ];
  });

  diffutils = nothing "diffutils";
  gawk = nothing "gawk";
  gnutar = nothing "gnutar";
  gzip = nothing "gzip";

  # The compiler and the libraries are this machine's own, in /usr.
  meson = nothing "meson";
  ninja = nothing "ninja";
  pkg-config = nothing "pkg-config";
  python3 = nothing "python3";
  scdoc = nothing "scdoc";
  jansson = nothing "jansson";
  libmd = nothing "libmd";
  libseccomp = nothing "libseccomp";
  clang-tools = nothing "clang-tools";
  cppcheck = nothing "cppcheck";
  shellcheck = nothing "shellcheck";

  # What the setup hooks of meson and ninja do.
  stdenv.mkDerivation = { pname, version, meta ? { }, doCheck ? false, doInstallCheck ? false, ... }@more:
    derivation (base // {
      name = "${pname}-${version}";
      CC = "gcc";
      doCheck = if doCheck then "1" else "";
      doInstallCheck = if doInstallCheck then "1" else "";
      args = [ "-euc" ''
        cp -r "$src" source
        chmod -R u+w source
        cd source
        export HOME=$PWD
        meson setup build --prefix="$out" --buildtype="$mesonBuildType" -Dauto_features=enabled $mesonFlags
        ninja -C build
        [ -z "$doCheck" ] || meson test -C build --no-rebuild --print-errorlogs
        meson install -C build --no-rebuild
        [ -z "$doInstallCheck" ] || eval "$installCheckPhase"
      '' ];
    } // removeAttrs more [ "meta" "doCheck" "doInstallCheck" ]) // { inherit meta pname version; };
  mkShell = { inputsFrom, packages }: derivation (base // {
    name = "shell";
    inherit inputsFrom packages;
    args = [ "-euc" "mkdir $out" ];
  });
}
