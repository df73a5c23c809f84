#!/bin/sh
# What Playwright starts in the browser's place: goes into the jail whose holder is TINTYPE_JAIL, gives up the root it has in there (a
# second user namespace, in which it is an ordinary user without capabilities), and becomes TINTYPE_JAILED. File descriptors stay, so
# Playwright's pipe (3 and 4) does too; the process group is Playwright's, so its kill reaches everything. A page that keeps every processor
# busy leaves some of them to the runner, which must answer probes and end it.
set -eu
unset NODE_OPTIONS
namespaces=/proc/$TINTYPE_JAIL/ns
exec nice -n 10 nsenter --preserve-credentials --user="$namespaces/user" --mount="$namespaces/mnt" --net="$namespaces/net" --pid="$namespaces/pid_for_children" -- \
  unshare --user --map-user=10001 --map-group=10001 -- \
  setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all -- "$TINTYPE_JAILED" "$@"
