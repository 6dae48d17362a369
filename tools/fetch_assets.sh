#!/usr/bin/env bash
# Fetches meshes that scenes use in place of the stand-ins made in code: assets/NAME.obj beside
# scenes/. Scenes run without them, too.
#   bunny: the Stanford bunny, from the npm package `bunny`
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v npm > /dev/null; then
  echo "make assets needs npm. Please run:" >&2
  echo "  apt-get update && apt-get install -y --no-install-recommends npm" >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && npm pack --silent bunny > /dev/null && tar -xzf bunny-*.tgz)
mkdir -p assets
python3 tools/bunny_to_obj.py "$work/package" assets
ls -l assets
