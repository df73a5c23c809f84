import { spawnSync } from 'node:child_process'
import { LANES_VARIABLE } from '../lanes/lane.ts'

// Runs a test file in a separate network: loopback, and one interface without a route (WebRTC needs one), to which any address can be
// assigned. So one process contains the metadata service, the internet and the pod's network, and no packet leaves it.

const MARK = 'TINTYPE_TEST_NAMESPACE'

/** Runs in the new namespaces before the tests, with the permissions to configure them. `$@` is the test. */
const PREPARE = `
ip link set lo up
ip link add outside type veth peer name elsewhere || exit 1
for link in outside elsewhere; do ip link set "$link" addrgenmode none && ip link set "$link" up || exit 1; done
for address in $TINTYPE_TEST_ADDRESSES; do
  case $address in
    *:*) ip address add "$address/128" dev outside nodad ;;
    *) ip address add "$address/32" dev outside ;;
  esac || exit 1
done
ip route add default dev outside && ip -6 route add default dev outside
if [ -n "$TINTYPE_TEST_NAMES" ]; then
  hosts=$(mktemp) && { cat /etc/hosts; echo "127.0.0.1 $TINTYPE_TEST_NAMES"; } >"$hosts" && mount --bind "$hosts" /etc/hosts && rm "$hosts" || exit 1
fi
exec "$@"`

const RESTART = ['--user', '--map-user=10001', '--map-group=10001', '--keep-caps', '--net', '--mount', 'sh', '-c', PREPARE, 'sh']

/**
 * Call this before `tap` is imported, because a file starts TAP once. Starts the file again in new namespaces and never returns, or returns
 * immediately if it already runs there. Needs only user namespaces; the user inside is 10001, as in a runner's pod.
 * @param file the caller's `import.meta.filename`
 * @param addresses assigned to the interface
 * @param names resolve to 127.0.0.1, for every program of the test
 */
export const enterNamespace = (file: string, addresses: readonly string[], names: readonly string[] = []): void => {
  if (process.env[MARK]) return
  // The servers of the lane are on the loopback interface outside.
  const { [LANES_VARIABLE]: _, ...environment } = process.env
  const { status, error } = spawnSync('unshare', [...RESTART, process.execPath, ...process.execArgv, file], {
    stdio: 'inherit',
    env: { ...environment, [MARK]: '1', TINTYPE_TEST_ADDRESSES: addresses.join(' '), TINTYPE_TEST_NAMES: names.join(' ') },
  })
  if (error) throw error
  process.exit(status ?? 1)
}
