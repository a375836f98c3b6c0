#!/bin/sh
# Everything that needs a GPU: the corpus, the corpus under NVIDIA's compute-sanitizer, and programs beside CUB, cuBLAS, cuSPARSE and CUDA C++,
# without and with --fast-math, what checks of indices cost, and what versions by blocks are worth. Takes some seven minutes. nvcc and compute-sanitizer must be on the path.
#
#   bench/device/all.sh [FOLDER WITH arrc AND device]
set -e
cd "$(dirname "$0")/../.."
built=$(realpath "${1:-target/release}")
failed=0
"$built/arrc" devices
"$built/arrc" test --target=ptx --jobs 8 tests/programs || failed=1
for tool in memcheck racecheck synccheck; do
  echo "$tool"
  compute-sanitizer --tool $tool --target-processes all --error-exitcode 3 \
    "$built/arrc" test --target=ptx --jobs 8 --timeout 300 tests/programs || failed=1
done
"$built/device" --arrc "$built/arrc" --programs bench/device --work "${TMPDIR:-/tmp}/arrc-device"
"$built/device" --arrc "$built/arrc" --programs bench/device --work "${TMPDIR:-/tmp}/arrc-device" --fast-math
"$built/device" --arrc "$built/arrc" --programs bench/device --work "${TMPDIR:-/tmp}/arrc-device" --checks
RUNS=5 ROWS="32 1024" sh bench/device/blocks.sh "$built"
exit $failed
