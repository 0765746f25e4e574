# SPDX-License-Identifier: MIT
# A stand-in for nix-index-database: a comma that takes the command's name for the package's.
{
  description = "a small nix-index-database for tests";

  inputs.nixpkgs.url = "nixpkgs";

  outputs = { self, nixpkgs }: {
    packages = builtins.mapAttrs
      (system: pkgs: {
        comma-with-db = pkgs.script "comma-with-db" { "," = ''exec nix shell "nixpkgs#$1" -c "$@"''; };
      })
      nixpkgs.legacyPackages;
  };
}
