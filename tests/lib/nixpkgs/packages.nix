# SPDX-License-Identifier: MIT
system:
let
  # Like stdenv.mkDerivation: the outputs that a user wants are in meta.outputsToInstall.
  make = { name, script, outputs ? [ "out" ], install ? [ (builtins.head outputs) ], ... }@more:
    derivation ({
      inherit name system outputs;
      builder = "/bin/sh";
      args = [ "-euc" script ];
      PATH = "/usr/bin:/bin";
    } // removeAttrs more [ "script" "outputs" "install" ]) // { meta.outputsToInstall = install; };

  # A program that says where it is from.
  program = output: name: ''
    mkdir -p ''$${output}/bin
    printf '#!/bin/sh\necho "${name} from Nix"\n' >''$${output}/bin/${name}
    chmod +x ''$${output}/bin/${name}
  '';

  tool = name: make { inherit name; script = program "out" name; };
in
{
  hello = tool "hello";
  late = tool "late";
  python3Packages.tool = tool "nested";

  # The program is in the first output, as in openssl, or in one that is not installed by default.
  two = make {
    name = "two";
    outputs = [ "bin" "out" "man" ];
    install = [ "bin" "man" ];
    script = program "bin" "two" + "mkdir -p $out/lib $man/share/man; echo lib >$out/lib/two";
  };
  hidden = make {
    name = "hidden";
    outputs = [ "out" "tools" ];
    script = program "tools" "hidden" + "mkdir -p $out/lib; echo lib >$out/lib/hidden";
  };
  both = make {
    name = "both";
    outputs = [ "out" "extra" ];
    install = [ "out" "extra" ];
    script = program "out" "both" + program "extra" "both-extra";
  };

  nobin = make { name = "nobin"; script = "mkdir -p $out/share; echo data >$out/share/nobin"; };
  file = make { name = "file"; script = "echo text >$out"; };
  broken = make { name = "broken"; script = "echo first line of the log; echo why it fails >&2; exit 3"; };
  slow = make { name = "slow"; script = "echo sleeping; sleep 30; mkdir $out"; };

  # What these do in nixpkgs depends on its configuration, which a flake cannot see.
  unfree = throw "Package ‘unfree-1.0’ has an unfree license (‘unfree’), refusing to evaluate.";
  insecure = make { name = "insecure"; script = throw "Package ‘insecure-1.0’ is marked as insecure, refusing to evaluate."; };
  notAPackage = "a string";
}
