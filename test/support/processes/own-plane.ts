import { mkdtempSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Test } from 'tap'
import { type ControlPlane, type OwnPlaneOptions, startControlPlane } from '../../cluster/kubernetes/control-plane.ts'

/** What needs to be ended knows when: a tap test, or whatever else ends. */
export type Ends = Pick<Test, 'teardown'>

/** A control plane of one test file's own, and the directory that holds its files. */
export type OwnPlane = ControlPlane & { directory: string }

/** Starts an API server that ends with the test file; nothing of it is left then. */
export async function startOwnPlane(t: Ends, options: Pick<OwnPlaneOptions, 'fsync'> = {}): Promise<OwnPlane> {
  const directory = mkdtempSync(path.join(tmpdir(), 'tintype-test-'))
  const plane = await startControlPlane({ directory, ...options })
  // After what startControlPlane does at the same moment: it reads there what is to be killed.
  const abandon = () => rmSync(directory, { recursive: true, force: true })
  process.once('exit', abandon)
  t.teardown(async () => {
    await plane.stop()
    await rm(directory, { recursive: true, force: true })
    process.off('exit', abandon)
  })
  return { ...plane, directory }
}
