/** Patches for MinIO's source. charts/images/minio has the patches and their reasons. */
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { run } from '../host/exec.ts'
import { repository } from '../host/state.ts'

const imageDirectory = path.join(repository, 'charts/images/minio')

export interface Patch {
  name: string
  /** A unified diff with a header that explains the reason. */
  text: string
}

export interface Modifications {
  /** The notice of a modified version that the license requires. */
  notice: string
  /** In the order of application. */
  patches: readonly Patch[]
}

/** Reads the notice and the patches, in the order of their names. */
export async function readModifications(directory = imageDirectory): Promise<Modifications> {
  const patches = await readPatches(path.join(directory, 'patches'))
  return { notice: await readFile(path.join(directory, 'THIRD_PARTY_NOTICES'), 'utf8'), patches }
}

/** Reads the patch that upstream's own tests also need. No build contains it. */
export const readTestPatches = (): Promise<Patch[]> => readPatches(path.join(imageDirectory, 'tests'))

async function readPatches(directory: string): Promise<Patch[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.patch')).sort()
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(path.join(directory, name), 'utf8') })))
}

/** Applies the patches to a copy of the source without any offset of hunks. @throws when one does not apply */
export async function applyPatches(source: string, patches: readonly Patch[]): Promise<void> {
  for (const { name, text } of patches) {
    const args = ['--directory', source, '--strip=1', '--forward', '--batch', '--fuzz=0', '--no-backup-if-mismatch']
    const output = await run('patch', args, { input: text }).catch((cause: Error & { output?: string }) => {
      throw new Error(`${name} does not apply to the source of MinIO: ${cause.output ?? cause.message}`, { cause })
    })
    if (output.includes('offset')) throw new Error(`${name} was written for another version of MinIO: ${output}`)
  }
}

/** The archive that the server offers as its source. */
export function sourceNotice({ notice, patches }: Modifications): string {
  return [notice, ...patches.map(({ name, text }) => `==== ${name} ====\n\n${text}`)].join('\n')
}
