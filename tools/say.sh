# shellcheck shell=bash
# Messages, exit statuses and options that both commands share.

# The exit statuses of the table in docs/CLI.md.
declare -rA status=([failed]=1 [usage]=2 [no-device]=3 [skipped]=4 [interrupted]=130)

say() { printf '%s\n' "$*"; }

warn() { printf 'warning: %s\n' "$*" >&2; }

# die STATUS MESSAGE
die() {
  printf '%s: %s\n' "${0##*/}" "${*:2}" >&2
  exit "${status[$1]}"
}

declare -A option=()

# parse_options "SPEC..." ARGUMENT...: fills `option`. A spec is `--flag`, `--name=` for one that takes a value, or `--name=...`
# for one that may be repeated, whose values are lines.
parse_options() {
  local specs name value
  read -ra specs <<<"$1 --help"
  shift
  while (($#)); do
    name=${1%%=*}
    case " ${specs[*]} " in
      *" $name= "* | *" $name=... "*)
        if [[ $1 == *=* ]]; then
          value=${1#*=}
        elif (($# > 1)); then
          value=$2
          shift
        else
          die usage "option $name needs a value; ./${0##*/} --help lists what it takes."
        fi
        ;;
      *" $name "*)
        [[ $1 != *=* ]] || die usage "option $name takes no value, but was given \"${1#*=}\"."
        value=1
        ;;
      *)
        [[ $name != -h ]] || name=--help
        [[ $name == --help ]] || die usage "unknown option \"$1\". ./${0##*/} --help lists them all."
        value=1
        ;;
    esac
    if [[ " ${specs[*]} " == *" $name=... "* ]]; then value=${option[${name#--}]:+${option[${name#--}]}$'\n'}$value; fi
    option[${name#--}]=$value
    shift
  done
  if [[ ${option[help]:-} ]]; then
    usage
    exit 0
  fi
  [[ ${option[jobs]:=$(default_jobs)} =~ ^[1-9][0-9]*$ ]] ||
    die usage "--jobs takes a number of at least 1, not \"${option[jobs]}\"."
}

# One job per processor, and at most one per 2 GiB of memory, which nvcc can need for one file.
default_jobs() {
  { nproc || echo 1; awk '/^MemTotal/ && $2 > 2097152 { print int($2 / 2097152) }' /proc/meminfo; } 2>/dev/null | sort -n | head -n 1
}

# quietly NAME COMMAND...: runs the command, writes its output to .deps/log/NAME, and shows the end if it fails.
quietly() {
  local log=.deps/log/$1 ended=0
  mkdir -p .deps/log
  "${@:2}" >"$log" 2>&1 </dev/null || ended=$?
  ((ended == 0)) || { tail -n 30 "$log" && echo "(all of it: $log)"; } >&2
  return "$ended"
}
