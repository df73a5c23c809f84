#!/bin/sh
# Playwright starts this instead of the browser. It enters the jail of process TINTYPE_JAIL, drops the root user that it has there (by a
# second user namespace with an unprivileged user and no capabilities), and executes TINTYPE_JAILED. It keeps file descriptors, so
# Playwright's pipe (3 and 4) stays open. It keeps Playwright's process group, so a kill reaches all processes. `nice` leaves CPU time to the
# runner when a page uses every CPU, because the runner must answer probes and end the page.
set -eu
unset NODE_OPTIONS
namespaces=/proc/$TINTYPE_JAIL/ns
exec nice -n 10 nsenter --preserve-credentials --user="$namespaces/user" --mount="$namespaces/mnt" --net="$namespaces/net" --pid="$namespaces/pid_for_children" -- \
  unshare --user --map-user=10001 --map-group=10001 -- \
  setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all -- "$TINTYPE_JAILED" "$@"
