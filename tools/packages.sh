# shellcheck shell=bash
# The programs and libraries that the project needs: how to find and install each.
#
# A need is found by trying it, never by asking a package manager: an environment module, a conda environment or a
# toolkit built by hand is as good as a package.

# need | Debian and Ubuntu | conda-forge | what is lost without it ("-": nothing can be built)
readonly needs='
compiler        | g++                           | gxx            | -
cmake           | cmake                         | cmake          | -
build-tool      | ninja-build                   | ninja          | -
program_options | libboost-program-options-dev  | libboost-devel | -
context         | libboost-context-dev          | libboost-devel | -
json            | nlohmann-json3-dev            | nlohmann_json  | -
fmt             | libfmt-dev                    | fmt            | -
benchmark       | libbenchmark-dev              | benchmark      | -
toml            | libtomlplusplus-dev           | tomlplusplus   | -
gtest           | libgtest-dev                  | gtest          | -
tbb             | libtbb-dev                    | tbb-devel      | the baseline cpu_parallel is left out
sqlite          | libsqlite3-dev                | sqlite         | exports of Nsight Systems are not read
mpi             | libopenmpi-dev openmpi-bin    | openmpi        | scans over several hosts are left out
git             | git                           | git            | results do not name the commit they were made with
python          | python3 python3-venv          | python         | there is no analysis: no figures, no tables, no papers
tex             | latexmk texlive-latex-recommended texlive-science texlive-publishers lmodern | | the papers are not typeset; their figures and tables are there all the same
browser         | chromium                      |                | the tests that open the page of the report are skipped
'

# field NEED COLUMN
field() {
  awk -F'|' -v need="$1" -v column="$2" '
    { sub(/ +$/, "", $1) }
    $1 == need { gsub(/^ +| +$/, "", $column); print $column }' <<<"$needs"
}

# at_least WANTED FOUND: compares versions of dotted numbers.
at_least() { [[ $(printf '%s\n' "$1" "$2" | sort -V | head -n 1) == "$1" ]]; }

has_compiler() { "${CXX:-c++}" -std=c++20 -fsyntax-only tools/probe/compiler.cpp >/dev/null 2>&1; }

has_cmake() {
  local version
  version=$(cmake --version 2>/dev/null | awk 'NR == 1 { print $3 }') && at_least 3.25 "$version"
}

has_build-tool() { command -v ninja || command -v ninja-build || command -v make; } >/dev/null

has_git() { command -v git >/dev/null; }

has_python() { ready_python || base_python; } >/dev/null

# Reads the packages from the papers themselves, so that no second list can go out of date.
has_tex() {
  local file
  command -v latexmk >/dev/null && command -v pdflatex >/dev/null || return 1
  for file in $(named_in_papers usepackage .sty) $(named_in_papers documentclass .cls); do kpsewhich "$file" >/dev/null || return 1; done
}

named_in_papers() { sed -n "s/^[^%]*\\\\$1\(\[[^]]*\]\)\{0,1\}{\([^}]*\)}.*/\2/p" paper/*.tex 2>/dev/null | tr ',' '\n' | sed "s/\$/$2/"; }

# Looks for the same names as analysis/tests/browser.py.
has_browser() { command -v chromium || command -v chromium-browser || command -v google-chrome || command -v google-chrome-stable; } >/dev/null

# Prints the libraries that the build's find_package calls do not find; all of them without a compiler or CMake.
missing_libraries() {
  rm -rf .deps/probe
  if has_compiler && has_cmake && has_build-tool; then
    cmake -S tools/probe -B .deps/probe -G "$(generator)" 2>/dev/null | sed -n 's/^-- missing: //p'
  else
    printf '%s\n' program_options context json fmt benchmark toml gtest tbb sqlite mpi
  fi
}

# sort_missing NEED...: sorts the missing needs into `vital` and `lacking`. "libraries" stands for all libraries that the
# build links.
vital=() lacking=()
sort_missing() {
  local need absent=()
  vital=() lacking=()
  for need; do
    if [[ $need == libraries ]]; then
      mapfile -t -O ${#absent[@]} absent < <(missing_libraries)
    else
      "has_$need" || absent+=("$need")
    fi
  done
  for need in "${absent[@]}"; do
    if [[ $(field "$need" 4) == - ]]; then vital+=("$need"); else lacking+=("$need"); fi
  done
}

# obtain NEED...: installs what is missing of them, and stops if something is still missing that the build cannot do
# without. Optional needs that are missing are reported, and left in `lacking`.
obtain() {
  local need
  sort_missing "$@"
  # In two steps, so that an optional package that cannot be had takes no other with it, and can be declined alone.
  ((${#vital[@]} == 0)) || install "${vital[@]}"
  ((${#lacking[@]} == 0)) || install "${lacking[@]}"
  ((${#vital[@]} + ${#lacking[@]} == 0)) || sort_missing "$@"
  ((${#vital[@]} == 0)) ||
    die usage "cannot build without ${vital[*]}. To get all that is missing:" \
      "$(how_to_install "${vital[@]}" "${lacking[@]}")"
  for need in "${lacking[@]}"; do
    warn "no usable $need: $(field "$need" 4). To get it: $(how_to_install "$need")"
  done
}

# packages COLUMN NEED...
packages() {
  local need
  for need in "${@:2}"; do
    field "$need" "$1"
  done | tr ' ' '\n' | awk 'NF && !seen[$0]++' | paste -sd ' '
}

# The one line to run, for whoever may.
how_to_install() {
  if command -v apt-get >/dev/null; then
    echo "sudo apt-get install --no-install-recommends $(packages 2 "$@")"
  elif [[ $(packages 3 "$@") ]]; then
    echo "conda install -c conda-forge $(packages 3 "$@")   (or load your site's modules for them)"
  else
    echo "your system's packages for: $*"
  fi
}

# install NEED...: by apt, as root, or through sudo once the user has agreed. Never fails: what is missing is seen after.
install() {
  local names as_root=() answer
  read -ra names <<<"$(packages 2 "$@")"
  command -v apt-get >/dev/null && [[ ! ${option[offline]:-} ]] || return 0
  if ((EUID)); then
    command -v sudo >/dev/null || return 0
    as_root=(sudo)
    if [[ -t 0 && -t 2 ]]; then
      if [[ ! ${option[yes]:-} ]]; then
        read -rp "Install ${names[*]} with sudo apt-get? [Y/n] " answer
        [[ ${answer:-y} == [Yy]* ]] || return 0
      fi
    elif [[ ${option[yes]:-} ]]; then
      as_root=(sudo -n)  # nobody is there to type a password
    else
      return 0
    fi
    "${as_root[@]}" true || return 0  # asks for the password now, where the prompt can be seen
  fi
  say "Installing ${names[*]}"
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  # A list of packages that is absent or old makes the first attempt fail, and only then is a new one needed.
  local get=(apt-get -o DPkg::Lock::Timeout=300)
  "${as_root[@]}" "${get[@]}" install -y --no-install-recommends "${names[@]}" >/dev/null 2>&1 </dev/null ||
    { quietly apt-update "${as_root[@]}" "${get[@]}" update &&
      quietly apt-install "${as_root[@]}" "${get[@]}" install -y --no-install-recommends "${names[@]}"; } ||
    warn "apt-get could not install everything."
}
