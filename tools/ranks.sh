# shellcheck shell=bash
# The experiments over several GPUs of one host. Whoever sources this has set `scanlab`, the program, `out`, the folder for
# results, and `gpus`, the number of GPUs.
# shellcheck disable=SC2154  # of what is set there

# over_ranks STEP: one, into files of `out` that are named after it. Each number of GPUs has a file of its own.
over_ranks() {
  local ranks chunk states tells lacked=0
  case $1 in
    ranks_verify)  # run 1000 times back to back, beside other work, and replayed, too
      rm -f "$out"/ranks_verify_*.jsonl
      for ((ranks = 1; ranks <= gpus; ++ranks)); do
        "$scanlab" distributed verify --gpus "$ranks" --type i8,i32,i64,f32,f64 --op plus,max,affine \
          --json "$out/ranks_verify_$ranks.jsonl" || return
        check_tiles "$ranks" "tiles_$ranks" --type i8,i32,i64,f64 --op plus,affine --repeat 100 || return
      done
      "$scanlab" distributed verify --gpus "$gpus" --items "1000,2^20+1,$(((gpus << 24) + 3))" --repeat 1000 --json "$out/ranks_verify_repeat.jsonl" &&
        "$scanlab" distributed verify --gpus "$gpus" --beside --repeat 20 --json "$out/ranks_verify_beside.jsonl" &&
        check_tiles "$gpus" tiles_beside --beside --repeat 20 &&
        "$scanlab" distributed verify --gpus "$gpus" --launch graph --repeat 20 --json "$out/ranks_verify_graph.jsonl" &&
        check_tiles "$gpus" tiles_graph --launch graph --repeat 20
      ;;
    ranks_scaling)  # equal items per GPU: 2^12 to 2^30 of i32
      for ((ranks = 1; ranks <= gpus; ++ranks)); do
        bench_ranks "$1_$ranks" "$ranks" -b 16KiB -e 4GiB -f 4 || return
      done
      ;;
    ranks_strong)  # equal items in all, and what one GPU's best takes for them
      "$scanlab" bench --variant best,memcpy --items 2^20:2^30:x4 --cache warm --launch stream --out "$out/$1_best.json" --force || return
      for ((ranks = 1; ranks <= gpus; ++ranks)); do
        bench_ranks "$1_$ranks" "$ranks" --total -b 4MiB -e 4GiB -f 4 || return
      done
      ;;
    ranks_types)  # 2^28 and 2^30 items per GPU of each type, and 2^27 pairs
      bench_ranks "$1_i8" "$gpus" --type i8 -b 256MiB -e 1GiB -f 4 &&
        bench_ranks "$1_i16" "$gpus" --type i16 -b 512MiB -e 2GiB -f 4 &&
        bench_ranks "$1_f32" "$gpus" --type f32 -b 1GiB -e 4GiB -f 4 &&
        bench_ranks "$1_i64_f64" "$gpus" --type i64,f64 -b 2GiB -e 8GiB -f 4 &&
        bench_ranks "$1_operators" "$gpus" --op max,affine -b 1GiB -e 1GiB
      ;;
    ranks_chunk)  # what GPUs tell each other of, and in chunks of what size they share the array
      for chunk in 8 16 32 64 128; do
        for tells in chunk tile; do
          bench_ranks "$1_${tells}_$chunk" "$gpus" --algorithm peer_look_ahead,copy_all --set "chunk=$chunk" --set "tells=$tells" \
            -b 4MiB -e 1GiB -f 16 || return
        done
      done
      ;;
    ranks_fold)  # 2^28 items per GPU, with as many states as 1, 2 and 4 times the GPUs have
      for states in 1 2 4; do
        for tells in chunk tile; do
          bench_ranks "$1_${tells}_$states" "$gpus" --algorithm peer_look_ahead,copy_all --set "states=$states" --set "tells=$tells" \
            --set tile=26 -b 1GiB -e 1GiB || return
        done
      done
      ;;
    ranks_cycles)  # 2^20, 2^24 and 2^28 items per GPU
      "$scanlab" distributed cycles --gpus "$gpus" --algorithm peer_look_ahead \
        --items "$((gpus << 20)),$((gpus << 24)),$((gpus << 28))" --csv "$out/ranks_prefix_wait.csv" --force
      ;;
    ranks_trace)  # 2^20 and 2^28 items per GPU
      "$scanlab" distributed trace --gpus "$gpus" --algorithm peer_look_ahead,reduce_exchange_scan,nccl_cub \
        --items "$((gpus << 20)),$((gpus << 28))" --out "$out/$1.json" --force
      ;;
    ranks_python)
      for ((ranks = 1; ranks <= gpus; ++ranks)); do
        "${python:-python3}" -m baselines.python.ranks --ranks "$ranks" --out "$out/$1_$ranks.json" --force --items 2^20:2^28:x4 || return
      done
      ;;
  esac
  return "$lacked"
}

# check_tiles RANKS NAME OPTION...: checks the kernel by which GPUs tell each other of tiles, which small arrays do not choose.
check_tiles() {
  "$scanlab" distributed verify --gpus "$1" --algorithm peer_look_ahead --set tells=tile --json "$out/ranks_verify_$2.jsonl" "${@:3}"
}

# bench_ranks NAME RANKS OPTION...: times algorithms over so many GPUs. What lacks memory (status 4) keeps the rest from nothing.
bench_ranks() {
  local status=0
  "$scanlab" distributed bench --gpus "$2" --out "$out/$1.json" --force "${@:3}" || status=$?
  if ((status == 4)); then lacked=4 status=0; fi
  return "$status"
}
