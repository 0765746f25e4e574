# SPDX-License-Identifier: MIT
# Completion of claudebox for bash, with or without the package bash-completion. File names are never expanded.
# shellcheck shell=bash disable=SC2034 # the functions share the variables of _claudebox

# Sets own (the options), tiers, and kind (the kind of value of an option).
# generated from the option table by `make accept`
_claudebox_table() {
	local option=$1
	tiers=(full inet none)
	own=(
		-y --yes
		--dry-run --dry-run=json
		--check --check=json
		--prove --prove=json
		--profile
		--network
		--host-port
		--publish
		--mount-ro
		--mount-rw
		--path
		--unprotect
		--report-fd
		--audit --audit=full
		--quiet
		--shell
		--exec
		--instances --instances=json
		--gc --gc=home --gc=snapshots
		--instance
		--quarantine --quarantine=json --quarantine=clear
		--diff --diff=stat
		--undo --undo=commits
		--report --report=json
		--import-conversations
		-h --help
		-v --version
	)
	case $option in
	-y | --yes) kind=none ;;
	--dry-run) kind=json ;;
	--check) kind=json ;;
	--prove) kind=json ;;
	--profile) kind=profile ;;
	--network) kind=tier ;;
	--host-port) kind=value ;;
	--publish) kind=value ;;
	--mount-ro) kind=mount ;;
	--mount-rw) kind=mount ;;
	--path) kind=mount ;;
	--unprotect) kind=value ;;
	--report-fd) kind=value ;;
	--audit) kind=full ;;
	--quiet) kind=none ;;
	--shell) kind=none ;;
	--exec) kind=rest ;;
	--instances) kind=json ;;
	--gc) kind=gc ;;
	--instance) kind=mount ;;
	--quarantine) kind=word ;;
	--diff) kind=stat ;;
	--undo) kind=commits ;;
	--report) kind=json ;;
	--import-conversations) kind=none ;;
	-h | --help) kind=none ;;
	-v | --version) kind=none ;;
	*) kind='' ;;
	esac
}
# end of the generated part

# Sets words: the words up to the cursor as claudebox gets them (readline also splits at '=' and ':'). Sets tail: the part of
# the last word that readline replaces.
_claudebox_split() {
	local LC_ALL=C rest=${COMP_LINE:0:COMP_POINT} index token blank

	words=()
	for ((index = 0; index <= COMP_CWORD; index++)); do
		token=${COMP_WORDS[index]}
		blank=${rest%%[![:blank:]]*}
		rest=${rest#"$blank"}
		((index < COMP_CWORD)) || token=$rest
		if ((index == 0)) || [[ -n $blank ]]; then
			words+=("$token")
		else
			words[${#words[@]} - 1]+=$token
		fi
		rest=${rest#"$token"}
	done
	tail=$token
	[[ $tail != [=:]* ]] || tail=''
}

# Offers the candidates that begin with the text, with the prefix before each.
_claudebox_offer() {
	local text=$1 before=$2 candidate

	shift 2
	for candidate; do
		[[ $candidate != "$text"* ]] || COMPREPLY+=("$before$candidate")
	done
}

# readline leaves '$' and '`' unquoted when a candidate is not an existing file (after a ':', or a part of a name with a
# newline), and the shell would then execute them: such names are not offered.
_claudebox_files() {
	local text=$1 file

	compopt -o filenames 2>/dev/null
	while IFS= read -r file; do
		[[ ${file#"$text"} == *[\$\`]* ]] || COMPREPLY+=("$file")
	done < <(compgen -f -- "$text")
}

# PATH[:DEST]; a colon in a path is written '\:'.
_claudebox_mounts() {
	local text=$1 before=$2 index

	if [[ $text == *:* && $text != *\\:* ]]; then
		before+=${text%:*}:
		text=${text##*:}
	fi
	_claudebox_files "$text"
	for index in "${!COMPREPLY[@]}"; do
		COMPREPLY[index]=$before${COMPREPLY[index]//:/\\:}
	done
}

# Names that are valid for claudebox.
_claudebox_profiles() (
	LC_ALL=C
	set +f
	shopt -u failglob dotglob
	for file in "$HOME"/.claudebox/profiles/*.json; do
		name=${file##*/}
		name=${name%.json}
		[[ ! $name =~ ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$ ]] || printf '%s\n' "$name"
	done
)

_claudebox_value() {
	local kind=$1 text=$2 before=$3 names=() name

	case $kind in
	json) _claudebox_offer "$text" "$before" json ;;
	gc) _claudebox_offer "$text" "$before" home snapshots ;;
	stat) _claudebox_offer "$text" "$before" stat ;;
	commits) _claudebox_offer "$text" "$before" commits ;;
	full) _claudebox_offer "$text" "$before" full ;;
	word) _claudebox_offer "$text" "$before" json clear ;;
	tier) _claudebox_offer "$text" "$before" "${tiers[@]}" ;;
	mount) _claudebox_mounts "$text" "$before" ;;
	profile)
		while IFS= read -r name; do
			names+=("$name")
		done < <(_claudebox_profiles)
		_claudebox_offer "$text" "$before" "${names[@]}"
		;;
	esac
}

