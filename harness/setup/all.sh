# shellcheck shell=bash
# What ./check and ./reproduce share. To be sourced in the checkout's root.

# shellcheck source=harness/setup/say.sh
source harness/setup/say.sh
# shellcheck source=harness/setup/packages.sh
source harness/setup/packages.sh
# shellcheck source=harness/setup/python.sh
source harness/setup/python.sh
# shellcheck source=harness/setup/cuda.sh
source harness/setup/cuda.sh
# shellcheck source=harness/setup/build.sh
source harness/setup/build.sh
