#!/usr/bin/env bash
# On a machine with a GPU, from an unpacked bundle (make bundle): steps of Position Based Fluids at
# several sizes, with vorticity confinement and XSPH, as tables and JSON in the folder named first.
set -uo pipefail
out=${1:?usage: gpu_pbf.sh RESULT_FOLDER [BUNDLE_FOLDER] [SIZES]}
bundle=${2:-build/bundle/barchan}
sizes=${3:-100k 1m 10m}
mkdir -p "$out"
for size in $sizes; do
  steps=200
  case $size in 10m) steps=60 ;; 100m) steps=20 ;; esac
  "$bundle/barchan" bench "bench/pbf-dam-$size" --device cuda --steps $steps --warmup 40 \
    --set pbf.vorticity=2 --set pbf.xsph=0.01 --json "$out/pbf-dam-$size.json"
done
