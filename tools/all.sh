# shellcheck shell=bash
# What ./check and ./reproduce share. To be sourced in the checkout's root.

# shellcheck source=tools/say.sh
source tools/say.sh
# shellcheck source=tools/packages.sh
source tools/packages.sh
# shellcheck source=tools/python.sh
source tools/python.sh
# shellcheck source=tools/cuda.sh
source tools/cuda.sh
# shellcheck source=tools/build.sh
source tools/build.sh
