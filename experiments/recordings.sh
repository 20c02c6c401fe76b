#!/usr/bin/env bash
# W5, W7, W8 and W9 of the BPLRU paper done for real: real file systems on a loop device over the live device, which records
# what they write. The recordings are then held against the built-in stand-ins.
# usage: recordings.sh DESTAGE RECORDINGS FOLDER
#
# RECORDINGS is the program of that name in benches/. FOLDER gets the recordings and tables.md.
# SCALE divides the number of files and transactions (1); SYNC is the time between two write-backs in seconds (0.5).
set -uo pipefail
DESTAGE=$(realpath "$1")
RECORDINGS=$(realpath "$2")
mkdir -p "$3"
FOLDER=$(realpath "$3")
SCALE=${SCALE:-1}
SYNC=${SYNC:-0.5}
SCRATCH=$(mktemp -d)
SKIPPED=()
FAILED=()
SERVER= FUSE= LOOP= SYNCER= DRIVER=
cd "$SCRATCH" || exit 1

# What a step left, in the order in which it has to go.
clear_away() {
	# Not killed: what it had begun would keep the file system busy.
	touch stop
	if [ -n "$SYNCER" ]; then wait "$SYNCER"; fi
	rm stop
	if mountpoint -q mnt; then umount mnt; fi
	if [ -n "$DRIVER" ]; then wait "$DRIVER"; fi
	if [ -n "$LOOP" ]; then sync "$LOOP"; losetup -d "$LOOP"; fi
	if mountpoint -q fuse; then umount fuse; fi
	if [ -n "$FUSE" ]; then wait "$FUSE"; fi
	if [ -n "$SERVER" ]; then kill "$SERVER"; wait "$SERVER"; fi
	SERVER= FUSE= LOOP= SYNCER= DRIVER=
} 2>/dev/null
finish() {
	clear_away
	rm -rf "$SCRATCH"
}
trap finish EXIT

has() {
	command -v "$1" >/dev/null
}
in_kernel() {
	grep -qw "$1" /proc/filesystems || modprobe "$1" 2>/dev/null
}

# What lacks for file system $1, in words; nothing if it can be had.
lacks() {
	local tool
	for tool in nbdfuse losetup "mkfs.$1"; do
		has "$tool" || { echo "$tool is not installed (make tools)"; return; }
	done
	case $1 in
	ext3) in_kernel ext3 || echo "the kernel does not have ext3" ;;
	vfat) in_kernel vfat || has fusefat || echo "neither the kernel's vfat nor fusefat is there (make tools)" ;;
	ntfs) has ntfs-3g || echo "ntfs-3g is not installed (make tools)" ;;
	exfat) in_kernel exfat || has mount.exfat-fuse || echo "neither the kernel's exfat nor exfat-fuse is there (make tools)" ;;
	esac
}

# mount_as KIND: makes file system KIND on the loop device and mounts it at mnt. What its own write-back is told by: BACK.
mount_as() {
	BACK=("$LOOP")
	case $1 in
	ext3) mkfs.ext3 -q "$LOOP" && mount -t ext3 "$LOOP" mnt && BACK=(-f mnt) ;;
	vfat)
		mkfs.vfat -F 16 "$LOOP" || return
		if in_kernel vfat; then
			mount -t vfat "$LOOP" mnt && BACK=(-f mnt)
		else
			# It says all that it does.
			fusefat -f -o rw+ "$LOOP" mnt >/dev/null 2>&1 &
			DRIVER=$!
			until mountpoint -q mnt; do kill -0 $DRIVER || return; sleep 0.1; done
		fi
		;;
	ntfs) mkfs.ntfs -q -Q "$LOOP" && ntfs-3g "$LOOP" mnt ;;
	exfat)
		mkfs.exfat "$LOOP" || return
		if in_kernel exfat; then mount -t exfat "$LOOP" mnt && BACK=(-f mnt); else mount.exfat-fuse "$LOOP" mnt; fi
		;;
	esac
}

# record NAME KIND STAND-IN WHAT PREPARE WORK: one recording; PREPARE and WORK are functions that work in mnt.
record() {
	local name=$1 kind=$2 stand_in=$3 what=$4 prepare=$5 work=$6 why began=$SECONDS
	why=$(lacks "$kind")
	if [ -n "$why" ]; then SKIPPED+=("$name: $why"); return; fi
	printf '%-10s %-50s ' "$name" "$what"
	if { one "$name" "$kind" "$prepare" "$work" && hold "$name" "$stand_in"; } >part.out 2>&1; then
		echo "$name|$stand_in|$what" >>"$FOLDER/list"
		echo "ok, $((SECONDS - began)) s"
	else
		echo FAILED
		FAILED+=("$name")
		tail -20 part.out
	fi
	clear_away
	rm -rf made
}

