# SPDX-License-Identifier: MIT
# Builds claudebox with every program that it runs, outside and inside the box, compiled in as a store path.
{
  description = "Claude Code in a bubblewrap sandbox, without your secrets";

  inputs = {
    nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
    nix-index-database = {
      url = "github:nix-community/nix-index-database";
      inputs.nixpkgs.follows = "nixpkgs";
    };
  };

  outputs = { self, nixpkgs, nix-index-database }:
    let
      lib = nixpkgs.lib;

      # The systems, and the dynamic loader of glibc on each.
      loaders = {
        x86_64-linux = "ld-linux-x86-64.so.2";
        aarch64-linux = "ld-linux-aarch64.so.1";
      };
      each = make: lib.genAttrs (builtins.attrNames loaders) (system: make system nixpkgs.legacyPackages.${system});

      # Programs that run outside the box, and the one that starts claude in it.
      programs = pkgs: lib.mapAttrs (name: package: "${lib.getBin package}/bin/${name}") {
        bwrap = pkgs.bubblewrap;
        git = pkgs.git;
        nft = pkgs.nftables;
        nix = pkgs.nix;
        node = pkgs.nodejs;
        pasta = pkgs.passt;
      };

      # The complete PATH of the box.
      tools = system: pkgs: [
        pkgs.bashInteractive
        pkgs.coreutils
        pkgs.findutils
        pkgs.gnugrep
        pkgs.gnused
        pkgs.gawk
        pkgs.diffutils
        pkgs.gnutar
        pkgs.gzip
        pkgs.git
        pkgs.curl
        pkgs.jq
        pkgs.ripgrep
        pkgs.fd
        pkgs.nodejs
        pkgs.nix
        nix-index-database.packages.${system}.comma-with-db
      ];

      build = { tests }: system: pkgs:
        let
          compiledIn = programs pkgs // {
            box_loader = "${lib.getLib pkgs.glibc}/lib/${loaders.${system}}";
            box_certificates = "${pkgs.cacert}/etc/ssl/certs/ca-bundle.crt";
          };
        in
        pkgs.stdenv.mkDerivation {
          pname = "claudebox";
          version = "0.1.0";
          src = self;

          nativeBuildInputs = [ pkgs.meson pkgs.ninja pkgs.pkg-config pkgs.python3 pkgs.scdoc ];
          buildInputs = [ pkgs.jansson pkgs.libmd pkgs.libseccomp ];

          mesonBuildType = "release";
          mesonFlags = [ "-Dtests=${lib.boolToString tests}" "-Dbox_path=${lib.makeBinPath (tools system pkgs)}" ]
            ++ lib.mapAttrsToList (name: path: "-D${name}=${path}") compiledIn;
          # The build sets its own hardening options; its two freestanding programs cannot use more.
          hardeningDisable = [ "all" ];

          doCheck = tests;
          # A missing path would otherwise show at the first start only.
          doInstallCheck = true;
          installCheckPhase = ''
            for path in ${lib.concatStringsSep " " (builtins.attrValues compiledIn)}; do
              test -r "$path" || { echo "claudebox: '$path' is missing" >&2; exit 1; }
            done
            "$out/bin/claudebox" --version
          '';

          meta = {
            description = "Starts Claude Code in a bubblewrap sandbox, without your secrets";
            license = lib.licenses.mit;
            mainProgram = "claudebox";
            platforms = builtins.attrNames loaders;
          };
        };
    in
    {
      packages = each (system: pkgs: rec {
        claudebox = build { tests = false; } system pkgs;
        default = claudebox;
      });

      apps = each (system: pkgs: {
        default = {
          type = "app";
          program = "${self.packages.${system}.default}/bin/claudebox";
        };
      });

      # The tests that need neither a user namespace nor a network.
      checks = each (system: pkgs: { default = build { tests = true; } system pkgs; });

      devShells = each (system: pkgs: {
        default = pkgs.mkShell {
          inputsFrom = [ self.packages.${system}.default ];
          packages = [ pkgs.clang-tools pkgs.cppcheck pkgs.shellcheck pkgs.bubblewrap pkgs.passt pkgs.nftables ];
        };
      });
    };
}
