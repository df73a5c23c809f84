// Runs in the browser's place, tries what a compromised browser could do, and prints what succeeded. Outside the jail it is
// the control: everything must succeed there, or the attempt proves nothing.
//
//   probe.mjs '{"pid": 7, "files": [...], "listeners": [{"host": "127.0.0.1", "port": 8080}], "sockets": [...]}'
//   → {"readFiles": [...], "environ": [...], "memory": [...], "ptrace": [...], "signals": [...], "foreignFds": [...], "ownFds": [...], "reached": [...], "uncovered": [...]}
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'

const { pid: runner, files = [], listeners = [], sockets = [] } = JSON.parse(process.argv[2])
const ATTEMPT_MILLISECONDS = 1_000

const succeeds = (attempt) => {
  try {
    return attempt() !== false
  } catch {
    return false
  }
}

// If /proc is older than the PID namespace, it shows outer PIDs, while system calls use inner ones. So files are tried by the PIDs that
// /proc shows, and system calls by PIDs that an attacker could guess. Our own process proves nothing and is left out.
const shownAs = Number(fs.readlinkSync('/proc/self'))
const shown = fs
  .readdirSync('/proc')
  .filter((name) => /^\d+$/.test(name))
  .map(Number)
const ownThreads = new Set(
  fs
    .readdirSync('/proc/self/task')
    .map((thread) => Number(/^NSpid:.*?(\d+)$/m.exec(fs.readFileSync(`/proc/self/task/${thread}/status`, 'latin1'))[1])),
)
const others = [...new Set([runner, ...shown])].filter((pid) => pid !== shownAs)
const guesses = [...new Set([runner, 1, ...shown])].filter((pid) => !ownThreads.has(pid))

const readMemory = (pid) => {
  const range = /^([0-9a-f]+)-[0-9a-f]+ r/m.exec(fs.readFileSync(`/proc/${pid}/maps`, 'latin1'))
  if (!range) return false
  const memory = fs.openSync(`/proc/${pid}/mem`, 'r')
  return fs.readSync(memory, Buffer.alloc(16), 0, 16, BigInt(`0x${range[1]}`)) === 16
}

/** Numbers of ptrace and process_vm_readv. perl is in every Debian image and can make any system call. */
const SYSCALLS = { x64: [101, 310], arm64: [117, 270] }
const callsByPerl = (pid) => {
  const [ptrace] = SYSCALLS[process.arch] ?? []
  if (ptrace === undefined) return false
  // PTRACE_SEIZE (0x4206) attaches without stopping the process, so that the control does not freeze the runner.
  const script = `exit(syscall(${ptrace}, 0x4206, ${pid}, 0, 0) == 0 ? 0 : 1)`
  return spawnSync('perl', ['-e', script]).status === 0
}

/** Unmounts the cover of a hidden file in a new namespace, or enters the namespaces of the process that mounted it. */
const uncover = (file) => {
  const show = ['sh', '-c', `umount "$(dirname "${file}")" /tmp /var/run/secrets 2>/dev/null; cat "${file}"`]
  const ways = [
    ['unshare', '--user', '--map-root-user', '--mount', ...show],
    ['nsenter', '--target', '1', '--user', '--mount', ...show],
    ['nsenter', '--target', String(runner), '--mount', ...show],
  ]
  return ways.some(([program, ...given]) => spawnSync(program, given).status === 0)
}

/** The readable descriptors of a process. Listing their numbers is harmless; only reading their targets counts. */
const openFds = (pid) => {
  const found = []
  succeeds(() => {
    for (const fd of fs.readdirSync(`/proc/${pid}/fd`))
      succeeds(() => found.push({ fd: Number(fd), to: fs.readlinkSync(`/proc/${pid}/fd/${fd}`) }))
  })
  return found
}

/**
 * True for Node's own pipes and anonymous files, and for files that any process here may open: node reads certificates in the background. Other
 * descriptors above Playwright's five were inherited from the runner.
 */
const isOwn = (to) => /^(anon_inode|pipe):/.test(to) || (to.startsWith('/') && succeeds(() => fs.accessSync(to, fs.constants.R_OK)))

const connects = (options) =>
  new Promise((resolve) => {
    const socket = net.connect(options)
    const finish = (result) => {
      socket.destroy()
      resolve(result)
    }
    socket.once('connect', () => finish(true))
    socket.once('error', () => finish(false))
    setTimeout(finish, ATTEMPT_MILLISECONDS, false)
  })

const reachedBy = async (targets, toOptions) => {
  const results = await Promise.all(targets.map((target) => connects(toOptions(target))))
  return targets.filter((_, i) => results[i])
}

const result = {
  readFiles: files.filter((file) => succeeds(() => fs.readFileSync(file))),
  environ: others.filter((pid) => succeeds(() => fs.readFileSync(`/proc/${pid}/environ`).length > 0)),
  memory: others.filter((pid) => succeeds(() => readMemory(pid))),
  ptrace: guesses.filter(callsByPerl),
  signals: guesses.filter((pid) => succeeds(() => process.kill(pid, 0))),
  foreignFds: others.filter((pid) => openFds(pid).length > 0),
  ownFds: openFds('self').filter(({ fd, to }) => fd > 4 && !isOwn(to)),
  reached: [...(await reachedBy(listeners, (listener) => listener)), ...(await reachedBy(sockets, (path) => ({ path })))],
  uncovered: files.filter((file) => succeeds(() => uncover(file))),
}
process.stdout.write(JSON.stringify(result))
process.exit()
