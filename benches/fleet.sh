#!/usr/bin/env bash
# Measures a fleet of volumes (1000 by default). The steps generate a trace, partition the trace by volume, and compare
# one buffer for each volume with a shared buffer. Prints the time and the memory of each step. Fails if the comparison
# needs more than 5 minutes or more than 2 GiB.
# usage: fleet.sh DESTAGE FOLDER [REQUESTS [VOLUMES]]
set -euo pipefail
DESTAGE=$(realpath "$1")
REQUESTS=${3:-100000000}
VOLUMES=${4:-1000}
mkdir -p "$2"
cd "$2"
rm -rf fleet fleet.partial kept

# measure NAME COMMAND...: runs COMMAND; prints its wall time in s, its processor time in s and its peak memory in MiB;
# sets $seconds to the wall time and $peak to the peak memory
measure() {
	local name=$1 begin pid now cpu=0
	shift
	begin=$(date +%s.%N)
	peak=0
	"$@" >"$name.out" 2>"$name.err" &
	pid=$!
	while now=$(awk '/^VmHWM/ { print int($2 / 1024) }' "/proc/$pid/status" 2>/dev/null) && [ -n "$now" ]; do
		peak=$now
		now=$(awk -v ticks="$(getconf CLK_TCK)" '{ print ($14 + $15) / ticks }' "/proc/$pid/stat" 2>/dev/null) && cpu=$now
		sleep 0.2
	done
	wait "$pid" || { cat "$name.err"; exit 1; }
	seconds=$(awk -v begin="$begin" -v end="$(date +%s.%N)" 'BEGIN { printf "%.1f", end - begin }')
	awk -v name="$name" -v seconds="$seconds" -v cpu="$cpu" -v peak="$peak" \
		'BEGIN { printf "| %s | %.1f | %.1f | %d |\n", name, seconds, cpu, peak }'
}

echo "$REQUESTS requests of $VOLUMES volumes, $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg) before"
echo "| step | s | s of all processors | MiB |"
echo "|---|---|---|---|"
if [ ! -e "all-$REQUESTS-$VOLUMES.compact" ]; then
	measure generate "$DESTAGE" trace generate --workload "fleet:requests=$REQUESTS,volumes=$VOLUMES" -o "all-$REQUESTS-$VOLUMES.compact"
fi
measure partition "$DESTAGE" trace partition "all-$REQUESTS-$VOLUMES.compact" -o fleet
measure fleet "$DESTAGE" fleet fleet --buffers lru --results kept -o fleet.html --quiet
analysis=$seconds
most=$peak
measure again "$DESTAGE" fleet fleet --buffers lru --results kept --quiet
cat fleet.out
if awk -v seconds="$analysis" -v peak="$most" 'BEGIN { exit !(seconds > 300 || peak > 2048) }'; then
	echo "fleet: $analysis s and $most MiB; expected at most 300 s and 2048 MiB"
	exit 1
fi
