/**
 * The cluster's long-lived programs. They run detached from the terminal, and later commands find them by their records. There is no supervisor:
 * `npm start` restarts those that have ended or whose command line or configuration has changed.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile, readlink, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { identify, isHalted, isRunning, type ProcessIdentity, signal } from './process-identity.ts'
import { waitFor } from './wait.ts'

export interface Daemon {
  name: string
  command: string
  args: readonly string[]
  /** Path of a network namespace to run in. */
  networkNamespace?: string
  environment?: Record<string, string>
  directory?: string
  /** Other text whose change must restart the daemon, such as its configuration file. */
  configuration?: string
  /** Inherited descriptors such as listening sockets, from descriptor 3 on. */
  descriptors?: readonly number[]
}

/** Directories of the daemons' records and logs. */
export interface DaemonPlace {
  records: string
  logs: string
}

interface DaemonRecord extends ProcessIdentity {
  fingerprint: string
}

/** A short digest of the daemon's settings. */
export function fingerprintOf(daemon: Daemon): string {
  const { command, args, networkNamespace, environment, configuration } = daemon
  return createHash('sha256')
    .update(JSON.stringify([command, args, networkNamespace, environment, configuration]))
    .digest('hex')
    .slice(0, 16)
}

/** The log of a daemon. Each start truncates it. */
export const logOf = (place: DaemonPlace, name: string): string => path.join(place.logs, `${name}.log`)

/** Starts the daemon unless it already runs with the same settings. Resolves to true when it was started. */
export async function ensureDaemon(place: DaemonPlace, daemon: Daemon): Promise<boolean> {
  if (await isDaemonCurrent(place, daemon)) return false
  await stopDaemon(place, daemon.name)
  await startDaemon(place, daemon)
  return true
}

/** True when the daemon runs with exactly these settings. */
export async function isDaemonCurrent(place: DaemonPlace, daemon: Daemon): Promise<boolean> {
  const record = await readRecord(place, daemon.name)
  return record?.fingerprint === fingerprintOf(daemon) && (await isRunning(record))
}

/** Starts the daemon without checking whether it already runs. */
export async function startDaemon(place: DaemonPlace, daemon: Daemon): Promise<void> {
  await mkdir(place.records, { recursive: true })
  await mkdir(place.logs, { recursive: true })
  const log = await open(logOf(place, daemon.name), 'w')
  // Uses `nsenter --net` because `ip netns exec` mounts a new /sys, which hides the cgroups. The wrappers exec, so the process id is the
  // program's own.
  const inNamespace = daemon.networkNamespace ? ['nsenter', `--net=${daemon.networkNamespace}`] : []
  // The kernel sends the signal even when this process is killed and runs no exit handler.
  const endsWithParent = ending.has(place) ? [WRAPPER, '--pdeathsig', 'KILL'] : []
  const [command, ...args] = [...endsWithParent, ...inNamespace, daemon.command, ...daemon.args] as [string, ...string[]]
  const child = spawn(command, args, {
    cwd: daemon.directory,
    env: { ...process.env, ...daemon.environment },
    detached: true, // Ctrl-C must end `npm start`, but not the cluster
    stdio: ['ignore', log.fd, log.fd, ...(daemon.descriptors ?? [])],
  })
  child.unref()
  const failed = new Promise<never>((_, reject) => child.once('error', reject))
  failed.catch(() => {})
  await log.close()
  if (child.pid !== undefined && ending.has(place)) await whenWrapped(child.pid)
  const identity = child.pid === undefined ? undefined : await identify(child.pid)
  if (!identity)
    await Promise.race([failed, Promise.reject(new Error(`${daemon.name} ended immediately: see ${logOf(place, daemon.name)}`))])
  await writeRecord(place, daemon.name, { ...identity!, fingerprint: fingerprintOf(daemon) })
}

const WRAPPER = 'setpriv'

