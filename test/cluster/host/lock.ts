/** Allows one `npm start`, `npm stop` or image build at a time. The lock file names its holder. A lock whose process has ended is ignored. */
import { randomUUID } from 'node:crypto'
import { link, mkdir, readFile, rm, unlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { identify, isRunning, type ProcessIdentity } from './process-identity.ts'
import { waitFor } from './wait.ts'

const lockTimeoutMilliseconds = 30 * 60_000

/** Runs the work while holding the lock. Calls `onWait` with the process id of the holder that it waits for. */
export async function withLock<T>(file: string, work: () => Promise<T>, onWait: (pid: number) => void = () => {}): Promise<T> {
  await mkdir(path.dirname(file), { recursive: true })
  const own = `${file}.${randomUUID()}`
  await writeFile(own, JSON.stringify(await identify(process.pid)))
  let reportedPid: number | undefined
  const reportHolder = (pid: number) => {
    if (pid !== reportedPid) onWait(pid)
    reportedPid = pid
  }
  try {
    await waitFor('the other run', () => takeOver(own, file, reportHolder), {
      timeoutMilliseconds: lockTimeoutMilliseconds,
      intervalMilliseconds: 500,
    })
  } finally {
    await unlink(own)
  }
  try {
    return await work()
  } finally {
    await rm(file, { force: true })
  }
}

/** A hard link is created atomically, so no reader sees an incomplete file. */
async function takeOver(own: string, file: string, onHeld: (pid: number) => void): Promise<boolean> {
  try {
    await link(own, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const holder = await readHolder(file)
  if (holder && (await isRunning(holder))) {
    onHeld(holder.pid)
    return false
  }
  await rm(file, { force: true }) // its holder was killed
  return false
}

async function readHolder(file: string): Promise<ProcessIdentity | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as ProcessIdentity
  } catch {
    return undefined
  }
}
