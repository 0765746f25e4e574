# SPDX-License-Identifier: MIT
# Functions of nixpkgs' lib, as its manual describes them.
rec {
  inherit (builtins) concatStringsSep;
  mapAttrs = builtins.mapAttrs;
  mapAttrsToList = make: set: map (name: make name set.${name}) (builtins.attrNames set);
  genAttrs = names: make: builtins.listToAttrs (map (name: { inherit name; value = make name; }) names);
  boolToString = value: if value then "true" else "false";
  getBin = package: package.bin or package;
  getLib = package: package.lib or package;
  makeBinPath = packages: concatStringsSep ":" (map (package: "${getBin package}/bin") packages);
  licenses.mit = { spdxId = "MIT"; };
}
