#!/bin/sh
# SPDX-License-Identifier: ISC
# The first process of dom0: starts Xen's tools, runs /lab/script, and leaves /out on the disk as a tar file. The console
# is the host's only sign of life, so each step says something.
export PATH=/bin:/sbin:/usr/bin:/usr/sbin LD_LIBRARY_PATH=/lib
/bin/busybox --install -s /bin 2>/dev/null
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
for folder in /run /out /tmp /dev/shm; do mount -t tmpfs tmpfs $folder; done
mkdir -p /run/lock /run/xen
export HOME=/tmp XDG_RUNTIME_DIR=/run

cat >/tmp/functions <<'FUNCTIONS'
# A step of the script, on the console and in its log.
say() {
	echo "$*"
	echo "lab: $*" >/dev/console
}

# Runs a command until it succeeds, at intervals that grow to half a second: each attempt takes some 60 ms of the processor that the
# guest needs, too. Gives up after five minutes of sleep.
await() {
	_await=50 _slept=0 _said=0
	until "$@" >/dev/null 2>&1; do
		if [ $_slept -ge 300000 ]; then
			say "in vain: $*"
			return 1
		fi
		if [ $((_slept - _said)) -ge 5000 ]; then
			say "waiting: $*"
			_said=$_slept
		fi
		usleep ${_await}000
		_slept=$((_slept + _await))
		[ $_await -ge 500 ] || _await=$((_await + 50))
	done
}

# create NAME KERNEL [LINE OF THE CONFIGURATION]…: a paravirtualised guest, whose number is then in $domain.
create() {
	_name=$1
	{
		echo "name='$1'"
		echo "type='pv'"
		echo "kernel='/lab/$2'"
		echo "memory=16"
		echo "vcpus=1"
		echo "on_crash='preserve'"
		echo "tsc_mode='native'"
		shift 2
		for _line in "$@"; do echo "$_line"; done
	} >/tmp/$_name.cfg
	say "creating $_name"
	xl create /tmp/$_name.cfg
	domain=$(xl domid $_name)
}

# linux NAME [LINE OF THE CONFIGURATION]…: a guest of Linux, which runs its script: see domu.sh.
linux() {
	_linux=$1
	shift
	create $_linux linux "ramdisk='/lab/linux.cpio'" "memory=112" \
		"extra='console=hvc0 nokaslr mitigations=off cryptomgr.notests quiet panic=1'" "$@"
}

# of DOMAIN KEY: a key of the domain in XenStore.
of() {
	xenstore-read /local/domain/$1/$2
}

# recorded DOMAIN NUMBER: true if the guest of tests/xen/guest has recorded so many requests.
recorded() {
	_recorded=$(of $1 data/number | sed 's/^0*//')
	[ "${_recorded:-0}" -ge $2 ]
}

# tell DOMAIN COMMAND: a command to that guest.
tell() {
	say "domain $1: $2"
	xenstore-write /local/domain/$1/data/command $2
}

# is_state DOMAIN LETTER: true if xl shows the domain in that state, as c for crashed.
is_state() {
	xl list $1 2>/dev/null | awk -v letter=$2 'NR == 2 && index($5, letter) { found = 1 } END { exit !found }'
}
FUNCTIONS

. /tmp/functions
for module in /modules/*; do insmod $module || say "insmod $module failed"; done
mount -t xenfs xenfs /proc/xen
xenstored --pid-file=/run/xenstored.pid
await xenstore-read -s /
xen-init-dom0 >/dev/null
xenconsoled --pid-file=/run/xenconsoled.pid --log=all --log-dir=/out
say "Xen's tools run"

cd /tmp
{ cat /tmp/functions /lab/script; } >/tmp/script
sh -eu /tmp/script >/out/script.log 2>&1
status=$?
xl dmesg >/out/xen.log 2>&1
tar -C /out -cf /dev/vda .
sync
echo "lab: the script ended with status $status" >/dev/console
sync
poweroff -f
