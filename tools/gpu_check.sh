#!/usr/bin/env bash
# On a machine with a GPU, from an unpacked bundle (make bundle): the device tests, a small run under
# compute-sanitizer, and the benchmarks. Results go to the folder named first.
set -uo pipefail
out=${1:?usage: gpu_check.sh RESULT_FOLDER [BUNDLE_FOLDER]}
bundle=${2:-build/bundle/barchan}
mkdir -p "$out"
nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader

echo "== tests on the GPU"
"$bundle/barchan_tests" --gtest_brief=1 \
  --gtest_filter='Devices/*:LaunchCuda*:BallisticDevices*' 2>&1 | tee "$out/tests.log" | tail -15

echo "== compute-sanitizer"
for tool in memcheck racecheck initcheck synccheck; do
  compute-sanitizer --tool $tool --error-exitcode 9 "$bundle/barchan" run spinning-drop --device cuda \
    --frames 2 --set resolution=0.08 --out "/tmp/sanitize-$tool" --quiet > "$out/$tool.log" 2>&1
  echo "$tool: exit $?, $(tail -1 "$out/$tool.log")"
done
compute-sanitizer --tool memcheck --error-exitcode 9 "$bundle/barchan_tests" \
  --gtest_filter='Devices/Search.*cuda' --gtest_brief=1 2>&1 | tail -2

echo "== bench"
"$bundle/barchan_bench" --benchmark_filter=cuda 2> /dev/null | tee "$out/kernels.txt"
# In flight, then (after 300 steps) raining onto the floor.
for warmup in 20 300; do
  "$bundle/barchan" bench bench/ballistic-10m --device cuda --steps 60 --warmup $warmup \
    --json "$out/ballistic-10m-after-$warmup.json"
done
"$bundle/barchan" bench bench/ballistic-1m --device cuda --steps 60
