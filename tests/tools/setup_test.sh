#!/usr/bin/env bash
# ./check and ./reproduce: what they say to wrong words, and how they run and end. In seconds, without a network, and with
# stand-ins for the GPU, the build and the program.
# shellcheck disable=SC2016  # the stand-ins expand their own variables
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
checks=0 failures=0

# expect STATUS TEXT COMMAND...: it must end with the status and say the text, on either stream.
expect() {
  local wanted=$1 text=$2 said ended=0
  said=$("${@:3}" 2>&1 </dev/null) || ended=$?
  checks=$((checks + 1))
  if ((ended != wanted)) || [[ $said != *"$text"* ]]; then
    failures=$((failures + 1))
    printf 'FAILED: %s\n  wanted status %d and "%s"\n  got status %d and: %s\n' "${*:3}" "$wanted" "$text" "$ended" "$said"
  fi
}

# stand_in FILE: an executable script of what is given on standard input.
stand_in() {
  mkdir -p "${1%/*}"
  { echo '#!/usr/bin/env bash' && cat; } >"$1"
  chmod +x "$1"
}

# The GPU: as many as $GPUS says, with a driver of CUDA $DRIVER.
stand_in "$scratch/bin/nvidia-smi" <<'SH'
[[ ${GPUS:-0} != 0 ]] || { echo 'No devices were found' && exit 6; }
case "$*" in
  *--id=[!0]*) exit 6 ;;
  *compute-apps*) [[ ! ${BUSY:-} ]] || echo '42, python' ;;
  *index,name*) echo '0, A GPU' ;;
  *name*) echo 'A GPU' ;;
  *compute_cap*) echo "${CAPABILITY:-8.6}" ;;
  *utilization*) echo 0 ;;
  *) echo "CUDA Version: ${DRIVER:-13.0}" ;;
esac
SH
# These tests must not install anything, even if the tested scripts are wrong; and ncu must count nothing.
for program in apt-get sudo ncu; do
  stand_in "$scratch/bin/$program" <<<'exit 1'
done
export PATH=$scratch/bin:$PATH
unset CUDA_VISIBLE_DEVICES SCANLAB_PYTHON

# --- Wrong words and a missing GPU are reported before any work.
expect 0 '--no-cuda' ./check --help
expect 0 '--device auto|cuda|simt' ./reproduce --help
expect 2 'unknown option "--jbs". ./check --help' ./check --jbs 3
expect 2 'unknown option "--zebra". ./reproduce --help' ./reproduce --zebra
expect 2 '--jobs takes a number of at least 1, not "0"' ./check --jobs 0
expect 2 'option --out needs a value' ./reproduce --out
expect 2 'option --quick takes no value, but was given "yes"' ./reproduce --quick=yes
expect 2 'takes auto, cuda or simt, not "cdua"' ./reproduce --device=cdua
expect 2 'contradict' ./reproduce --device cuda --no-cuda
expect 2 'contradict' ./reproduce --device simt --gpu 0
expect 2 '--gpu takes the number of a GPU' ./reproduce --gpu first
expect 3 'Run ./reproduce --device simt' ./reproduce --device cuda
expect 3 'there is no GPU 7 here; nvidia-smi shows 0, A GPU.' env GPUS=1 ./reproduce --gpu 7
touch "$scratch/file"
expect 2 "cannot write to $scratch/file/out" ./reproduce --out "$scratch/file/out"

# --- The parts, in a checkout of its own.
checkout=$scratch/checkout
mkdir -p "$checkout"/{data/published,build/{cpu,cuda}}
cp -r check reproduce pyproject.toml tools harness analysis "$checkout"
cp data/experiments.toml "$checkout/data"
cd "$checkout"
# shellcheck source=tools/all.sh
source tools/all.sh
expect 0 '' at_least 12.4 12.10
expect 0 '' at_least 3.25 3.25
expect 1 '' at_least 12.4 11.8
expect 0 'libfmt-dev libboost-context-dev' packages 2 fmt context fmt
expect 0 'libtomlplusplus-dev' packages 2 toml
expect 0 '' bash -c 'source tools/all.sh && has_compiler() { false; } && missing_libraries | grep -x toml'
expect 0 'latexmk' how_to_install tex
expect 0 'libsqlite3-dev' how_to_install sqlite
expect 0 'chromium' how_to_install browser
expect 0 'nvidia-smi shows none here' no_gpu
expect 0 '90' cuda_architectures
expect 0 '86' env GPUS=1 bash -c 'source tools/all.sh && cuda_architectures'
expect 0 '' env GPUS=1 bash -c 'source tools/all.sh && ! no_gpu'
stand_in "$scratch/old/nvcc" <<<'echo release 11.8'
expect 1 'it is CUDA 11.8, not 12.4 to 13.x' usable_nvcc "$scratch/old/nvcc"
stand_in "$scratch/new/nvcc" <<<'[[ $1 != --version ]] || echo release 13.0'
expect 0 '' usable_nvcc "$scratch/new/nvcc"
expect 0 'runs programs up to CUDA 12, but the one usable nvcc is of CUDA 13.0' \
  env GPUS=1 DRIVER=12.8 bash -c "source tools/all.sh && nvcc=$scratch/new/nvcc && no_gpu"
