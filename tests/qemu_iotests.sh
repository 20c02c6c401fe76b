#!/usr/bin/env bash
# Runs the NBD subset of qemu's own block tests, with `destage serve` in place of qemu-nbd. The tests are not part of
# the project. They compare the output of qemu-img, so they should have the version of the installed qemu-img.
# usage: qemu_iotests.sh DESTAGE IOTESTS [TEST...]
#
# IOTESTS is the folder tests/qemu-iotests of qemu's sources; `apt-get source qemu` has it.
set -uo pipefail
DESTAGE=$(realpath "$1")
IOTESTS=$(realpath "$2")
shift 2
# The tests of the raw format over NBD, except: 005 (creates the file that its NBD address names), 083 147 (use
# servers of their own), 094 119 143 145 181 205 (need a virtual machine, or its server), 104 241 259 (need servers of
# 1000 bytes or of an exact size: a flash device has whole blocks, at least as many as asked for).
TESTS=(001 002 003 004 008 009 010 011 021 032 033 077 123 197 215)
if [ $# -gt 0 ]; then TESTS=("$@"); fi
# Some tests refuse folders with a dot in their name.
SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/iotestsXXXXXX")
trap 'rm -rf "$SCRATCH"' EXIT

# Replaces qemu-nbd: listens at the same socket with a device of the same size, and ends when it is told to.
cat >"$SCRATCH/server" <<SERVER
#!/usr/bin/env bash
while [ \$# -gt 1 ]; do
	case \$1 in
	--pid-file=*) pid=\${1#*=} ;;
	-k) shift; socket=\$1 ;;
	-f | -e | -x) shift ;;
	esac
	shift
done
echo \$\$ >"\$pid"
exec "$DESTAGE" serve --unix "\$socket" --capacity "\$(stat -c %s "\$1")" --buffer bplru --quiet
SERVER
chmod +x "$SCRATCH/server"

export TEST_DIR=$SCRATCH/tests SOCK_DIR=$SCRATCH/s QEMU_TEST_DIR=$SCRATCH/tests OUTPUT_DIR=$SCRATCH/out
export SAMPLE_IMG_DIR=$IOTESTS/sample_images PYTHON=python3
export IMGFMT=raw IMGPROTO=nbd IMGFMT_GENERIC=true IMGOPTSSYNTAX=false IMGOPTS= CACHEMODE=writeback AIOMODE=threads
export CACHEMODE_IS_DEFAULT=true QEMU_OPTIONS= QEMU_IMG_OPTIONS= QEMU_NBD_OPTIONS= QEMU_IO_OPTIONS='--cache writeback --aio threads -f raw'
export QEMU_IO_OPTIONS_NO_FMT='--cache writeback --aio threads' VALGRIND_QEMU= GDB_OPTIONS= IMGKEYSECRET=
QEMU_IMG_PROG=$(command -v qemu-img) QEMU_IO_PROG=$(command -v qemu-io) QEMU_PROG=$(command -v false)
export QEMU_IMG_PROG QEMU_IO_PROG QEMU_PROG QEMU_NBD_PROG=$SCRATCH/server QSD_PROG=$QEMU_PROG
failed=0
for name in "${TESTS[@]}"; do
	rm -rf "$TEST_DIR" "$SOCK_DIR" "$OUTPUT_DIR"
	mkdir -p "$TEST_DIR" "$SOCK_DIR" "$OUTPUT_DIR"
	expected=$IOTESTS/$name.out
	for other in "$IOTESTS/$name.out.raw" "$IOTESTS/$name.out.nbd"; do [ ! -e "$other" ] || expected=$other; done
	(cd "$IOTESTS" && timeout 120 bash "./$name") >"$SCRATCH/found" 2>&1
	status=$?
	if [ -e "$OUTPUT_DIR/$name.notrun" ] || [ -e "$TEST_DIR/$name.notrun" ]; then
		echo "$name: does not apply: $(cat "$OUTPUT_DIR/$name.notrun" "$TEST_DIR/$name.notrun" 2>/dev/null)"
	elif diff -u -w -Z "$expected" "$SCRATCH/found" >"$SCRATCH/difference" && [ $status = 0 ]; then
		echo "$name: passed"
	else
		echo "$name: FAILED, status $status"
		head -40 "$SCRATCH/difference"
		failed=1
	fi
done
exit $failed
