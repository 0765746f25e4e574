# SPDX-License-Identifier: MIT
# Completion of claudebox for fish.

# Names that are valid for claudebox.
function __claudebox_profiles
    for file in $HOME/.claudebox/profiles/*.json
        string match -qr '/(?<name>[A-Za-z0-9][A-Za-z0-9._-]{0,63})\.json\z' -- $file
        and echo $name
    end
end

# Prints to which program the word at the cursor belongs (own, claude, command), and that program's words so far.
function __claudebox_words
    set -l whose own
    set -l rest
    set -l wanted ''
    for word in (commandline -opc)[2..-1]
        set -l kind (__claudebox_kind (string replace -r '=.*' '' -- $word)[1])
        if test -n "$wanted"
            set wanted ''
        else if test $whose != own -o -z "$kind"
            if test $whose = own -a x$word = x--
                set whose claude
            else if not test $whose = command -a x$word = x-- -a (count $rest) = 0
                set -a rest $word
            end
        else if test $kind = rest
            set whose command
            set rest
        else if test $kind != none -a $kind != json -a $kind != gc -a $kind != full -a $kind != stat -a $kind != commits -a $kind != word
            string match -q -- '*=*' $word
            or set wanted $kind
        end
    end
    printf '%s\n' $whose (string escape -- $rest)
end

function __claudebox_in
    test (__claudebox_words)[1] = $argv[1]
end

# Completes as if the line were that command's own, except for the value of an option of claudebox.
function __claudebox_delegate
    set -l words (__claudebox_words)
    set -l token (commandline -ct)
    if test $words[1] = own; and string match -q -- '--*=*' $token
        test -z (__claudebox_kind (string replace -r '=.*' '' -- $token)[1])
        or return
    end
    complete -C (string join ' ' -- $argv $words[2..-1] $token)
end

complete -c claudebox -f
complete -c claudebox -n '__claudebox_in command' -a '(__claudebox_delegate)'
complete -c claudebox -n 'not __claudebox_in command' -a '(__claudebox_delegate claude)'

# generated from the option table by `make accept`
function __claudebox_tiers
    printf '%s\n' full inet none
end

function __claudebox_kind
    switch $argv[1]
        case -y --yes
            echo none
        case --dry-run
            echo json
        case --check
            echo json
        case --prove
            echo json
        case --profile
            echo profile
        case --network
            echo tier
        case --host-port
            echo value
        case --publish
            echo value
        case --mount-ro
            echo mount
        case --mount-rw
            echo mount
        case --path
            echo mount
        case --unprotect
            echo value
        case --report-fd
            echo value
        case --audit
            echo full
        case --quiet
            echo none
        case --shell
            echo none
        case --exec
            echo rest
        case --instances
            echo json
        case --gc
            echo gc
        case --instance
            echo mount
        case --quarantine
            echo word
        case --diff
            echo stat
        case --undo
            echo commits
        case --report
            echo json
        case --import-conversations
            echo none
        case -h --help
            echo none
        case -v --version
            echo none
    end
end

complete -c claudebox -n '__claudebox_in own' -s y -l yes -d 'start without asking for confirmation'
complete -c claudebox -n '__claudebox_in own' -l dry-run -f -a json -d 'print the bwrap command (or the plan as JSON) and change nothing'
complete -c claudebox -n '__claudebox_in own' -l check -f -a json -d 'check that this machine has everything that a box needs'
complete -c claudebox -n '__claudebox_in own' -l prove -f -a json -d 'attack this project\'s box from inside and show what was blocked'
complete -c claudebox -n '__claudebox_in own' -l profile -x -a '(__claudebox_profiles)' -d 'use the settings of ~/.claudebox/profiles/NAME.json'
complete -c claudebox -n '__claudebox_in own' -l network -x -a '(__claudebox_tiers)' -d 'full (the host\'s network), inet (the internet only) or none'
complete -c claudebox -n '__claudebox_in own' -l host-port -x -d 'inet: let the box reach this TCP port of the host\'s loopback'
complete -c claudebox -n '__claudebox_in own' -l publish -x -d 'inet: let every user of this machine reach this TCP port of the box'
complete -c claudebox -n '__claudebox_in own' -l mount-ro -r -F -d 'mount one more file or directory, read-only'
complete -c claudebox -n '__claudebox_in own' -l mount-rw -r -F -d 'mount one more file or directory, read-write'
complete -c claudebox -n '__claudebox_in own' -l path -r -F -d 'mount a directory of programs, read-only, first in PATH'
complete -c claudebox -n '__claudebox_in own' -l unprotect -x -d 'let the box write a protected place; **/NAME: in every directory'
complete -c claudebox -n '__claudebox_in own' -l report-fd -x -d 'write exit status and refused connections as JSON to descriptor N'
complete -c claudebox -n '__claudebox_in own' -l audit -f -a full -d 'show every variable and mount before the start; with or without =full'
complete -c claudebox -n '__claudebox_in own' -l quiet -d 'show errors and the number of moved files; a question shows its audit'
complete -c claudebox -n '__claudebox_in own' -l shell -d 'run a shell in the box instead of claude'
complete -c claudebox -n '__claudebox_in own' -l exec -d 'run CMD in the box instead of claude; the rest are its arguments'
complete -c claudebox -n '__claudebox_in own' -l instances -f -a json -d 'list the state of each project, the last used first'
complete -c claudebox -n '__claudebox_in own' -l gc -f -a 'home snapshots' -d 'remove the state of deleted projects, or =home, =snapshots; asks'
complete -c claudebox -n '__claudebox_in own' -l instance -r -F -d 'limit --instances or --gc to one project: its id or directory'
complete -c claudebox -n '__claudebox_in own' -l quarantine -f -a 'json clear' -d 'list what the guard moved away; =N puts one back, =clear removes all'
complete -c claudebox -n '__claudebox_in own' -l diff -f -a stat -d 'show what the last session changed; =stat: the number of lines'
complete -c claudebox -n '__claudebox_in own' -l undo -f -a commits -d 'take back what the last session changed; =commits: branches too'
complete -c claudebox -n '__claudebox_in own' -l report -f -a json -d 'show the report of the last session again'
complete -c claudebox -n '__claudebox_in own' -l import-conversations -d 'copy this directory\'s conversations of plain claude, then start'
complete -c claudebox -n '__claudebox_in own' -s h -l help -d 'show this help (help of claude: claudebox -- --help)'
complete -c claudebox -n '__claudebox_in own' -s v -l version -d 'show the version of claudebox (of claude: claudebox -- --version)'
# end of the generated part
