#!/usr/bin/env bash
# Two versions of CCCL are linked into one program. They may share no symbol: the linker would keep one version of it.
#
# cccl_symbols_test.sh NM OBJECT...: of the baselines; those of the newest CCCL are named cub_newest* and cub_tuned*.
set -euo pipefail

# CCCL's symbols that FILE... define, demangled, without those that have internal linkage.
symbols() { "$nm" --demangle --defined-only "$@" | awk '$2 ~ /^[A-Zuvw]$/' | cut -d ' ' -f 3- | grep -E '^(.* )?(cuda|cub|thrust)::' | sort -u; }

nm=$1 newest=() toolkit=()
for object in "${@:2}"; do
  if [[ ${object##*/} == cub_@(newest|tuned)* ]]; then newest+=("$object"); else toolkit+=("$object"); fi
done
((${#newest[@]} && ${#toolkit[@]})) || { echo "no objects to compare" && exit 1; }
[[ $(symbols "${newest[@]}") == *cub::* && $(symbols "${toolkit[@]}") == *cub::* ]] || { echo "no symbols of CUB" && exit 1; }
shared=$(comm -12 <(symbols "${newest[@]}") <(symbols "${toolkit[@]}"))
[[ ! $shared ]] || { echo "defined by both versions of CCCL:" && head -n 20 <<<"$shared" && exit 1; }
echo "no symbol of CCCL is defined by both versions"
