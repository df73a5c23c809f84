import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Test } from 'tap'
import { type ControlPlane, type OwnPlaneOptions, startControlPlane } from '../cluster/control-plane.ts'

/** What needs to be ended knows when: a tap test, or whatever else ends. */
export type Ends = Pick<Test, 'teardown'>

/** A control plane of one test file's own, and the directory that holds its files. */
export type OwnPlane = ControlPlane & { directory: string }

/**
 * Starts an API server that ends with the test file, also when the file throws before its first test: tap runs no teardown then, and the
 * server would stay for ever.
 */
export async function startOwnPlane(t: Ends, options: Pick<OwnPlaneOptions, 'fsync'> = {}): Promise<OwnPlane> {
  const directory = mkdtempSync(path.join(tmpdir(), 'tintype-test-'))
  const abandon = () => endAtOnce(directory)
  process.once('exit', abandon)
  const plane = await startControlPlane({ directory, ...options })
  t.teardown(async () => {
    await plane.stop()
    await rm(directory, { recursive: true, force: true })
    process.off('exit', abandon)
  })
  return { ...plane, directory }
}

/** Nothing asynchronous happens any more while a process exits. */
function endAtOnce(directory: string): void {
  const records = path.join(directory, 'daemons')
  for (const file of readdirSync(records)) {
    const { pid } = JSON.parse(readFileSync(path.join(records, file), 'utf8')) as { pid: number }
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // it has ended by itself
    }
  }
  rmSync(directory, { recursive: true, force: true })
}
