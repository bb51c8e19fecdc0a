# shellcheck shell=bash
# Sets up what is missing, configures and builds. A second time, when nothing has changed, it looks at nothing.

# All that the choices of a set-up depend on: if it is what it was, so are they.
setup_key() {
  printf '%s\n' "$PATH" "${CC:-}" "${CXX:-}" "${CUDACXX:-}" "${CUDAHOSTCXX:-}" "${CUDA_HOME:-}" "${CUDA_PATH:-}" \
    "${CMAKE_PREFIX_PATH:-}" "${SCANLAB_PYTHON:-}" "${SCANLAB_CUDA_FROM:-}" "${option[no-cuda]:-}" "${option[werror]:-}" "$PWD" \
    "$(cuda_architectures)" "$(driver_cuda)" \
    "$(cat tools/*.sh tools/*.txt tools/probe/* pyproject.toml)" |
    cksum
}

readonly no_cuda_reason='--no-cuda leaves it out'

# Sets `preset` to cuda or cpu, and `python`, `nvcc` and their reasons, and leaves build/$preset configured.
extra_needs=()  # what the caller wants besides what the build and the tests want
set_up() {
  local key old_key='' ready=.deps/ready${option[no-cuda]:+-no-cuda}
  mkdir -p .deps
  key=$(setup_key)
  if { read -r old_key && read -r preset && read -r python && read -r nvcc; } 2>/dev/null <"$ready" &&
    [[ $old_key == "$key" && -x $python ]] && [[ $preset == cpu || -x $nvcc ]] && is_configured; then
    nvcc_reason=$no_cuda_reason
    obtain "${extra_needs[@]}"
    return
  fi
  obtain compiler cmake build-tool libraries git python "${extra_needs[@]}"
  need_python
  [[ ! $python ]] || launcher
  nvcc='' nvcc_reason=$no_cuda_reason
  [[ ${option[no-cuda]:-} ]] || need_nvcc
  [[ ! $nvcc ]] || need_cccl
  preset=cpu
  [[ ! $nvcc ]] || preset=cuda
  configure
  # The next call looks again for needs that are still lacking; the caller's extra needs are looked for every time.
  rm -f "$ready"
  if [[ $python && (${nvcc:+$cccl} || ${option[no-cuda]:-}) && ! ${lacking[*]%"${extra_needs[*]}"} ]]; then
    printf '%s\n' "$key" "$preset" "$python" "$nvcc" >"$ready"
  fi
}

is_configured() { [[ -e build/$preset/build.ninja || -e build/$preset/Makefile ]]; }

generator() { if command -v ninja || command -v ninja-build; then echo Ninja; else echo 'Unix Makefiles'; fi | tail -n 1; }

configure() {
  local arguments=(--preset "$preset" -G "$(generator)" "-DSCANLAB_PYTHON=$python"
    ${option[werror]:+-DSCANLAB_WERROR=ON})
  [[ ! $nvcc ]] || arguments+=("-DCMAKE_CUDA_COMPILER=$nvcc" "-DCMAKE_CUDA_ARCHITECTURES=$(cuda_architectures)"
    ${cccl:+"-DSCANLAB_CCCL=$cccl"})
  local record=build/$preset/configured_with
  if is_configured && [[ -e $record && $(<"$record") == "${arguments[*]}" ]]; then return; fi
  say "Configuring build/$preset${nvcc:+: CUDA $(nvcc_version "$nvcc") for sm_$(cuda_architectures), $nvcc}"
  # From nothing, because CMake keeps what it once found, be it gone or not.
  quietly "configure-$preset" cmake "${arguments[@]}" --fresh ||
    die failed "CMake could not configure build/$preset; the reason is above."
  echo "${arguments[*]}" >"$record"
}

# build TARGET
build() {
  say "Building with ${option[jobs]} jobs"
  cmake --build "build/$preset" --parallel "${option[jobs]}" --target "$1" ||
    die failed "build/$preset does not build; the compiler's message is above."
}

# take_in [FILE...]: the variants of the user's that are compiled in, and no others.
take_in() {
  local list
  list=$(IFS=';' && echo "$*")
  if [[ $(sed -n 's/^SCANLAB_WITH:STRING=//p' "build/$preset/CMakeCache.txt" 2>/dev/null) != "$list" ]]; then
    quietly "configure-$preset" cmake -S . -B "build/$preset" "-DSCANLAB_WITH=$list" ||
      die failed "CMake could not take in ${*:-no file of yours}; the reason is above."
  fi
}