one() {
	local name=$1 kind=$2 prepare=$3 work=$4 status
	mkdir -p fuse mnt
	rm -f live.sock ready
	"$DESTAGE" serve --unix live.sock --capacity 1020MiB --buffer nocache --quiet --record all.csv >ready &
	SERVER=$!
	until grep -q ^ready ready; do kill -0 $SERVER || return; sleep 0.05; done
	local uri="nbd+unix:///?socket=$SCRATCH/live.sock"
	nbdfuse fuse/disk "$uri" &
	FUSE=$!
	until [ -e fuse/disk ]; do kill -0 $FUSE || return; sleep 0.1; done
	LOOP=$(losetup --show -f fuse/disk) || return
	mount_as "$kind" || return
	"$prepare" && sync "${BACK[@]}" && sync "$LOOP" || return
	# No file system reads one sector at an odd place: from here on it counts.
	printf 'time,volume,op,sector,sectors,fua,stream\n0,0,read,7,1,0,0\n' >mark.csv
	"$DESTAGE" replay mark.csv --to "$uri" || return
	until [ -e stop ]; do sync "${BACK[@]}"; sleep "$SYNC"; done &
	SYNCER=$!
	"$work"
	status=$?
	clear_away
	[ $status = 0 ] || return
	local mark
	mark=$(grep -n -m 1 ',read,7,1,0,0$' all.csv | cut -d : -f 1)
	"$DESTAGE" trace convert all.csv --skip $((mark - 1)) --quiet -o "$FOLDER/$name.csv"
}

# hold NAME STAND-IN: statistics and evictions of the recording, and of as many bytes of the stand-in.
hold() {
	local base=$FOLDER/$1 bytes requests mean
	look "$base.csv" "$base.recorded" || return
	bytes=$(field bytes_written "$base.recorded.info") || return
	"$DESTAGE" trace generate --workload "$2" --quiet -o stand-in.csv || return
	"$DESTAGE" trace info stand-in.csv --json --quiet >stand-in.info || return
	mean=$(($(field bytes_written stand-in.info) / $(field requests stand-in.info)))
	requests=$((bytes / mean + 1))
	local settings=,
	case $2 in *:*) ;; *) settings=: ;; esac
	"$DESTAGE" trace generate --workload "$2${settings}requests=$requests" --quiet -o stand-in.csv || return
	look stand-in.csv "$base.stand-in"
}

look() {
	"$DESTAGE" trace info "$1" --writes-only --page-bytes 2048 --set flash.pages_per_block=128 --json --quiet >"$2.info" || return
	"$DESTAGE" compare "$1" --writes-only --profile bplru-mlc --ftl none --set buffer.flush_mode=ignore \
		--buffers lru,block-lru,fab,bplru,bpac --sizes 1MiB,4MiB,16MiB --json --quiet >"$2.runs"
}

# field NAME FILE: the whole number of that name in JSON that destage wrote
field() {
	grep -o -m 1 "\"$1\": *[0-9]*" "$2" | grep -o '[0-9]*$'
}

nothing() { :; }

songs() { "$RECORDINGS" mp3 made $((90 / SCALE)); }
copy() { cp made/* mnt/; }

packed_tree() {
	"$RECORDINGS" tree made/tree $((21594 / SCALE)) $((1285 / SCALE)) &&
		tar -C made -cf made/tree.tar tree && rm -rf made/tree
}
untar() { tar -C mnt -xf made/tree.tar; }

sources() { "$RECORDINGS" sources mnt/project $((300 / SCALE)); }
build() {
	local part unit objects=()
	for part in mnt/project/part*; do
		for unit in "$part"/*.c; do
			cc -g -O1 -c "$unit" -o "${unit%.c}.o" || return
		done
		ar rcs "$part/part.a" "$part"/*.o || return
		objects+=("$part"/*.o)
	done
	cc -shared -o mnt/project/all.so "${objects[@]}"
}

postmark() { "$RECORDINGS" postmark mnt $((5000 / SCALE)) $((20000 / SCALE)) 5; }
# fusefat writes new files only, so every other transaction reads, and is slow: a twentieth.
postmark_reads() { "$RECORDINGS" postmark mnt $((250 / SCALE)) $((1000 / SCALE)) 10; }

rm -f "$FOLDER/list" "$FOLDER/tables.md"
if [ "$(id -u)" != 0 ] || [ ! -e /dev/fuse ] || [ ! -e /dev/loop-control ]; then
	echo "recordings: skipped: they need root, /dev/fuse and /dev/loop-control"
	exit 0
fi
record w5-fat vfat standin-mp3-fat "$((90 / SCALE)) songs copied to FAT16" songs copy
record w7-ext3 ext3 standin-untar-ext3 "$((21594 / SCALE)) files unpacked on ext3" packed_tree untar
if has cc && has ar; then
	record w8-ext3 ext3 standin-kernel-compile-ext3 "$((300 / SCALE)) C sources compiled on ext3" sources build
else
	SKIPPED+=("w8-ext3: cc or ar is not installed")
fi
if in_kernel vfat; then
	record w9-fat vfat standin-postmark:file_system=fat "PostMark on FAT16" nothing postmark
else
	record w9-fat vfat standin-postmark:file_system=fat "PostMark without appends, a twentieth, on FAT16" nothing postmark_reads
fi
record w9-ext3 ext3 standin-postmark:file_system=ext3 "PostMark on ext3" nothing postmark
record w9-ntfs ntfs standin-postmark:file_system=ntfs "PostMark on NTFS" nothing postmark
record w9-exfat exfat standin-postmark:file_system=fat "PostMark on exFAT" nothing postmark

if [ ${#SKIPPED[@]} = 0 ]; then
	echo "skipped: none"
else
	echo "skipped: ${#SKIPPED[@]}"
	printf '  %s\n' "${SKIPPED[@]}"
fi
if [ -e "$FOLDER/list" ]; then "$RECORDINGS" table "$FOLDER" || exit; fi
[ ${#FAILED[@]} = 0 ]
