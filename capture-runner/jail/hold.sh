#!/bin/sh
# The inside of the jail, first process of its PID namespace, root in its user namespace and nowhere else. Started by src/jail/jail.ts as
#   unshare --user --map-root-user --mount --net --pid --fork --kill-child hold.sh <node> <listen.mjs> <listeners> <runner's pid> <directory>…
# It empties the view (mounts), opens the only doors (listen.mjs hands listening sockets to the runner over fd 3) and then does nothing
# but stay: when the runner closes stdin or dies, it ends, and the kernel kills whatever is left of the browser.
set -eu
node=$1 listen=$2 listeners=$3 runner=$4
shift 4

# A fresh /proc shows the jail's processes only. Containers with masked paths in /proc refuse it (the kernel would have to unmask them);
# there the old one stays, whose entries the browser may not read, and the runner's is covered.
mount -t proc -o nosuid,nodev,noexec proc /proc 2>/dev/null ||
  mount -t tmpfs -o ro,nosuid,nodev,noexec,size=4k tmpfs "/proc/$runner" 2>/dev/null || true

# The authorities that the pool trusts (src/trust.ts) are in the browser's home, which is about to be covered: a copy comes along.
[ ! -d /tmp/.pki ] || exec 8</tmp/.pki
# A checkout may lie below a directory that is about to be covered. Of all that is in it, only node and the jail's programs stay visible.
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
# A test runner may ask every node for modules of its own, which may be covered now.
unset NODE_OPTIONS
"$node" "$listen" "$listeners"
exec 3>&-

# dash gives background jobs /dev/null as stdin unless told otherwise. `wait` also reaps what the browser leaves behind.
exec 9<&0
cat <&9 >/dev/null &
wait
