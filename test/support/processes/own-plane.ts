import { mkdtempSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Test } from 'tap'
import { type ControlPlane, type OwnPlaneOptions, startControlPlane } from '../../cluster/kubernetes/control-plane.ts'

/** Registers teardowns: a tap test, or another owner. */
export type Ends = Pick<Test, 'teardown'>

/** The control plane of one test file, and the directory of its files. */
export type OwnPlane = ControlPlane & { directory: string }

/** Starts an API server that ends with the test file, which also removes its files. */
export async function startOwnPlane(t: Ends, options: Pick<OwnPlaneOptions, 'fsync'> = {}): Promise<OwnPlane> {
  const directory = mkdtempSync(path.join(tmpdir(), 'tintype-test-'))
  const plane = await startControlPlane({ directory, ...options })
  // Must run after the exit handler of startControlPlane, which reads from the directory what to kill.
  const abandon = () => rmSync(directory, { recursive: true, force: true })
  process.once('exit', abandon)
  t.teardown(async () => {
    await plane.stop()
    await rm(directory, { recursive: true, force: true })
    process.off('exit', abandon)
  })
  return { ...plane, directory }
}
