/** One `npm start`, `npm stop` or image build at a time: a file that names the process that holds it; one whose process has ended is void. */
import { link, mkdir, readFile, rm, unlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { identify, isRunning, type ProcessIdentity } from './process-identity.ts'
import { waitFor } from './wait.ts'

const patienceMilliseconds = 30 * 60_000

/** Runs the work while holding the lock; `onWait` is told whose end is waited for. */
export async function withLock<T>(file: string, work: () => Promise<T>, onWait: (pid: number) => void = () => {}): Promise<T> {
  await mkdir(path.dirname(file), { recursive: true })
  const own = `${file}.${process.pid}`
  await writeFile(own, JSON.stringify(await identify(process.pid)))
  let told: number | undefined
  const tell = (pid: number) => {
    if (pid !== told) onWait(pid)
    told = pid
  }
  try {
    await waitFor('the other run', () => takeOver(own, file, tell), {
      timeoutMilliseconds: patienceMilliseconds,
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

/** A hard link appears whole or not at all, so no reader sees half a holder. */
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
