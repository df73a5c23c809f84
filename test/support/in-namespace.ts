import { spawnSync } from 'node:child_process'

// A test file that calls this runs in a network of its own: nothing there but a loopback interface, on which any address may be put. So
// the metadata service, the internet and the pod's network can all stand in one process, and no packet leaves the machine.

const MARK = 'TINTYPE_TEST_NAMESPACE'

/** Runs in the new namespaces before the tests, with the right to set them up: `$@` is the test. */
const PREPARE =
  'ip link set lo up && for address in $TINTYPE_TEST_ADDRESSES; do ip address add "$address" dev lo nodad || exit 1; done && exec "$@"'

const RESTART = ['--user', '--map-user=10001', '--map-group=10001', '--keep-caps', '--net', '--mount', 'sh', '-c', PREPARE, 'sh']

/**
 * To be called before `tap` is imported, since a file speaks TAP once. Starts the file again in namespaces of its own and never returns,
 * or returns at once when it is there. Needs no privilege but user namespaces; the user inside is 10001, as in a runner's pod.
 *
 * @param file the caller's `import.meta.filename`
 * @param addresses put on the loopback interface
 */
export const enterNamespace = (file: string, addresses: readonly string[]): void => {
  if (process.env[MARK]) return
  const own = addresses.map((address) => (address.includes(':') ? `${address}/128` : `${address}/32`))
  const { status, error } = spawnSync('unshare', [...RESTART, process.execPath, ...process.execArgv, file], {
    stdio: 'inherit',
    env: { ...process.env, [MARK]: '1', TINTYPE_TEST_ADDRESSES: own.join(' ') },
  })
  if (error) throw error
  process.exit(status ?? 1)
}
