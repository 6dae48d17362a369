#!/usr/bin/env bash
# What `make test` runs, in the order in which faults are found fastest. --full adds the long tests.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
full=0
[ "${1:-}" = --full ] && full=1

heading() { printf '\n==> %s  (%d s)\n' "$*" "$SECONDS"; }

heading "Layers, links and format"
tools/check_layers.py
tools/check_links.py
make --no-print-directory format-check

heading "Release build"
cmake --preset release > /dev/null
cmake --build build/release -j "$jobs"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

heading "Documents that the program makes are up to date (make docs)"
mkdir "$work/docs"
tools/make_docs.sh build/release/barchan "$work/docs"
for page in "$work"/docs/*; do diff "docs/$(basename "$page")" "$page"; done

heading "Unit and physics tests"
# Property tests draw the same cases every time here; the full run draws ten times as many new ones.
if [ $full -eq 1 ]; then
  export BARCHAN_FULL_TESTS=1 RC_PARAMS=${RC_PARAMS:-max_success=1000}
else
  export RC_PARAMS=${RC_PARAMS:-seed=1}
fi
ctest --test-dir build/release --output-on-failure -j 1

# Runs its arguments with each name of the list that comes in, as many at a time as there are cores:
# small runs gain little by a second thread. What each says comes out in one piece.
for_each_name() {
  xargs -P "$jobs" -I{} bash -c 'said=$("$@" 2>&1); code=$?; printf "%s\n" "$said"; exit $((code != 0))' - "$@"
}
first_words() { awk '{print $1}'; }

heading "Validation cases, quick versions, and their controls"
build/release/barchan validate --list | first_words |
  for_each_name build/release/barchan validate {} --quick --quiet --threads 1 --out "$work/validate"

heading "Figures of the papers, quick versions, and the page of them"
build/release/barchan paper | first_words |
  for_each_name build/release/barchan paper {} --quick --quiet --threads 1 --out "$work/papers/{}"
build/release/barchan paper --report --page-only --out "$work/papers"

heading "Grains beside LAMMPS, where it is installed"
tools/lammps_check.py --barchan build/release/barchan

if [ $full -eq 1 ]; then
  heading "The program under the address and undefined-behaviour sanitizers"
  cmake --preset asan > /dev/null
  cmake --build build/asan --target barchan -j "$jobs"
  # A few steps of each solver, with all that their scenes hold, and what follows a run.
  sanitized() { build/asan/barchan run "$@" --out "$work/run-$(basename "$1")" --quiet; }
  sanitized spinning-drop --frames 4 --set resolution=0.08
  sanitized dam-break --frames 2 --set resolution=0.06
  sanitized lighthouse --frames 2 --set resolution=0.12
  sanitized sand-castle --frames 2 --set resolution=0.02
  sanitized tumbling-blocks --frames 2
  sanitized ao11/sandcastle --frames 1 --set resolution=0.05
  sanitized bym05/hourglass --frames 1 --set resolution=0.02
  build/asan/barchan info "$work/run-dam-break" --verify > /dev/null
  build/asan/barchan surface "$work/run-dam-break" --quiet
  build/asan/barchan export "$work/run-spinning-drop" --to csv --quiet
  build/asan/barchan render "$work/run-spinning-drop" --size 160x90 --quiet
  build/asan/barchan plot "$work/run-spinning-drop" --columns "max_speed,body.tank.force_y" --quiet
  python3 tests/cli/test_cli.py build/asan/barchan Commands.test_malformed_messages_leave_a_run_unharmed \
    Commands.test_who_is_no_viewer_gets_nothing

  heading "Every header compiles alone"
  cmake --build build/release --target barchan_headers -j "$jobs"

  heading "All tests under the same sanitizers"
  cmake --build build/asan --target barchan_tests -j "$jobs"
  build/asan/tests/barchan_tests --gtest_brief=1

  heading "The quick tests under the thread sanitizer"
  cmake --preset tsan > /dev/null
  cmake --build build/tsan --target barchan_tests -j "$jobs"
  build/tsan/tests/barchan_tests --gtest_brief=1 \
    --gtest_filter='FrameWriter*:Inspect*:Driver*'
fi
heading "All tests passed"
