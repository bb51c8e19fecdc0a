#!/usr/bin/env bash
# on_gpu.sh PROGRAM [ARGUMENT]...: runs it, or says that there is no GPU, or that it was not built, and ends with 77: skipped.
[[ -x $1 ]] || { echo "skipped: $1 is built where there is a GPU" && exit 77; }
nvidia-smi >/dev/null 2>&1 || { echo "skipped: no GPU" && exit 77; }
exec "$@"
