# shellcheck shell=bash
# The parts that ./check and ./reproduce share. To be sourced in the checkout's root.
for part in say packages python cuda build; do
  # shellcheck source=/dev/null
  source "tools/$part.sh"
done
