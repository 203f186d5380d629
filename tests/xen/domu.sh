#!/bin/sh
# SPDX-License-Identifier: ISC
# The first process of a guest of Linux: runs /lab/script, with these functions, and shuts down. Its console is in
# guest-NAME.log.
export PATH=/bin:/sbin:/usr/bin:/usr/sbin LD_LIBRARY_PATH=/lib HOME=/tmp XDG_RUNTIME_DIR=/run
/bin/busybox --install -s /bin 2>/dev/null
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/shm
for folder in /run /tmp /dev/shm; do mount -t tmpfs tmpfs $folder; done
for module in /modules/*; do insmod $module || echo "insmod $module failed"; done
mount -t xenfs xenfs /proc/xen

cat >/tmp/functions <<'FUNCTIONS'
# has_told COMMAND: true if data/command, which dom0 writes, is that command.
has_told() {
	[ "$(xenstore-read data/command 2>/dev/null)" = "$1" ]
}

# follow COMMAND: waits until dom0 tells that command. The intervals are long, because dom0 needs the same processor.
follow() {
	until has_told "$1"; do usleep 300000; done
}

# report KEY VALUE: for dom0, below data/.
report() {
	xenstore-write "data/$1" "$2"
}
FUNCTIONS

cd /tmp
{ cat /tmp/functions /lab/script; } >/tmp/script
sh -eu /tmp/script
echo "the script ended with status $?"
poweroff -f
