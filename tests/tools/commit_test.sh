#!/usr/bin/env bash
# Tests the commit that a build names, and whether the tree is that commit's, on small repositories made for it.
#   commit_test.sh CMAKE COMPILED ON|OFF    COMPILED: what this build says that the program is made of; whether it has CUDA
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cmake=$1 script=$PWD/tools/commit.cmake compiled=$2 with_cuda=$3

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/tree
failures=0

failed() {
  failures=$((failures + 1))
  printf 'FAILED: %s\n' "$1"
}

# A git that heeds no one's settings.
git() {
  GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 command git -C "$tree" \
    -c user.name=test -c user.email=test@localhost -c commit.gpgsign=false "$@"
}

# plant FILE...: files in the tree.
plant() {
  local file
  for file in "$@"; do
    mkdir -p "$tree/$(dirname "$file")"
    echo "$file" >"$tree/$file"
  done
}

# expect COMMIT DIRTY WHAT [COMPILED...]: what a build of the tree says, with more files in the program than are committed.
expect() {
  local commit=$1 dirty=$2 what=$3 header=$scratch/commit.hpp
  printf '%s\n' variants/scan/a.cu data/tuned/a.json "variants/scan/with a [blank].cu" "${@:4}" >"$scratch/compiled.txt"
  "$cmake" -DSOURCE="$tree" -DCOMPILED="$scratch/compiled.txt" -DEXPORTED="${exported:-}" -DOUTPUT="$header" -P "$script"
  grep -q "kGitCommit\[\] = \"$commit\"" "$header" || failed "$what: the commit is not $commit: $(cat "$header")"
  grep -q "kGitDirty = $dirty;" "$header" || failed "$what: dirty is not $dirty"
}

# fresh: a tree with one commit, and nothing else.
fresh() {
  rm -rf "$tree"
  plant variants/scan/a.cu data/tuned/a.json "variants/scan/with a [blank].cu" notes.md
  printf '/results/\n*.local.cu\n/data/tuned/mine.json\n' >"$tree/.gitignore"
  git init -q
  git add .
  git commit -qm 'all'
  head=$(git rev-parse HEAD)
}

fresh
expect "$head" false 'a clean tree'
plant results/a.json notes/idea.txt variants/scan/notes.txt scratch.cu
expect "$head" false 'untracked files that are no part of the program'

fresh
plant variants/scan/new.cu
expect "$head" true 'a source that git does not know' variants/scan/new.cu
git add variants/scan/new.cu
expect "$head" true 'a source that is added, and not committed' variants/scan/new.cu
git commit -qm 'new'
head=$(git rev-parse HEAD)
expect "$head" false 'the same, committed' variants/scan/new.cu

fresh
plant variants/scan/my.local.cu
expect "$head" true 'a source that git ignores' variants/scan/my.local.cu
fresh
plant data/tuned/mine.json
expect "$head" true 'a table that git ignores' data/tuned/mine.json

fresh
echo 'changed' >>"$tree/variants/scan/a.cu"
expect "$head" true 'a source that was changed'
git add variants/scan/a.cu
expect "$head" true 'a change that is added, and not committed'
fresh
rm "$tree/variants/scan/a.cu"
expect "$head" true 'a source that was deleted'

# Exported without its history: clean if whoever exported it says of which commit it is, else not known.
fresh
rm -rf "$tree/.git"
GIT_CEILING_DIRECTORIES=$scratch expect unknown true 'a tree without git'
exported=0123456789abcdef expect 0123456789abcdef false 'an exported tree'

# This build: whatever is compiled into the program or read into it is among what it looks at.
for file in variants/*/*.c* baselines/*.cpp harness/*/*.[ch]pp data/{tuned,devices}/*.json data/scenarios/*.toml data/experiments.toml examples/*_scan.cu include/*/*.cuh; do
  # Scans over several GPUs have no CPU build.
  [[ $file != variants/distributed/*.cu || $with_cuda == ON ]] || continue
  grep -qxF "$file" "$compiled" || failed "$compiled lacks $file"
done
! grep -v -e '^variants/' -e '^baselines/' -e '^harness/' -e '^data/tuned/' -e '^data/devices/' -e '^data/scenarios/' -e '^data/experiments.toml$' -e '^examples/' -e '^include/' "$compiled" ||
  failed "$compiled names what is no part of the program"

((failures == 0)) && echo 'all as promised'
