#!/usr/bin/env bash
# Runs compute-sanitizer's tools over the scans that this harness adds, and prints the commit and a line a tool and scan.
#
#   tests/sanitizer/sanitize.sh build/cuda/scanlab [MBARRIER_HAND_OVER]
#
# racecheck reports look_ahead: it takes an arrival at an mbarrier for one of the arriving lane alone, though
# __syncwarp() before it orders the other lanes of the warp too. mbarrier_hand_over.cu shows that in a page: of five ways
# to hand shared memory over, the tool accepts those in which every lane arrives, also where a warp that waited passes on
# what it was handed, reports the one in which lane 0 arrives for all, and reports the one that is a race. Its program,
# if it is given, is run first. With arrivals=lane every lane of look_ahead arrives, and the rest of it can be checked.
# Scans over several GPUs go through memcheck alone, on two GPUs: its slow kernels wait for each other, and a rank for them.
set -euo pipefail
scanlab=$1
hand_over=${2:-}

summary() { grep -E 'SUMMARY' | sed 's/^=* *//' || echo 'no summary: the tool failed'; }

"$scanlab" info | awk '$1 == "git_commit" { print "commit " $2 }'
if [[ $hand_over ]]; then
  for way in all one passed_on library none; do
    echo "racecheck mbarrier_hand_over $way: $(compute-sanitizer --tool racecheck "$hand_over" $way 2>&1 | summary)"
  done
fi
# under TOOL: verifies each scan.
under() {
  local variant items types operators setting log
  while read -r variant items types operators setting; do
    log=$(compute-sanitizer --tool "$1" "$scanlab" verify --device cuda --variant "$variant" --type "${types:-i32,f64,i8}" \
      --op "${operators:-plus,affine}" --mode inclusive --input random --items "$items" ${setting:+--set "$setting"} 2>&1 || true)
    echo "$1 $variant${operators:+ $operators}${setting:+ $setting}: $(grep -E ' passed, ' <<<"$log" | tail -n 1); $(summary <<<"$log")"
  done <<'SCANS'
warp_shuffle 100003
reduce_then_scan 100003
decoupled_lookback 100003
look_ahead 100003
one_block 2003
one_block 2000
one_block 2003 f32,f64 log_sum_exp
redundant_reduce 12003
redundant_reduce 12000
one_cluster 15013
one_cluster 15013 f32,f64 log_sum_exp
one_wave 100003
one_wave 100000
one_wave 1500003
copy_one_wave 1500000
best 100003
look_ahead 10000003 i32,f32 plus arrivals=lane
look_ahead 10000003 f32 log_sum_exp arrivals=lane
look_ahead 100003 f32,f64 log_sum_exp
look_ahead 100003 f32 matrix_2x2,complex_multiply,segmented_plus,arg_max
device_scan 2003 i32,f32,i8,f16 plus,max,affine
device_scan 100003 i32,f32,i8,f16 plus,max,affine
device_scan 3000003 i32,f32 plus,max,affine
SCANS
}
outcomes=$(mktemp -d)
trap 'rm -r "$outcomes"' EXIT
for tool in memcheck racecheck synccheck; do under $tool >"$outcomes/$tool" & done
wait
cat "$outcomes"/{memcheck,racecheck,synccheck}

# over_gpus ALGORITHM SETTINGS TOOL...: verifies one over two GPUs.
over_gpus() {
  # shellcheck disable=SC2086  # the settings are words
  "${@:3}" distributed verify --gpus 2 --algorithm "$1" $2 --type i32,f64 --op plus,affine --items 0,3,1000,100003 2>&1
}
status=0
over_gpus copy_all '' "$scanlab" >/dev/null || status=$?
if ((status == 3)); then
  echo 'memcheck over two GPUs: skipped, since this machine has not two GPUs'
  exit
fi
export SCANLAB_PATIENCE=600 NCCL_NVLS_ENABLE=0
# A CUDA call that fails is no error of memory: NCCL tries what a device may lack, and peer access may be there already.
while read -r algorithm settings; do
  log=$(over_gpus "$algorithm" "$settings" compute-sanitizer --tool memcheck --report-api-errors no "$scanlab" || true)
  echo "memcheck $algorithm${settings:+ $settings} over two GPUs: $(grep -E 'checks passed on 2 ranks' <<<"$log" | tail -n 1); $(summary <<<"$log")"
done <<'SCANS'
peer_look_ahead
peer_look_ahead --set tells=tile
blocked_peer
reduce_exchange_scan
scan_exchange_add
SCANS
