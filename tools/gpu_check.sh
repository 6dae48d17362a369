#!/usr/bin/env bash
# On a machine with a GPU, from an unpacked bundle (make bundle). Stages, by name:
#   tests     all tests on the device
#   sanitize  small runs of each solver under compute-sanitizer
#   kernels   single kernels (Google Benchmark)
#   bench     steps of each bench scene, as JSON, and one line each
#   cases     the validation cases of $CASES (default: all), eight at a time on one GPU
#   gallery   the pictures of water and sand by flip of docs/gallery.md
#   papers    the figures of $PAPERS (default: all of Zhu & Bridson 2005): numbers, plots, pictures
# Results go to the folder named first.
set -uo pipefail
out=${1:?usage: gpu_check.sh RESULT_FOLDER BUNDLE_FOLDER STAGE...}
bundle=${2:?usage: gpu_check.sh RESULT_FOLDER BUNDLE_FOLDER STAGE...}
shift 2
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# bench NAME SCENE STEPS WARMUP [SETTING...]
bench() {
  local name=$1 scene=$2 steps=$3 warmup=$4
  shift 4
  "$bundle/barchan" bench "$scene" --device cuda --steps "$steps" --warmup "$warmup" \
    --json "$out/$name.json" "${@/#/--set=}" > "$out/$name.txt" 2>&1 || tail -3 "$out/$name.txt"
  awk -v name="$name" '/^particles|^ms_per|^iterations|^peak/ {printf "%s %s  ", $1, $2}
    END {print " <- " name}' "$out/$name.txt"
}

tests() {
  "$bundle/barchan_tests" --gtest_brief=1 --gtest_filter='*cuda*:*Cuda*:*Devices.*' 2>&1 |
    tee "$out/tests.log" | tail -15
}

sanitize() {
  for scene in spinning-drop dam-break zb05/column-sand zb05/column-water; do
    for tool in memcheck racecheck; do
      log="$out/$tool-$(basename "$scene").log"
      timeout 100 compute-sanitizer --tool "$tool" --error-exitcode 9 "$bundle/barchan" run "$scene" \
        --device cuda --frames 1 --set resolution=0.08 --out "$work/$tool-$(basename "$scene")" --quiet > "$log" 2>&1
      echo "$scene $tool: exit $?, $(tail -1 "$log")"
    done &
  done
  wait
}

kernels() { "$bundle/barchan_bench" --benchmark_filter=cuda 2> /dev/null | tee "$out/kernels.txt"; }

bench_pbf() {
  for size in ${PBF_SIZES:-100k 1m 10m 100m}; do
    case $size in 10m) steps=60 ;; 100m) steps=20 ;; *) steps=200 ;; esac
    bench "pbf-dam-$size" "bench/pbf-dam-$size" $steps 40 pbf.vorticity=2 pbf.xsph=0.01
  done
}

bench_flip() {
  for size in ${FLIP_SIZES:-441k 10m 30m}; do
    case $size in 441k) steps=200 ;; *) steps=40 ;; esac
    bench "flip-dam-$size" "bench/flip-dam-$size" $steps 40
  done
  bench flip-column-water zb05/column-water 200 40
}

bench_sand() {
  bench flip-sand-lagged bench/flip-sand-433k 200 40
  bench flip-sand-coupled bench/flip-sand-433k 200 40 'flip.friction="coupled"'
}

cases() {
  local list=${CASES:-$(cd "$bundle/validation" && ls -d */)}
  # shellcheck disable=SC2086
  printf '%s\n' $list | xargs -P "${JOBS:-8}" -I{} sh -c '
    name=$(echo "{}" | tr / -)
    "$0/barchan" validate "{}" --device cuda --out "$1/$name" > "$2/case-$name.txt" 2>&1
    echo "{}: exit $?"' "$bundle" "$work" "$out"
  cat "$out"/case-*.txt
}

# picture NAME SCENE LAST_FRAME PICTURED_FRAME [SETTING...]
picture() {
  local name=$1 scene=$2 last=$3 frame=$4
  shift 4
  "$bundle/barchan" run "$scene" --device cuda --out "$work/$name" --frames "$last" --quiet "${@/#/--set=}"
  "$bundle/barchan" render "$work/$name" --frames "$frame" --size 1280x720 --quality final --samples 32 --quiet
  cp "$work/$name"/images/*.png "$out/$name.png"
}

gallery() {
  picture column-water zb05/column-water 8 8
  picture bunny-water zb05/bunny-water 5 5
  picture lighthouse lighthouse 26 26 resolution=0.02
  picture column-sand zb05/column-sand 60 50
  picture bunny-sand zb05/bunny-sand 60 40
  picture bunny-sand-friction zb05/bunny-sand-friction 60 40
  picture hourglass hourglass 60 30
  picture sand-castle sand-castle 60 20
}

papers() {
  for row in ${PAPERS:-zb05/pic-vs-flip zb05/column-sand zb05/column-water zb05/bunny-water zb05/transfer-error}; do
    name=$(basename "$row")
    "$bundle/barchan" paper "$row" --device cuda --out "$work/paper-$name" 2>&1 | tee "$out/paper-$name.txt"
    find "$work/paper-$name" -name '*.svg' -exec sh -c 'cp "$1" "$2-$(basename "$1")"' _ {} "$out/$name" \;
  done
}

nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader
for stage in "$@"; do
  echo "== $stage"
  case $stage in
    tests | sanitize | kernels | bench_pbf | bench_flip | bench_sand | cases | gallery | papers) $stage ;;
    bench) bench_pbf && bench_flip && bench_sand ;;
    *) echo "no such stage: $stage" && exit 2 ;;
  esac
done
