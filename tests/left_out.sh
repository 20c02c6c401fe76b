#!/usr/bin/env bash
# Tests a program that was built without Parquet. Whenever a user requests Parquet, the program must print a clear
# error message, exit with 2, and leave no file behind.
# usage: left_out.sh PROGRAM
set -euo pipefail
PROGRAM=$(realpath "$1")
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
cd "$FOLDER"
# Three writes of one page each: arrival in ms, device, sector, sectors, and 0 for a write.
for page in 1 2 3; do echo "$page 0 $((page * 8)) 8 0"; done > t.disksim
printf 'PAR1\x15\x04\x15\x10\x00\x00\x00\x00PAR1' > t.parquet
TOLD='this build neither reads nor writes Parquet; expected a build with the feature parquet'

# refused WORDS ARGUMENTS...: the program must refuse ARGUMENTS, and the error message must name WORDS of ARGUMENTS.
refused() {
	local asked=$1 said status=0
	shift
	said=$("$PROGRAM" "$@" 2>&1 >/dev/null) || status=$?
	if [ "$status" != 2 ] || [ "$said" != "destage: error: $asked: $TOLD" ]; then
		echo "left-out: destage $*: exit $status: $said; expected exit 2: destage: error: $asked: $TOLD"
		exit 1
	fi
}
refused t.parquet run t.parquet
refused t.parquet trace info t.parquet
refused t.parquet compare t.parquet --buffers lru
refused '--format parquet' run t.disksim --format parquet
refused '-o x.parquet' run t.disksim -o x.parquet
refused '-o x.parquet' compare t.disksim -o x.parquet
refused '-o x.parquet' trace convert t.disksim -o x.parquet
refused '--to parquet' trace convert t.disksim --to parquet -o x
FORMATS=$("$PROGRAM" list formats)
if grep -qi parquet <<<"$FORMATS"; then echo "left-out: destage list formats names Parquet"; exit 1; fi
if [ "$(ls)" != $'t.disksim\nt.parquet' ]; then echo "left-out: files were left behind:"; ls; exit 1; fi
echo "left-out: 8 refusals, as they should be"