expect 0 'cub_newest* are left out: there is no newest CCCL; --offline forbids fetching it.' \
  bash -c 'source tools/all.sh && option[offline]=1 && need_cccl && [[ ! $cccl ]]'
expect 0 '' bash -c 'source tools/all.sh && option[offline]=1 && mkdir -p .deps/cccl &&
  cp tools/cccl.txt .deps/cccl && need_cccl && [[ $cccl == "$PWD"/.deps/cccl/* ]]'

# --- Runs from end to end. The record says that the set-up is done; the build and the program are stand-ins.
stand_in "$scratch/bin/cmake" <<'SH'
echo "cmake $*" >>"${CALLS:-/dev/null}"
SH
stand_in "$scratch/bin/python" <<'SH'
all=$*
while [[ $1 != --out ]]; do shift; done
mkdir -p "$2/figures" "$2/tables" && echo 'error: bad.json: truncated'
[[ ${STATUS_analysis:-0} == 0 ]] || exit "$STATUS_analysis"
! grep -rqsx unfinished "${0%/*}/../out" || exit 2
[[ $all == *--no-pdf* ]] || touch "$2/scan.pdf" "$2/streams.pdf"
SH
for program in latexmk pdflatex kpsewhich; do stand_in "$scratch/bin/$program" <<<'exit 0'; done
for preset in cpu cuda; do
  stand_in build/$preset/scanlab <<'SH'
sleep "${SLEEP:-0}" && echo "$*"
if [[ $1 == verify && ${VERIFYING:-} ]]; then
  all=$* && file=${all##*--json }
  echo unfinished >"${file%% *}" && sleep "$VERIFYING" && echo whole >"${file%% *}"
fi
status=STATUS_${1//-/_} && exit "${!status:-0}"
SH
  touch build/$preset/build.ninja
done
stand_in "$scratch/bin/ctest" <<<'echo the summary && exit "${STATUS_ctest:-0}"'
mkdir -p .deps paper/claims && printf 'device = "NVIDIA %s"\n' H200 Z9 >paper/claims/claims.toml # the first names the report's, others are of claims

# set_up_for [no-cuda]: leaves the record of a set-up for the machine as it is now.
set_up_for() {
  local choice=(cuda "$scratch/bin/python" "$scratch/new/nvcc")
  option[no-cuda]=${1:+1}
  [[ ! ${1:-} ]] || choice=(cpu "$scratch/bin/python" '')
  printf '%s\n' "$(setup_key)" "${choice[@]}" >.deps/ready${1:+-no-cuda}
}
run=(./reproduce --offline --no-paper --out "$scratch/out")

# A variant of the user's is compiled in by its whole path; one that does not compile is left out, and all else is done.
echo >"$scratch/mine.cu" && echo >"$scratch/yours.cu"
set_up_for no-cuda
expect 0 '' env CALLS="$scratch/calls_with" "${run[@]}" --with "$scratch/mine.cu" --with "$scratch/yours.cu"
expect 0 "-DSCANLAB_WITH=$scratch/mine.cu;$scratch/yours.cu" cat "$scratch/calls_with"
expect 0 '--target scanlab_with_mine' cat "$scratch/calls_with"
stand_in "$scratch/bin/cmake" <<'SH'
echo "cmake $*" >>"${CALLS:-/dev/null}"
[[ $* != *scanlab_with_mine* ]] || { echo 'mine.cu:3: error: expected ;' && exit 1; }
SH
expect 2 'mine.cu:3: error: expected ;' "${run[@]}" --with "$scratch/mine.cu" --with "$scratch/yours.cu"
expect 2 'name them in its line kTakes: docs/OWN_KERNEL.md' "${run[@]}" --with "$scratch/mine.cu"
expect 2 'mine.cu does not compile' env CALLS="$scratch/calls_left" "${run[@]}" --with "$scratch/mine.cu" --with "$scratch/yours.cu"
expect 0 "-DSCANLAB_WITH=$scratch/yours.cu" grep -x ".*-DSCANLAB_WITH=$scratch/yours.cu" "$scratch/calls_left"
stand_in "$scratch/bin/cmake" <<'SH'
echo "cmake $*" >>"${CALLS:-/dev/null}"
SH
expect 2 'there is no such file' "${run[@]}" --with "$scratch/none.cu"
expect 2 'takes a .cu or .cpp file' "${run[@]}" --with "$scratch/new/nvcc"
mkdir -p variants/scan && touch variants/scan/hs_block.cu "$scratch/hs_block.cu"
expect 2 'there is a hs_block already' "${run[@]}" --with "$scratch/hs_block.cu"
mkdir -p "$scratch/other" && touch "$scratch/twin.cu" "$scratch/other/twin.cu"
expect 2 'another file of --with is called twin, too' "${run[@]}" --with "$scratch/twin.cu" --with "$scratch/other/twin.cu"

# The launcher runs the analysis of this checkout with the chosen Python, whatever the current folder is.
(python="$scratch/python of mine" && mkdir -p "$scratch/checkout" && cd "$scratch/checkout" && launcher)
stand_in "$scratch/python of mine" <<<'echo "$PYTHONPATH $*"'
expect 0 "$scratch/checkout/analysis -P -m scanlab_report.commands compare a b" "$scratch/checkout/.venv/bin/scanlab-report" compare a b

# Without a GPU nothing is compiled for one, asked for or not.
set_up_for no-cuda
expect 0 'No GPU is used (nvidia-smi shows none here)' env CALLS="$scratch/calls" "${run[@]}" --jobs 2
expect 0 '--build build/cpu' cat "$scratch/calls"
expect 1 '' grep build/cuda "$scratch/calls"
# The time left is not printed; from the second run on, how long each step took before.
rm -f .deps/seconds
expect 0 '6 steps: cpu explain' "${run[@]}"
expect 0 '6 steps, which took 90 s last time: cpu explain' \
  bash -c 'sed -i "s/[0-9]*$/15/" .deps/seconds && "$@"' bash "${run[@]}"
echo 'simt/cpu 7' >>.deps/seconds
expect 0 "[1/6] cpu 0 s, last time 7 s" env SLEEP=0.5 "${run[@]}"
expect 1 '' bash -c '"$@" | grep -E "left|about"' bash "${run[@]}"
# A step ends with its result, and with where that is.
expect 0 "s: scenarios --out $scratch/out/scenarios" "${run[@]}"
expect 0 "s: verify --device simt --json $scratch/out/verify.jsonl --force" "${run[@]}"
# The analysis does not meet the file of a verification that goes on meanwhile.
expect 0 "every check is in whole" env VERIFYING=1 bash -c '"$@" && echo "every check is in $(cat "${@: -1}/verify.jsonl")"' bash "${run[@]}"
expect 0 "Figures:  $scratch/out/report/figures" "${run[@]}" --no-cuda --quick
expect 0 'verify --device simt --quick' cat "$scratch/out/log/verify.txt"
expect 0 "bench --variant cpu_* --sweep quick --out $scratch/out/cpu.json" cat "$scratch/out/log/cpu.txt"
expect 0 'streams check all' cat "$scratch/out/log/check.txt"
expect 0 "scenarios --out $scratch/out/scenarios --force" cat "$scratch/out/log/scenarios.txt"
for model in nvidia-h200/2026-01-0{1,2} nvidia-z9/2026-03-03; do
  mkdir -p "data/recorded/$model/model/traces" && gzip <<<'{}' >"data/recorded/$model/model/traces/${model//\//_}.json.gz"
done
expect 0 "all in $scratch/out/comparison_*.json and advice.json" "${run[@]}" --no-cuda
expect 0 "--compare $scratch/out/model/traces/nvidia-h200_2026-01-02.json --out" cat "$scratch/out/log/model.txt"
rm -r data/recorded
expect 1 ' s and failed with status 134' env STATUS_explain=134 "${run[@]}" --no-cuda
expect 1 'Failed:   verify' env STATUS_verify=1 STATUS_bench=4 "${run[@]}" --no-cuda
expect 1 'Failed:   explain' env STATUS_explain=134 STATUS_analysis=2 "${run[@]}" --no-cuda
expect 2 'error: bad.json: truncated' env STATUS_analysis=2 "${run[@]}" --no-cuda
expect 4 'cpu skipped cases for lack of memory' env STATUS_bench=4 "${run[@]}" --no-cuda
expect 130 "Interrupted in step cpu. All that was finished is kept in $scratch/out" \
  env STATUS_bench=130 "${run[@]}" --no-cuda
expect 1 '' test -e "$scratch/out/report/scan.pdf"  # --no-paper
expect 1 "the papers: they could not be typeset; $scratch/out/log says why" \
  env STATUS_analysis=1 ./reproduce --offline --out "$scratch/out" --no-cuda
expect 0 "Papers:   $scratch/out/report/scan.pdf, $scratch/out/report/streams.pdf" ./reproduce --offline --out "$scratch/out" --no-cuda
expect 0 'no nvcc: --no-cuda leaves it out' ./check --offline --no-cuda
expect 1 'the summary' env STATUS_ctest=8 ./check --offline --no-cuda
expect 0 'Skipped: compiling for other architectures; no nvcc: --no-cuda leaves it out' \
  ./check --offline --no-cuda --architectures
expect 0 'Skipped: lint by clang-tidy; --offline forbids fetching it' ./check --offline --no-cuda --tidy

export GPUS=1
set_up_for
expect 0 'Measuring on A GPU.' "${run[@]}"
expect 0 'the summary' env CALLS="$scratch/calls-check" ./check --offline --architectures
expect 0 '--target scanlab_architectures' cat "$scratch/calls-check"
expect 0 "bench --sweep full --out $scratch/out/scan.json" cat "$scratch/out/log/scans.txt"
expect 0 "streams run --sweep full --out $scratch/out/schedules.json" cat "$scratch/out/log/schedules.txt"
expect 0 "streams implicit-sync --json $scratch/out/implicit_sync.json" cat "$scratch/out/log/implicit_sync.txt"
expect 0 "streams concurrency --json $scratch/out/concurrency.json" cat "$scratch/out/log/concurrency.txt"
expect 0 'look_ahead needs a GPU of compute capability 9.0' cat "$scratch/out/log/cycles.txt"
expect 0 'explain look_ahead --device cuda' env CAPABILITY=9.0 tools/record build/cuda/scanlab "$scratch/out" --run cycles
for name in {depth,breadth}_first{,_one_queue}; do
  expect 0 "--out $scratch/out/trace_$name.json" cat "$scratch/out/log/traces.txt"
done
expect 0 "s: 4 timelines in $scratch/out/trace_*.json" "${run[@]}"
expect 0 "s: results in $scratch/out/stream_scan_*.json" "${run[@]}"
expect 0 "--json $scratch/out/stream_scan_memory_1024MiB.json" cat "$scratch/out/log/from_memory.txt"
for write in pwrite mapping; do
  expect 0 "--json $scratch/out/stream_scan_file_${write}_256MiB.json" cat "$scratch/out/log/from_files.txt"
done
expect 1 '' test -e "$scratch/out/.scanned"
expect 1 'Failed:   schedules implicit_sync concurrency traces' env STATUS_streams=1 "${run[@]}"
expect 4 'schedules implicit_sync concurrency traces skipped cases for lack of memory' env STATUS_streams=4 "${run[@]}"
expect 0 'busy with other work (0 % in use; processes: 42, python)' env BUSY=1 "${run[@]}" --gpu 0
set_up_for no-cuda
expect 0 'SIMT emulator' env CALLS="$scratch/calls-simt" "${run[@]}" --device simt
expect 1 '' grep build/cuda "$scratch/calls-simt"
export DRIVER=12.8
set_up_for no-cuda
set_up_for
expect 0 'No GPU is used' "${run[@]}"
expect 3 'no GPU can be used' "${run[@]}" --device cuda

echo "$((checks - failures)) passed, $failures failed"
((failures == 0))
