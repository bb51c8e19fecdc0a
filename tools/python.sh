# shellcheck shell=bash
# The Python of the analysis: the one in use if it has the packages, else a virtual environment in the checkout with
# the locked ones.

# An interpreter that has the packages: its path.
ready_python() {
  has_packages "${SCANLAB_PYTHON:-python3}" && return
  cmp -s analysis/requirements.txt .venv/requirements.txt && has_packages .venv/bin/python
}

has_packages() { "$1" tools/has_packages.py analysis/requirements.in 2>/dev/null; }

# An interpreter that can make a virtual environment, of a version that the lock has wheels for: its name.
base_python() {
  local candidate
  for candidate in ${SCANLAB_PYTHON:+"$SCANLAB_PYTHON"} python3 python3.{13,12,11,14}; do
    if "$candidate" -c 'import sys, ensurepip, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

# Makes .venv, or leaves one that works as it is.
make_venv() {
  local base
  .venv/bin/python -m pip --version >/dev/null 2>&1 && return
  base=$(base_python) && quietly venv "$base" -m venv --clear .venv || return
  [[ ! $python ]] || launcher  # which was in there
}

# pip_install NAME ARGUMENT...: by hash, and nothing that would have to be built here.
pip_install() {
  PIP_USER=0 quietly "$1" .venv/bin/python -m pip install --disable-pip-version-check --no-input --retries 2 \
    --require-hashes --only-binary :all: "${@:2}"
}

# Puts clang-tidy into .venv and tells CMake; fails where it cannot be had, with `tidy_reason`.
tidy_reason=''
need_tidy() {
  if ! cmp -s tools/tidy.txt .venv/tidy.txt; then
    tidy_reason='it is not installed, and --offline forbids fetching it'
    [[ ! ${option[offline]:-} ]] || return
    say "Installing clang-tidy into .venv (45 MB)"
    tidy_reason='it could not be installed; .deps/log/tidy says why'
    make_venv && pip_install tidy -r tools/tidy.txt || return
    cp tools/tidy.txt .venv/
  fi
  # What CMake found before may be an older one of the system.
  if ! grep -qs "^SCANLAB_CLANG_TIDY:FILEPATH=$PWD/.venv/" "build/$preset/CMakeCache.txt"; then
    tidy_reason='CMake could not take it in; .deps/log/configure-tidy says why'
    quietly configure-tidy cmake -S . -B "build/$preset" -U 'SCANLAB_*CLANG_TIDY'
  fi
}

# Makes .venv/bin/scanlab-report, which runs the analysis of this checkout from anywhere with the interpreter `python`.
launcher() {
  mkdir -p .venv/bin
  # -P: a folder named scanlab_report where the user happens to be is not ours.
  printf '#!/usr/bin/env bash\nPYTHONPATH=%q exec %q -P -m scanlab_report.commands "$@"\n' "$PWD/analysis" "$python" >.venv/bin/scanlab-report
  chmod +x .venv/bin/scanlab-report
}

# Sets `python` to an interpreter with the packages, or to nothing where there can be none, with `python_reason`.
python='' python_reason=''
need_python() {
  if python=$(ready_python); then return; fi
  if [[ ${option[offline]:-} ]]; then
    python_reason="its packages are not installed, and --offline forbids fetching them"
  elif ! base_python >/dev/null; then
    python_reason="there is no Python 3.11 to 3.14 that can make a virtual environment"
  else
    say "Installing the Python packages of analysis/requirements.txt into .venv"
    if make_venv && pip_install pip -r analysis/requirements.txt && python=$(has_packages .venv/bin/python); then
      cp analysis/requirements.txt .venv/requirements.txt
      return
    fi
    python_reason="its packages could not be installed; .deps/log/pip says why"
  fi
  # Packages of another lock are better than none, as long as they are new enough.
  python=$(has_packages .venv/bin/python) || warn "no analysis: $python_reason."
}
