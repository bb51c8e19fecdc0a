# shellcheck shell=bash
# The experiments on a device. Whoever sources this has sourced tools/cuda.sh, and has set `scanlab`, the program, and `out`,
# the folder for results; `option[quick]`, if it is set, makes them few and small, and `option[force]` replaces results that
# are there.
# shellcheck disable=SC2154  # of what is set there

# experiment NAME: one, into the file of `out` that is named after it.
experiment() {
  local sweep=full force=()
  [[ ! ${option[quick]:-} ]] || sweep=quick
  [[ ! ${option[force]:-} ]] || force=(--force)
  case $1 in
    scans) "$scanlab" bench --sweep "$sweep" --out "$out/scan.json" "${force[@]}" ;;
    schedules) "$scanlab" streams run --sweep "$sweep" --out "$out/schedules.json" "${force[@]}" ;;
    implicit_sync) "$scanlab" streams implicit-sync --json "$out/implicit_sync.json" "${force[@]}" ;;
    concurrency) "$scanlab" streams concurrency --json "$out/concurrency.json" "${force[@]}" ;;
    traces) trace_schedules ;;
    cycles)
      if has_bulk_copies; then
        "$scanlab" explain look_ahead --device cuda --items 2^20,2^24,2^28 --csv "$out/prefix_wait.csv" --force
      else
        echo "Left out: look_ahead needs a GPU of compute capability 9.0."
      fi
      ;;
    counters) count_conflicts "$out/bank_conflicts.csv" --sweep counters ;;
    traffic) count_traffic "$out/dram_bytes.csv" ;;
  esac
}

# Whether the GPU is one that look_ahead runs on.
has_bulk_copies() {
  local capability
  capability=$(gpu compute_cap | head -n 1) && ((${capability%%.*} >= 9))
}

# count FILE METRICS OPTION... -- SELECTION...: what the hardware counts of the chosen cases, each run once; beside FILE.csv,
# FILE.ranges.json says which case each NVTX range is of. The clocks are left alone: counts do not depend on them. Lines of
# ncu's own, which say paths, are not data.
count() {
  local file=$1 metrics=$2 options=()
  shift 2
  while (($# > 0)) && [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  ncu --clock-control none --nvtx --csv --log-file "$file.log" "${options[@]}" --metrics "$metrics" \
    "$scanlab" bench --once --out "${file%.csv}.ranges.json" --force "${@:2}"
  grep -v '^==' "$file.log" >"$file"
  rm "$file.log"
  echo "$(grep -c '^"[0-9]' "$file") counts in $file"
}

# count_conflicts FILE SELECTION...: of shared-memory accesses.
count_conflicts() {
  local unit metrics=''
  for unit in ld st; do
    metrics+=,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_$unit.sum
    metrics+=,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_$unit.sum
    metrics+=,smsp__inst_executed_op_shared_$unit.sum
  done
  count "$1" "${metrics#,}" --kernel-name regex:trampoline -- "${@:2}"
}

# count_traffic FILE [SELECTION...]: of bytes from and to device memory. The cache is left as one kernel leaves it to the next.
count_traffic() {
  local file=$1
  shift
  (($# > 0)) || set -- --variant warp_shuffle,reduce_then_scan,decoupled_lookback,look_ahead,cub_device_scan --items 2^18:2^28:x4
  count "$file" dram__bytes_read.sum,dram__bytes_write.sum --cache-control none --profile-from-start off --print-units base -- "$@"
}

# When each operation ran: of two orders of issue, each with the usual hardware queues and with a single one.
trace_schedules() {
  local chosen=(--items 2^28 --chunks 64)
  [[ ! ${option[quick]:-} ]] || chosen=(--items 2^26 --chunks 16)
  local schedule
  for schedule in depth_first breadth_first; do
    "$scanlab" streams trace "$schedule" "${chosen[@]}" --out "$out/trace_$schedule.json" &&
      CUDA_DEVICE_MAX_CONNECTIONS=1 "$scanlab" streams trace "$schedule" "${chosen[@]}" \
        --out "$out/trace_${schedule}_one_queue.json" || return
  done
  echo "4 timelines in $out/trace_*.json"
}

# scan_larger_than_memory memory|files MIB...: through a budget of device memory, of inputs of so many MiB, as they fit on this
# machine: from pinned memory to pinned memory, or from file to file, both ways to write.
scan_larger_than_memory() {
  local from=$1 mib write free
  shift
  [[ ! ${option[quick]:-} ]] || set -- "$1"
  if [[ $from == memory ]]; then
    free=$(($(awk '/^MemAvailable/ { print $2 }' /proc/meminfo) / 1024))
    for mib in $(within $((free / 3)) "$@"); do  # the input, the output, and room for others
      "$scanlab" stream-scan --generate $((mib << 18)) --budget 2GiB --compare naive,duplex --rounds 5 \
        --json "$out/stream_scan_memory_${mib}MiB.json" --force || return
    done
    return
  fi
  mkdir -p "$out/.scanned" || return
  free=$(df --output=avail -BM "$out/.scanned" | tail -n 1 | tr -dc 0-9)
  for mib in $(within $((free / 3)) "$@"); do
    "$scanlab" stream-scan --generate $((mib << 18)) --out "$out/.scanned/in" --force || return
    for write in pwrite mapping; do
      "$scanlab" stream-scan --in "$out/.scanned/in" --out "$out/.scanned/out" --write "$write" --force --verify \
        --budget 2GiB --compare naive,files --rounds 5 --json "$out/stream_scan_file_${write}_${mib}MiB.json" || return
    done
  done
  rm -r "$out/.scanned"
  echo "results in $out/stream_scan_*.json"
}

# within LIMIT SIZE...: the sizes, in rising order, up to the limit; the first in any case.
within() {
  local size
  echo "$2"
  for size in "${@:3}"; do ((size > $1)) || echo "$size"; done
}
