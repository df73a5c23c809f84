/**
 * The cluster's long-lived programs: started apart from the terminal, found again by the next command, restarted when they are dead or
 * when their command line or configuration changed. There is no supervisor: `npm start` repairs what is broken.
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
  /** Anything else that must restart it when it changes, such as the text of its configuration file. */
  configuration?: string
  /** Listening sockets and the like, from descriptor 3 on. */
  descriptors?: readonly number[]
}

/** Where daemons' records and logs are kept. */
export interface DaemonPlace {
  records: string
  logs: string
}

interface DaemonRecord extends ProcessIdentity {
  fingerprint: string
}

/** A short digest of all that decides how the daemon runs. */
export function fingerprintOf(daemon: Daemon): string {
  const { command, args, networkNamespace, environment, configuration } = daemon
  return createHash('sha256')
    .update(JSON.stringify([command, args, networkNamespace, environment, configuration]))
    .digest('hex')
    .slice(0, 16)
}

/** The log of a daemon; it begins anew with each start. */
export const logOf = (place: DaemonPlace, name: string): string => path.join(place.logs, `${name}.log`)

/** Starts the daemon unless it runs already, with the same settings. Resolves to whether it was started. */
export async function ensureDaemon(place: DaemonPlace, daemon: Daemon): Promise<boolean> {
  if (await isDaemonCurrent(place, daemon)) return false
  await stopDaemon(place, daemon.name)
  await startDaemon(place, daemon)
  return true
}

/** Whether the daemon runs with just these settings. */
export async function isDaemonCurrent(place: DaemonPlace, daemon: Daemon): Promise<boolean> {
  const record = await readRecord(place, daemon.name)
  return record?.fingerprint === fingerprintOf(daemon) && (await isRunning(record))
}

/** Starts the daemon without a look at what runs. */
export async function startDaemon(place: DaemonPlace, daemon: Daemon): Promise<void> {
  await mkdir(place.records, { recursive: true })
  await mkdir(place.logs, { recursive: true })
  const log = await open(logOf(place, daemon.name), 'w')
  // `nsenter --net`, not `ip netns exec`: that one mounts a fresh /sys and so hides the cgroups. Both wrappers exec, so the process id is
  // the program's own.
  const inNamespace = daemon.networkNamespace ? ['nsenter', `--net=${daemon.networkNamespace}`] : []
  // The kernel sends the signal even when this process is killed and runs no exit handler.
  const endsWithParent = ending.has(place) ? [WRAPPER, '--pdeathsig', 'KILL'] : []
  const [command, ...args] = [...endsWithParent, ...inNamespace, daemon.command, ...daemon.args] as [string, ...string[]]
  const child = spawn(command, args, {
    cwd: daemon.directory,
    env: { ...process.env, ...daemon.environment },
    detached: true, // Ctrl-C at the terminal is for `npm start`, not for the cluster
    stdio: ['ignore', log.fd, log.fd, ...(daemon.descriptors ?? [])],
  })
  child.unref()
  const failed = new Promise<never>((_, reject) => child.once('error', reject))
  failed.catch(() => {})
  await log.close()
  if (child.pid !== undefined && ending.has(place)) await whenWrapped(child.pid)
  const identity = child.pid === undefined ? undefined : await identify(child.pid)
  if (!identity) await Promise.race([failed, Promise.reject(new Error(`${daemon.name} ended at once: see ${logOf(place, daemon.name)}`))])
  await writeRecord(place, daemon.name, { ...identity!, fingerprint: fingerprintOf(daemon) })
}

const WRAPPER = 'setpriv'

/** Resolves when the wrapper has become the program, or has ended: until then, the signal is not yet asked for. */
async function whenWrapped(pid: number): Promise<void> {
  const isWrapper = async () => {
    const program = await readlink(`/proc/${pid}/exe`).catch(() => '')
    return path.basename(program) === WRAPPER
  }
  await waitFor('the program', async () => !(await isWrapper()), { timeoutMilliseconds: 30_000, intervalMilliseconds: 2 })
}

/** Whether the daemon that was recorded under this name still runs. */
export async function isDaemonRunning(place: DaemonPlace, name: string): Promise<boolean> {
  const record = await readRecord(place, name)
  return record !== undefined && (await isRunning(record))
}

/** Ends a daemon: asked first, killed after the grace. One that is not ours any more is left alone. */
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

/** Sends a signal to a daemon, as tests do that kill or freeze one. */
export async function signalDaemon(place: DaemonPlace, name: string, which: NodeJS.Signals): Promise<void> {
  const record = await readRecord(place, name)
  if (record) await signal(record, which)
}

/** Stops a daemon with SIGSTOP, and resolves when none of its threads runs any more: until then it may still answer. */
export async function freezeDaemon(place: DaemonPlace, name: string): Promise<void> {
  const record = await readRecord(place, name)
  if (!record) return
  await signal(record, 'SIGSTOP')
  await waitFor(`${name} to stand still`, () => areThreadsHalted(record.pid), { timeoutMilliseconds: 10_000, intervalMilliseconds: 1 })
}

/** True also when it has ended. */
async function areThreadsHalted(pid: number): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const stats = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8').catch(() => undefined)))
  return stats.every((stat) => stat === undefined || isHalted(stat))
}

const ending = new Set<DaemonPlace>()

/**
 * Daemons that are started in this place from now on are killed when this process ends, however it ends: tap runs no teardown when a test
 * throws before its first assertion or takes too long. Returns a function that takes the place out again, for daemons that start later.
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
    return undefined // never started, or the machine went down while it was written
  }
}

async function writeRecord(place: DaemonPlace, name: string, record: DaemonRecord): Promise<void> {
  const file = recordPath(place, name)
  await writeFile(`${file}.new`, JSON.stringify(record))
  await rename(`${file}.new`, file)
}

const recordPath = (place: DaemonPlace, name: string): string => path.join(place.records, `${name}.json`)
