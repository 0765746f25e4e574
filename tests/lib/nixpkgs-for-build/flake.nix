# SPDX-License-Identifier: MIT
# A stand-in for nixpkgs, as far as flake.nix of claudebox goes: programs of this machine, each with what it needs in the store.
{
  description = "the part of nixpkgs that claudebox is built from, for tests";

  outputs = { self }: {
    lib = import ./lib.nix;
    legacyPackages = builtins.listToAttrs (map
      (system: { name = system; value = import ./packages.nix system; })
      [ "x86_64-linux" "aarch64-linux" ]);
  };
}