# Completes words of claude with claude's own completion. Fails when there is none.
_claudebox_claude() {
	local loader spec function

	for loader in _comp_load _completion_loader; do
		complete -p claude &>/dev/null || ! declare -F $loader >/dev/null || $loader claude &>/dev/null
	done
	spec=$(complete -p claude 2>/dev/null)
	[[ $spec =~ \ -F\ ([^\ ]+)\  ]] || return 1
	function=${BASH_REMATCH[1]}
	declare -F "$function" >/dev/null || return 1
	local IFS=' ' COMP_WORDS=(claude "$@") COMP_CWORD=$# COMP_LINE="claude $*"
	local COMP_POINT=${#COMP_LINE} previous=${COMP_WORDS[$# - 1]} more=("${COMPREPLY[@]}")
	local IFS=$' \t\n'
	COMPREPLY=()
	"$function" claude "${!#}" "$previous"
	COMPREPLY=("${more[@]}" "${COMPREPLY[@]}")
}

# Completes the command of --exec and its arguments, from this index of COMP_WORDS on.
_claudebox_command() {
	local first=1 loader name

	while ((first < COMP_CWORD)) && [[ ${COMP_WORDS[first]} != --exec ]]; do
		((first++))
	done
	((first++))
	[[ ${COMP_WORDS[first]} != -- ]] || ((first == COMP_CWORD)) || ((first++))
	if ((first < COMP_CWORD)); then
		for loader in _comp_command_offset _command_offset; do
			if declare -F $loader >/dev/null; then
				$loader $first
				return
			fi
		done
	fi
	_claudebox_files "${words[${#words[@]} - 1]}"
	if ((first >= COMP_CWORD)) && [[ $tail != */* ]]; then
		while IFS= read -r name; do
			COMPREPLY+=("$name")
		done < <(compgen -c -- "$tail")
	fi
}

_claudebox() {
	local own tiers kind words tail wanted='' after='' claude=() index word current drop

	COMPREPLY=()
	_claudebox_split
	current=${words[${#words[@]} - 1]}
	for ((index = 1; index < ${#words[@]} - 1; index++)); do
		word=${words[index]}
		if [[ -n $wanted ]]; then
			wanted=''
			continue
		fi
		_claudebox_table "${word%%=*}"
		if [[ -n $after || -z $kind ]]; then
			[[ -z $after && $word == -- ]] && after=claude || claude+=("$word")
		elif [[ $kind == rest ]]; then
			_claudebox_command
			return
		elif [[ $kind != none && $kind != json && $kind != gc && $kind != full && $kind != stat && $kind != commits && $kind != word && $word != *=* ]]; then
			wanted=$kind
		fi
	done
	_claudebox_table "${current%%=*}"
	if [[ -n $wanted ]]; then
		_claudebox_value "$wanted" "$current" ''
	elif [[ -z $after && -n $kind && $current == --*=* ]]; then
		_claudebox_value "$kind" "${current#*=}" "${current%%=*}="
	elif [[ -z $after && $current == -* ]]; then
		_claudebox_offer "$current" '' "${own[@]}"
		_claudebox_claude "${claude[@]}" "$current"
	else
		_claudebox_claude "${claude[@]}" "$current" || _claudebox_files "$current"
	fi
	# readline keeps the text before its own split.
	drop=${current%"$tail"}
	for index in "${!COMPREPLY[@]}"; do
		COMPREPLY[index]=${COMPREPLY[index]#"$drop"}
	done
}

complete -F _claudebox claudebox
