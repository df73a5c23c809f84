import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Ends } from './processes/own-plane.ts'

/** Creates a directory for files of a test or scenario. It is removed at the end. */
export async function createDirectory(ends: Ends, purpose: string): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), `tintype-${purpose}-`))
  ends.teardown(() => rm(directory, { recursive: true, force: true }))
  return directory
}
