import { spawnSync } from 'node:child_process'

// A test file that calls this runs as a runner's pod does: user 10001, no capabilities, no new privileges. What it shows about the jail is
// then true where it matters, also on a machine whose tests run as root.

const MARK = 'TINTYPE_TEST_AS_RUNNER'
const CONFINED = ['--no-new-privs', '--inh-caps=-all', '--ambient-caps=-all']
const RUNNER = ['--reuid=10001', '--regid=10001', '--clear-groups', '--bounding-set=-all']

/**
 * Container runtimes cover parts of /proc, and then the kernel gives no namespace below a fresh one. The covers must be there before the
 * user is; they need root, so an ordinary user's run goes without.
 */
const COVER_PROC = 'mount --bind /dev/null /proc/keys && mount -t tmpfs -o ro tmpfs /proc/bus && exec "$@"'

/** tap has every child tell it about itself in a directory that the runner's user may not write to; the TAP on stdout is enough. */
const OWN_NODE = ['env', '--unset=NODE_OPTIONS']

/**
 * To be called before `tap` is imported. Starts the file again as the runner's user and never returns, or returns at once when it is so.
 *
 * @param file the caller's `import.meta.filename`
 * @param options.coveredProc with /proc as containers have it
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
