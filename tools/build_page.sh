#!/usr/bin/env bash
# Builds the page of `barchan view` into web/dist/index.html, if it is older than its source.
# --if-possible: without npm, or where it cannot fetch its packages, says so and goes on.
set -euo pipefail
cd "$(dirname "$0")/../web"

if [ -f dist/index.html ] && [ -z "$(find src index.html package-lock.json vite.config.ts tsconfig.json -newer dist/index.html)" ]; then
  exit 0
fi
if ! command -v npm > /dev/null; then
  echo "The page of 'barchan view' is not built: it needs npm. To have it:" >&2
  echo "  apt-get install -y --no-install-recommends npm && make page" >&2
  [ "${1:-}" = --if-possible ] && exit 0
  exit 1
fi
# Not `npm ci`, which refuses a lock file without the packages for other systems.
if ! { npm install --no-save --no-audit --no-fund --silent && npm run --silent build; }; then
  echo "The page of 'barchan view' could not be built; everything else works without it." >&2
  [ "${1:-}" = --if-possible ] && exit 0
  exit 1
fi
