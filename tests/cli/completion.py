# SPDX-License-Identifier: MIT
"""Returns the completions that bash, zsh and fish offer for a line."""
import os
import pathlib
import re
import shlex
import subprocess

from lib.terminal import Terminal

FILES = pathlib.Path(os.environ["STAGE"]) / "completions"

# Splits as readline does: at blanks, and at each '=' and ':'.
BASH = r"""
source "$FILES/claudebox.bash"
%s
COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2))
_claudebox claudebox
printf '%%s\0' "${COMPREPLY[@]}"
"""

# Every match that zsh collects is also written to a file.
ZSH = r"""
fpath=($FILES $fpath)
autoload -Uz compinit && compinit -u -D
%s
compadd() {
	local -a hits
	[[ ${@[(r)-[OAD]*]} == -[OAD]* ]] || { builtin compadd -O hits "$@"; (( ! $#hits )) || printf '%%s\0' "${(@)hits}" >>$HITS }
	builtin compadd "$@"
}
done-now() { : >$HITS.done }
zle -N done-now
bindkey '^X' done-now
bindkey '^I' complete-word  # zsh's own default expands what was typed
unsetopt beep auto_remove_slash
zstyle ':completion:*' menu no
PROMPT='ready> '
"""


class Shell:
    """A shell with a home and a working directory; `setup` runs in it first."""

    def __init__(self, home, cwd, setup=""):
        self.home, self.cwd, self.setup = home, cwd, setup
        self.env = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm", "FILES": str(FILES)}

    def run(self, *command):
        done = subprocess.run(command, env=self.env, cwd=self.cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="surrogateescape", timeout=60, check=False)
        return done.stdout, done.stderr


class Bash(Shell):
    def offers(self, line):
        words = [token for word in re.findall(r"(?:\\.|[^ \\])+", line) for token in re.findall(r"[=:]+|(?:\\.|[^=:\\])+", word)]
        if line.endswith(" "):
            words.append("")
        out, said = self.run("bash", "--norc", "--noprofile", "-c", BASH % self.setup, "bash", line, *words)
        assert not said, said
        return [word for word in out.split("\0")[:-1] if word]

    def typed(self, line):
        """Returns the arguments of claudebox after Tab and Return on a real terminal."""
        terminal = Terminal(("bash", "--norc", "--noprofile", "-i"), self.env, self.cwd, columns=200)
        try:
            terminal.send(f"source {shlex.quote(str(FILES / 'claudebox.bash'))}; claudebox() {{ printf '<%s>' \"$@\"; echo; }}; PS1='now''> '\n")
            terminal.expect("now> ")
            terminal.send(f"{line}\t")
            terminal.quiet(0.3)
            terminal.send("\n")
            terminal.expect("now> ")
            return re.findall(r"<(.*?)>", terminal.output.decode(errors="surrogateescape").rsplit("\n", 2)[1])
        finally:
            terminal.close()


class Zsh(Shell):
    def __init__(self, home, cwd, setup="", scratch=None):
        super().__init__(home, cwd, setup)
        self.hits = scratch / "hits"
        self.env["HITS"] = str(self.hits)
        (scratch / ".zshrc").write_text(ZSH % setup)
        self.env["ZDOTDIR"] = str(scratch)

    def offers(self, line):
        done = pathlib.Path(f"{self.hits}.done")
        for path in (self.hits, done):
            path.unlink(missing_ok=True)
        terminal = Terminal(("zsh", "--no-globalrcs", "-i"), self.env, self.cwd, columns=200)
        try:
            terminal.expect(r"ready> ", 20)
            terminal.send(f"{line}\t\x18")
            for _ in range(400):
                if done.exists():
                    break
                terminal.quiet(0.05)
            assert done.exists(), terminal.output
            return self.hits.read_text(errors="surrogateescape").split("\0")[:-1] if self.hits.exists() else []
        finally:
            terminal.close()


class Fish(Shell):
    def offers(self, line):
        script = f"source $FILES/claudebox.fish\n{self.setup}\ncomplete -C $argv[1]"
        out, said = self.run("fish", "--no-config", "-c", script, line)
        assert not said, said
        return [entry.split("\t")[0] for entry in out.split("\n") if entry]