/** Resolves when the wrapper has executed the program or has ended. Before that, the parent-death signal is not set. */
async function whenWrapped(pid: number): Promise<void> {
  const isWrapper = async () => {
    const program = await readlink(`/proc/${pid}/exe`).catch(() => '')
    return path.basename(program) === WRAPPER
  }
  await waitFor('the program', async () => !(await isWrapper()), { timeoutMilliseconds: 30_000, intervalMilliseconds: 2 })
}

/** True when the daemon that was recorded under this name still runs. */
export async function isDaemonRunning(place: DaemonPlace, name: string): Promise<boolean> {
  const record = await readRecord(place, name)
  return record !== undefined && (await isRunning(record))
}

/** Why a daemon does not run anymore. Undefined while it runs. */
export const findEnd = async (place: DaemonPlace, name: string): Promise<string | undefined> =>
  (await isDaemonRunning(place, name)) ? undefined : `${name} ended: see ${logOf(place, name)}`

/** Stops a daemon with SIGTERM, and with SIGKILL after the grace period. A process that reuses its number is not touched. */
export async function stopDaemon(place: DaemonPlace, name: string, graceMilliseconds = 3_000): Promise<boolean> {
  const record = await readRecord(place, name)
  if (!record) return false
  const wasRunning = await isRunning(record)
  if (wasRunning) {
    await signal(record, 'SIGTERM')
    if (!(await hasEnded(record, graceMilliseconds))) {
      await signal(record, 'SIGKILL')
      await hasEnded(record, 5_000)
    }
  }
  await rm(recordPath(place, name), { force: true })
  return wasRunning
}

/** Stops a daemon with SIGKILL, which also ends a frozen one. After SIGTERM, an API server waits up to a minute for open watches. */
export async function killDaemon(place: DaemonPlace, name: string): Promise<void> {
  await signalDaemon(place, name, 'SIGKILL')
  await stopDaemon(place, name)
}

/** Sends a signal to a daemon. Tests use it to kill or freeze one. */
export async function signalDaemon(place: DaemonPlace, name: string, which: NodeJS.Signals): Promise<void> {
  const record = await readRecord(place, name)
  if (record) await signal(record, which)
}

/** Stops a daemon with SIGSTOP. Resolves when none of its threads runs anymore, because until then it may still respond. */
export async function freezeDaemon(place: DaemonPlace, name: string): Promise<void> {
  const record = await readRecord(place, name)
  if (!record) return
  await signal(record, 'SIGSTOP')
  await waitFor(`${name} to stop`, () => areThreadsHalted(record.pid), { timeoutMilliseconds: 10_000, intervalMilliseconds: 1 })
}

/** Also true when the process has ended. */
async function areThreadsHalted(pid: number): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const stats = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8').catch(() => undefined)))
  return stats.every((stat) => stat === undefined || isHalted(stat))
}

const ending = new Set<DaemonPlace>()

/**
 * Daemons that start with these directories from now on are killed when this process ends for any reason. tap runs no teardown when a test throws
 * before its first assertion or times out. Returns a function that turns this off for daemons that start later.
 */
export function endWithProcess(place: DaemonPlace): () => void {
  ending.add(place)
  return () => ending.delete(place)
}

async function hasEnded(record: DaemonRecord, timeoutMilliseconds: number): Promise<boolean> {
  try {
    await waitFor('end', async () => !(await isRunning(record)), { timeoutMilliseconds, intervalMilliseconds: 25 })
    return true
  } catch {
    return false
  }
}

async function readRecord(place: DaemonPlace, name: string): Promise<DaemonRecord | undefined> {
  try {
    return JSON.parse(await readFile(recordPath(place, name), 'utf8')) as DaemonRecord
  } catch {
    return undefined // never started, or the machine crashed while the file was written
  }
}

async function writeRecord(place: DaemonPlace, name: string, record: DaemonRecord): Promise<void> {
  const file = recordPath(place, name)
  await writeFile(`${file}.new`, JSON.stringify(record))
  await rename(`${file}.new`, file)
}

const recordPath = (place: DaemonPlace, name: string): string => path.join(place.records, `${name}.json`)
