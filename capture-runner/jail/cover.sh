#!/bin/sh
# Starts TINTYPE_JAILED without network, with empty directories over those in TINTYPE_HIDDEN (separated by colons). src/jail/wrapper.ts starts this program
# for ffmpeg. As in enter.sh, a second user namespace drops the root user of the first, so that nothing can remove the covers.
set -eu
exec unshare --user --map-root-user --mount --net -- sh -c '
  hidden=$TINTYPE_HIDDEN program=$TINTYPE_JAILED
  unset TINTYPE_HIDDEN TINTYPE_JAILED
  IFS=:
  for directory in $hidden; do
    [ ! -d "$directory" ] || mount -t tmpfs -o ro,nosuid,nodev,noexec,size=4k tmpfs "$directory"
  done
  exec unshare --user --map-user=10001 --map-group=10001 -- setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all -- "$program" "$@"
' sh "$@"
