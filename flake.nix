# SPDX-License-Identifier: MIT
# claudebox as Nix builds it: every program that it runs, outside and inside of the box, is compiled in as a store path.
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

      # The systems, and the file of glibc that loads dynamic programs there.
      loaders = {
        x86_64-linux = "ld-linux-x86-64.so.2";
        aarch64-linux = "ld-linux-aarch64.so.1";
      };
      each = make: lib.genAttrs (builtins.attrNames loaders) (system: make system nixpkgs.legacyPackages.${system});

      # What runs outside of the box, or starts claude in it.
      programs = pkgs: lib.mapAttrs (name: package: "${lib.getBin package}/bin/${name}") {
        bwrap = pkgs.bubblewrap;
        git = pkgs.git;
        nft = pkgs.nftables;
        nix = pkgs.nix;
        node = pkgs.nodejs;
        pasta = pkgs.passt;
      };

      # What the agent finds on PATH, and nothing else does it find.
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
          # The build hardens by itself; its two programs without a C library bear no more of it.
          hardeningDisable = [ "all" ];

          doCheck = tests;
          # A path that leads nowhere would be noticed at the first start only.
          doInstallCheck = true;
          installCheckPhase = ''
            for path in ${lib.concatStringsSep " " (builtins.attrValues compiledIn)}; do
              test -r "$path" || { echo "claudebox: '$path' is not there" >&2; exit 1; }
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
