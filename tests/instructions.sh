#!/usr/bin/env bash
# Counts the instructions of fixed runs and compares the counts with the stored counts in golden/instructions.txt.
# Counts of instructions do not depend on the speed or the load of the machine. A run fails if its count exceeds the
# stored count by more than a margin, or if its count per page or request exceeds the limit of the run. `renew` replaces
# the stored counts by the new counts and prints the differences. If the trace of a run is missing, the script lists
# the run as skipped, and its stored count remains.
# usage: instructions.sh PROGRAM [renew]
set -euo pipefail
PROGRAM=$(realpath "$1")
MODE=${2:-compare}
KEPT=$(dirname "$(realpath "$0")")/golden/instructions.txt
# The margin in per cent. Another version of the compiler or a library changes counts by about this much.
MARGIN=4
command -v valgrind >/dev/null || { echo "instructions: skipped: valgrind is not installed (make tools)"; exit 0; }
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT

# The instructions of the SHA-256 digest of the input are not counted. Processors have instructions for SHA-256, but
# valgrind does not emulate these instructions. Without them, the digest needs 1,300 instructions per line of a trace.
# `rep movsb` is one instruction, but valgrind counts one per byte. So the C library is told to copy with a loop.
count() {
	# shellcheck disable=SC2086 # arguments are words
	GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=1000000000000 \
		valgrind --tool=callgrind --toggle-collect='sha2::sha256::compress*' --collect-atstart=yes \
		--callgrind-out-file="$FOLDER/out" "$PROGRAM" $1 --quiet >"$FOLDER/said" 2>"$FOLDER/log" || { cat "$FOLDER/log" >&2; exit 1; }
	awk '/Collected/ { print $NF }' "$FOLDER/log"
}

STATUS=0
printf '%-22s %15s %15s %9s %10s\n' run kept now change 'for each'
while IFS= read -r line; do
	case $line in '#'* | '') echo "$line" >>"$FOLDER/new"; continue ;; esac
	read -r name kept units most arguments <<<"$line"
	trace=$(grep -oE '@[^ ]+' <<<"$arguments" || true)
	if [ -n "$trace" ] && [ ! -e "${DESTAGE_SHARED:-}/${trace#@}" ]; then
		echo "$line" >>"$FOLDER/new"
		printf '%-22s skipped: %s is not there; set DESTAGE_SHARED to its folder\n' "$name" "${trace#@}"
		continue
	fi
	now=$(count "${arguments//@/${DESTAGE_SHARED:-}/}")
	echo "$name $now $units $most $arguments" >>"$FOLDER/new"
	change=$(awk -v kept="$kept" -v now="$now" 'BEGIN { printf "%+.2f", kept ? 100 * (now / kept - 1) : 0 }')
	each=$(awk -v now="$now" -v units="$units" 'BEGIN { printf "%.0f", now / units }')
	printf '%-22s %15s %15s %8s%% %10s\n' "$name" "$kept" "$now" "$change" "$each"
	if awk -v change="$change" -v margin="$MARGIN" 'BEGIN { exit !(change > margin) }'; then STATUS=1; fi
	if [ "$most" != - ] && [ "$each" -gt "$most" ]; then
		echo "instructions: $name takes $each for each; expected $most at most"
		exit 1
	fi
done <"$KEPT"
if [ "$MODE" = renew ]; then
	cp "$FOLDER/new" "$KEPT"
elif [ $STATUS != 0 ]; then
	echo "instructions: a run takes over $MARGIN % more than $KEPT says; mend it, or \`make instructions-renew\` and say why"
	exit 1
fi
