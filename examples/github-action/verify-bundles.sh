#!/usr/bin/env bash
# Verify the bundles that a change brings, on the files that are checked out. For any CI.
#
#   verify-bundles.sh BASE [OPTION]...    BASE: the commit that the change is made to
#
# Trust and ignore list are those of BASE, never of the change. Every bundle that was added or changed
# since BASE must hold; if there is none, nothing is proven and the job fails, unless
# MEMPROVE_OPTIONAL=true. The options go to `memprove verify`; without any, --require-fresh.
set -euo pipefail

base=$1
shift
[ $# -gt 0 ] || set -- --require-fresh

list=$(mktemp)
trap 'rm -f "$list"' EXIT
git -c core.fsmonitor=false diff-tree -r -z --name-only --no-renames --diff-filter=AM \
  "$base" HEAD -- .memprove/bundles > "$list"

found=0 failed=0
while IFS= read -r -d '' bundle; do
  found=1
  memprove verify --bundle "./$bundle" --base "$base" "$@" || failed=$?
done < "$list"

if [ "$found" = 0 ] && [ "${MEMPROVE_OPTIONAL:-false}" != true ]; then
  echo "memprove: this change brings no bundle in .memprove/bundles, so it proves nothing" >&2
  exit 3
fi
exit "$failed"
