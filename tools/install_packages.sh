#!/usr/bin/env bash
# Installs the Debian packages of packages.txt that are missing: as root, through sudo, or, where
# neither works, by printing the exact command.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
for package in $(grep -vE '^\s*(#|$)' packages.txt); do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "Installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
if [ "$(id -u)" -eq 0 ]; then
  run() { "$@"; }
elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
  run() { sudo --preserve-env=DEBIAN_FRONTEND "$@"; }
else
  echo "These packages are missing, and installing them needs root. Please run:" >&2
  echo "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
  exit 1
fi
run apt-get update -q
run apt-get install -y -q --no-install-recommends "${missing[@]}"
