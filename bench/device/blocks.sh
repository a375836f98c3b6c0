#!/bin/sh
# What versions by blocks are worth on a GPU: programs on rows as they come, without such versions, and without regularity; for each the least of
# some runs, in microseconds; of rows of as many elements as ROWS names. Not timed with all of them since scatters and histograms are there.
#
#   bench/device/blocks.sh [FOLDER WITH arrc] [TARGET]
set -e
cd "$(dirname "$0")/../.."
arrc=$(realpath "${1:-target/release}")/arrc
target=${2:-ptx}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# least PROGRAM ENTRY INPUT [OPTION..]
least() {
  program=$1; entry=$2; input=$3; shift 3
  "$arrc" run --target="$target" -n -r "${RUNS:-10}" -t "$work/times" -e "$entry" "$@" "$program" < "$input" > /dev/null
  sort -n "$work/times" | head -1
}

# compare PROGRAM ENTRY INPUT WHAT
compare() {
  off=$("$arrc" opt --thresholds "$1" | sed -n 's/^\(.*:block\)$/--threshold \1=inf/p')
  a=$(least "$1" "$2" "$3")
  b=$(least "$1" "$2" "$3" $off)
  c=$(least "$1" "$2" "$3" --without=regularity)
  echo "$2 $4: $a by blocks, $b without, $c without regularity"
}

many=${MANY:-200000}
networks=tests/programs/papers/networks.fut
echo "${many}i64" > "$work/n"
compare $networks sorts "$work/n" "of $many rows of 32"
compare $networks transforms "$work/n" "of $many rows of 32"
rows=bench/device/rows.fut
for m in ${ROWS:-32 128 256 1024 4096}; do
  n=$((many * 32 / m))
  echo "${n}i64 ${m}i64" | "$arrc" run --target=cpu -b -e given $rows > "$work/rows"
  for entry in soft_maximum normalised recurrences; do
    compare $rows $entry "$work/rows" "of $n rows of $m"
  done
  echo "${n}i64 ${m}i64" | "$arrc" run --target=cpu -b -e numbers $rows > "$work/numbers"
  for entry in equalised weighted sorted; do
    compare $rows $entry "$work/numbers" "of $n rows of $m"
  done
done
