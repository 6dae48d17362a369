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
  "$bundle/barchan" --version > /dev/null
  compute-sanitizer --tool $tool --error-exitcode 9 "$bundle/barchan" run spinning-drop --device cuda \
    --frames 2 --set resolution=0.08 --out "/tmp/sanitize-$tool" --quiet 2>&1 | tail -1
  echo "$tool: exit ${PIPESTATUS[0]}"
done
compute-sanitizer --tool memcheck --error-exitcode 9 "$bundle/barchan_tests" \
  --gtest_filter='Devices/Search.*cuda' --gtest_brief=1 2>&1 | tail -2

echo "== bench"
"$bundle/barchan_bench" --benchmark_filter=cuda 2> /dev/null | tee "$out/kernels.txt"
for scene in bench/ballistic-1m bench/ballistic-10m; do
  "$bundle/barchan" bench $scene --device cuda --steps 100 --warmup 20 --json "$out/$(basename $scene).json"
done
