# SPDX-License-Identifier: MIT
# A stand-in for nixpkgs: a few packages that need nothing but the host's /bin/sh and coreutils.
{
  description = "a small nixpkgs for tests";

  outputs = { self }: {
    legacyPackages = builtins.listToAttrs (map
      (system: { name = system; value = import ./packages.nix system; })
      [ "x86_64-linux" "aarch64-linux" ]);
  };
}
