import { spawnSync } from 'node:child_process'

// Runs a test file like a runner's pod: user 10001, no capabilities, no new privileges. So results about the jail are valid for pods, even
// on a machine whose tests run as root.

const MARK = 'TINTYPE_TEST_AS_RUNNER'
const CONFINED = ['--no-new-privs', '--inh-caps=-all', '--ambient-caps=-all']
const RUNNER = ['--reuid=10001', '--regid=10001', '--clear-groups', '--bounding-set=-all']

/**
 * Container runtimes cover parts of /proc, and then the kernel does not allow new /proc mounts in nested namespaces. Creating the covers
 * needs root, so they come before the change of the user. A run without root has no covers.
 */
const COVER_PROC = 'mount --bind /dev/null /proc/keys && mount -t tmpfs -o ro tmpfs /proc/bus && exec "$@"'

/** Through NODE_OPTIONS, tap makes child processes write to a directory that the runner's user cannot write to. TAP on stdout is sufficient. */
const OWN_NODE = ['env', '--unset=NODE_OPTIONS']

/**
 * Call this before `tap` is imported. Starts the file again as the runner's user and never returns, or returns immediately if it already
 * runs so.
 * @param file the caller's `import.meta.filename`
 * @param options.coveredProc with /proc as in containers
 */
export const becomeRunner = (file: string, options: { coveredProc?: boolean } = {}): void => {
  if (process.env[MARK]) return
  const isRoot = process.getuid?.() === 0
  const cover = options.coveredProc && isRoot ? ['unshare', '--mount', 'sh', '-c', COVER_PROC, 'sh'] : []
  const confined = ['setpriv', ...(isRoot ? RUNNER : []), ...CONFINED, ...OWN_NODE, process.execPath, file]
  const [program = '', ...args] = [...cover, ...confined]
  const { status, error } = spawnSync(program, args, { stdio: 'inherit', env: { ...process.env, HOME: '/tmp', [MARK]: '1' } })
  if (error) throw error
  process.exit(status ?? 1)
}
