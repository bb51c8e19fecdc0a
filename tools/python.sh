# shellcheck shell=bash
# The Python of the analysis: the one in use if it has the packages, else a virtual environment in the checkout with
# the locked ones.

# An interpreter that has the packages: its path.
ready_python() {
  has_packages "${SCANLAB_PYTHON:-python3}" && return
  cmp -s tools/analysis.txt .venv/analysis.txt && has_packages .venv/bin/python
}

has_packages() { "$1" tools/has_packages.py 2>/dev/null; }

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

# fetch LOCK FOLDER WORDS OPTION...: installs the packages of tools/LOCK.txt, none of which is built here, into .venv or another folder.
# Prints the reason, and fails, where they cannot be had; says WORDS before it begins.
fetch() {
  cmp -s "tools/$1.txt" "$2/$1.txt" && return
  [[ ! ${option[offline]:-} ]] || { echo "--offline forbids fetching it" && return 1; }
  say "Fetching $3 into $2" >&2
  [[ $2 == .venv ]] || rm -rf "$2"
  make_venv 2>/dev/null && PIP_USER=0 quietly "$1" .venv/bin/python -m pip install --disable-pip-version-check --no-input --retries 2 \
    --only-binary :all: -r "tools/$1.txt" "${@:4}" 2>/dev/null || { echo ".deps/log/$1 says why it could not be fetched" && return 1; }
  cp "tools/$1.txt" "$2/"
}

# Puts clang-tidy into .venv and tells CMake; fails where it cannot be had, with `tidy_reason`.
tidy_reason=''
need_tidy() {
  tidy_reason=$(fetch tidy .venv 'clang-tidy (45 MB)') || return
  # CMake may have found an older clang-tidy of the system before.
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
  if ! base_python >/dev/null; then
    python_reason="there is no Python 3.11 to 3.14 that can make a virtual environment"
  elif python_reason=$(fetch analysis .venv 'the Python packages of the analysis') && python=$(has_packages .venv/bin/python); then
    return
  fi
  # Packages of another lock are better than none, as long as they are new enough.
  python=$(has_packages .venv/bin/python) || warn "no analysis: $python_reason."
}
