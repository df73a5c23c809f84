#!/bin/sh
# First process in the jail's PID namespace, root only in its user namespace. src/jail/jail.ts starts it as
#   unshare --user --map-root-user --mount --net --pid --fork --kill-child hold.sh <node> <listen.mjs> <listeners> <runner's pid> <directory>…
# It covers directories by mounts and opens the only connections (listen.mjs passes listening sockets to the runner over fd 3). Then it waits.
# When the runner closes stdin or ends, this process ends, and the kernel kills the remaining processes of the browser.
set -eu
node=$1 listen=$2 listeners=$3 runner=$4
shift 4

# A new /proc shows only the jail's processes. The kernel refuses to mount it in containers with masked paths in /proc, because it would
# unmask them. Then the old /proc stays, whose entries the browser may not read, and an empty directory covers the runner's entry.
mount -t proc -o nosuid,nodev,noexec proc /proc 2>/dev/null ||
  mount -t tmpfs -o ro,nosuid,nodev,noexec,size=4k tmpfs "/proc/$runner" 2>/dev/null || true

# The pool's certificate authorities (src/runtime/trust.ts) are in the browser's home, which is covered below. Keep it open to copy them.
[ ! -d /tmp/.pki ] || exec 8</tmp/.pki
# A checkout may be inside a covered directory. Only node and the jail's programs stay visible there.
programs=${listen%/*}
exec 6<"$node" 7<"$programs"

for directory in "$@"; do
  [ ! -d "$directory" ] || mount -t tmpfs -o nosuid,nodev,mode=1777,size=2g tmpfs "$directory"
done

if [ ! -e "$node" ]; then
  mkdir -p "${node%/*}"
  : >"$node"
  mount --no-canonicalize --bind /proc/self/fd/6 "$node"
fi
if [ ! -e "$programs" ]; then
  mkdir -p "$programs"
  mount --no-canonicalize --bind /proc/self/fd/7 "$programs"
fi
exec 6<&- 7<&-

if [ -e /proc/self/fd/8 ]; then
  mkdir -p /tmp/.pki
  cp -R /proc/self/fd/8/. /tmp/.pki/
  exec 8<&-
fi

ip link set lo up
# A test runner may set NODE_OPTIONS to load modules that are now covered.
unset NODE_OPTIONS
"$node" "$listen" "$listeners"
exec 3>&-

# dash gives background jobs /dev/null as stdin by default. `wait` also reaps processes that the browser leaves behind.
exec 9<&0
cat <&9 >/dev/null &
wait
