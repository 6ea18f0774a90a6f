#!/bin/sh
# Copyright The karmada-compute Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Becomes systemd. It is process 1 of new PID, mount, network, IPC and UTS namespaces and the only process of a cgroup, and it
# builds a machine with a root folder in memory: /usr is that of the real machine, everything else is empty or in the arguments.
# The kernel's settings are read-only, because they are those of the real machine.
set -eu
root=$1 units=$2 configuration=$3 binary=$4

mount --make-rprivate /
mount -t tmpfs -o mode=755 machine "$root"
cd "$root"
mkdir -p dev etc/karmada-compute etc/systemd/system old proc root run sys tmp usr var/tmp var/log
chmod 1777 tmp var/tmp
echo machine > etc/hostname

mount --rbind /usr usr
mount -o remount,bind,ro usr
for folder in bin sbin lib lib32 lib64; do
  if [ -L "/$folder" ]; then
    cp -P "/$folder" .
  elif [ -d "/$folder" ]; then
    mkdir "$folder"
    mount --bind -o ro "/$folder" "$folder"
  fi
done
mount -t tmpfs -o mode=755 local usr/local
mkdir usr/local/bin
touch usr/local/bin/karmada-compute
mount --bind "$binary" usr/local/bin/karmada-compute
mount --bind "$configuration" etc/karmada-compute

# The path of systemd's units has this folder only: of the distribution's units, journald alone is started.
cp "$units"/* etc/systemd/system
cp /lib/systemd/system/systemd-journald.service /lib/systemd/system/systemd-journald.socket /lib/systemd/system/systemd-journald-dev-log.socket etc/systemd/system
chmod 644 etc/systemd/system/*

mount -t tmpfs -o mode=755 run run
mount -t tmpfs -o mode=755 dev dev
for device in full null random tty urandom zero; do
  touch "dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mount -t tmpfs shm dev/shm
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys

# In a new cgroup namespace, the cgroup of this process is the root. In a container, systemd expects that mounts propagate: it
# mounts the credentials of a unit in a namespace of their own.
exec unshare --cgroup sh -euc '
  mount -t cgroup2 cgroup2 sys/fs/cgroup
  pivot_root . old
  umount -l /old
  rmdir /old
  mount --make-rshared /
  exec env -i container=test SYSTEMD_UNIT_PATH=/etc/systemd/system "$0" --system --unit=multi-user.target --show-status=no
' /lib/systemd/systemd
