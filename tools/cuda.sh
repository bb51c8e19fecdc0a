# shellcheck shell=bash
# The GPU; a CUDA toolkit: an installed one that works, else one made of NVIDIA's wheels; and the newest CCCL.

# Numbers as nvidia-smi gives them, for the program and for --gpu alike.
export CUDA_DEVICE_ORDER=PCI_BUS_ID

# gpu FIELD...: the fields of every GPU that the program may use, one GPU a line; nothing, and failure, without one.
gpu() {
  local found
  [[ ${CUDA_VISIBLE_DEVICES-all} && ${CUDA_VISIBLE_DEVICES:-} != -1 ]] || return 1
  found=$(nvidia-smi ${CUDA_VISIBLE_DEVICES:+--id="$CUDA_VISIBLE_DEVICES"} \
    --query-gpu="$(IFS=, && echo "$*")" --format=csv,noheader,nounits 2>/dev/null) && [[ $found ]] && echo "$found"
}

# The newest CUDA that the driver runs, as a major version.
driver_cuda() { nvidia-smi 2>/dev/null | sed -n 's/.*CUDA Version: *\([0-9]*\).*/\1/p'; }

# The architectures to compile for: the GPUs present, else Hopper.
cuda_architectures() { { gpu compute_cap || echo 9.0; } | tr -d '. ' | sort -un | paste -sd ';'; }

# Where a toolkit may be, the likeliest first. SCANLAB_CUDA_FROM=wheels passes over what is installed.
nvcc_candidates() {
  [[ ${SCANLAB_CUDA_FROM:-} != wheels ]] || return 0
  local root
  printf '%s\n' "${CUDACXX:-}" "$(command -v nvcc || true)"
  for root in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /opt/cuda /usr/local/cuda-1[23].*; do
    echo "${root:+$root/bin/nvcc}"
  done
}

nvcc_version() { "$1" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p'; }

# usable_nvcc NVCC: says why it is not usable, and fails, or says nothing. It must be of a version that the code is
# written for, and really compile and link for the GPU with the host compiler.
usable_nvcc() {
  local version architecture code=()
  version=$(nvcc_version "$1")
  if ! at_least 12.4 "${version:-0}" || at_least 14 "$version"; then
    echo "it is CUDA ${version:-of an unknown version}, not 12.4 to 13.x"
    return 1
  fi
  for architecture in $(cuda_architectures | tr ';' ' '); do
    code+=(-gencode "arch=compute_$architecture,code=sm_$architecture")
  done
  if ! quietly nvcc-probe "$1" -std=c++20 "${code[@]}" ${CUDAHOSTCXX:+-ccbin "$CUDAHOSTCXX"} \
    -o .deps/nvcc-probe tools/probe/cub.cu 2>/dev/null; then
    echo "it does not compile and link tools/probe/cub.cu; .deps/log/nvcc-probe says why"
    return 1
  fi
}

# A driver runs the programs of its own CUDA's major version, and of older ones.
newer_than_driver() {
  local version
  version=$(nvcc_version "$1")
  gpu name >/dev/null && ((${version%%.*} > $(driver_cuda || echo 99)))
}

# Says why nothing can be run on a GPU, or fails if something can.
no_gpu() {
  if ! gpu name >/dev/null; then
    echo "nvidia-smi shows none here"
  elif [[ $nvcc ]] && newer_than_driver "$nvcc"; then
    echo "the GPU's driver runs programs up to CUDA $(driver_cuda), but the one usable nvcc is of CUDA $(nvcc_version "$nvcc")"
  else
    return 1
  fi
}

# NVIDIA's wheels unpack to a toolkit but for the names that a linker and CMake look for.
install_nvcc_wheels() {
  local root=.deps/cuda/nvidia/cu13 library
  fetch cuda .deps/cuda "nvcc 13.0 from NVIDIA's wheels (300 MB)" --no-deps --target .deps/cuda || return
  ln -sfn lib $root/lib64
  for library in "$root"/lib/*.so.*; do
    ln -sf "${library##*/}" "${library%%.so.*}.so"
  done
}

# Sets `nvcc` to a compiler that works, if possible one whose programs the driver runs, or to nothing where there is
# none, with `nvcc_reason`.
nvcc='' nvcc_reason=''
need_nvcc() {
  local candidate tried=' '
  # nvcc takes the first g++ on the path for its host compiler, whatever compiler the rest of the build uses.
  [[ ! ${CXX:-} ]] || export CUDAHOSTCXX=${CUDAHOSTCXX:-$CXX}
  while read -r candidate; do
    candidate=$(command -v "$candidate") || continue
    [[ $tried != *" $(realpath "$candidate") "* ]] || continue  # the same one by another name
    tried+="$(realpath "$candidate") "
    if nvcc_reason=$(usable_nvcc "$candidate"); then
      nvcc=$candidate
      newer_than_driver "$nvcc" || return 0
    else
      warn "passing over $candidate: $nvcc_reason."
    fi
  done < <(nvcc_candidates)
  [[ ! $nvcc ]] || return 0
  if nvcc_reason=$(install_nvcc_wheels) && nvcc_reason=$(usable_nvcc .deps/cuda/nvidia/cu13/bin/nvcc); then
    nvcc=$PWD/.deps/cuda/nvidia/cu13/bin/nvcc
  else
    warn "building without CUDA: no usable nvcc ($nvcc_reason). Install a CUDA toolkit 12.4 to 13.x, or pass --no-cuda."
  fi
}

# Sets `cccl` to the headers of the newest CCCL, or to nothing where they cannot be had.
cccl=''
need_cccl() {
  local why
  if why=$(fetch cccl .deps/cccl 'the newest CCCL (10 MB)' --no-deps --target .deps/cccl); then
    cccl=$PWD/.deps/cccl/cuda/cccl/headers/include
  else
    cccl='' && warn "the baselines cub_newest* are left out: there is no newest CCCL; $why."
  fi
}
