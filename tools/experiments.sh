# shellcheck shell=bash
# Functions and variables of the commands in data/experiments.toml, whose header names the variables that are set before.
# shellcheck disable=SC2034,SC2154

# shellcheck source=tools/cuda.sh
source tools/cuda.sh

IFS=$'\n'  # paths may have blanks
sweep=${quick:+quick} sweep=${sweep:-full} lacked=0
tiles=(--algorithm peer_look_ahead --set tells=tile)  # the kernel by which GPUs exchange tiles, which small arrays do not choose

# Whether the GPU is one that look_ahead runs on.
has_bulk_copies() { [[ $(gpu compute_cap | head -n 1) =~ ^(9|[1-9][0-9])\. ]]; }

# head_to_head TYPE: times best and the header against every CUB.
head_to_head() {
  "$scanlab" bench --sweep head_to_head --type "$1" --benchmark_repetitions=5 --out "$out/head_to_head_$1.json" --force \
    --variant best,device_scan,memcpy,cub_device_scan,cub_newest,cub_newest_look_ahead,cub_newest_deterministic,cub_tuned
}

# scan_larger_than_memory memory|files MIB...: scans inputs of so many MiB, as they fit on this machine, through a budget of device
# memory: from pinned memory to pinned memory, or from file to file, with both ways to write.
scan_larger_than_memory() {
  local from=$1 mib write free options=(--budget 2GiB --repetitions 5 --force) scanned=$out/.scanned
  shift
  [[ ! $quick ]] || set -- "$1"
  free=$(($(awk '/^MemAvailable/ { print $2 }' /proc/meminfo) / 1024))
  if [[ $from == files ]]; then
    mkdir -p "$scanned"
    free=$(df --output=avail -BM "$scanned" | tail -n 1 | tr -dc 0-9)
  fi
  for mib; do
    if ((mib > free / 3)); then  # the input, the output, and room for others
      echo "Skipped: $mib MiB; three times as much is not free."
    elif [[ $from == memory ]]; then
      "$scanlab" stream-scan --generate $((mib << 18)) --compare naive,duplex "${options[@]}" --json "$out/stream_scan_memory_${mib}MiB.json"
    else
      "$scanlab" stream-scan --generate $((mib << 18)) --out "$scanned/in" --force
      for write in pwrite mapping; do
        "$scanlab" stream-scan --in "$scanned/in" --out "$scanned/out" --write "$write" --verify --compare naive,files "${options[@]}" \
          --json "$out/stream_scan_file_${write}_${mib}MiB.json"
      done
    fi
  done
  rm -rf "$scanned"
  echo "results in $out/stream_scan_*.json"
}

# verify_ranks RANKS NAME OPTION...: verifies over so many GPUs.
verify_ranks() { "$scanlab" distributed verify --gpus "$1" --json "$out/ranks_verify_$2.jsonl" "${@:3}"; }

# bench_ranks NAME RANKS OPTION...: times algorithms over so many GPUs. A lack of memory (status 4) does not end the experiment.
bench_ranks() {
  local ended=0
  "$scanlab" distributed bench --gpus "$2" --out "$out/$1.json" --force "${@:3}" || ended=$?
  if ((ended == 4)); then lacked=4 ended=0; fi
  return "$ended"
}
