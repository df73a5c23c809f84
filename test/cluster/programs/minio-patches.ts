/** Our changes to MinIO's source: charts/images/minio holds them and says what they are for. */
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { run } from '../host/exec.ts'
import { repository } from '../host/state.ts'

const imageDirectory = path.join(repository, 'charts/images/minio')

export interface Patch {
  name: string
  /** A unified diff with a header that says why. */
  text: string
}

export interface Modifications {
  /** What the licence asks to be told of a modified version. */
  notice: string
  /** In the order in which they are applied. */
  patches: readonly Patch[]
}

/** Reads the notice and the patches, in the order of their names. */
export async function readModifications(directory = imageDirectory): Promise<Modifications> {
  const patches = await readPatches(path.join(directory, 'patches'))
  return { notice: await readFile(path.join(directory, 'THIRD_PARTY_NOTICES'), 'utf8'), patches }
}

/** Reads what upstream's own tests need on top; it is in no build. */
export const readTestPatches = (): Promise<Patch[]> => readPatches(path.join(imageDirectory, 'tests'))

async function readPatches(directory: string): Promise<Patch[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.patch')).sort()
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(path.join(directory, name), 'utf8') })))
}

/** Applies the patches to a copy of the source, exactly: no hunk may have moved. @throws when one does not apply */
export async function applyPatches(source: string, patches: readonly Patch[]): Promise<void> {
  for (const { name, text } of patches) {
    const args = ['--directory', source, '--strip=1', '--forward', '--batch', '--fuzz=0', '--no-backup-if-mismatch']
    const output = await run('patch', args, { input: text }).catch((cause: Error & { output?: string }) => {
      throw new Error(`${name} does not apply to the source of MinIO: ${cause.output ?? cause.message}`, { cause })
    })
    if (output.includes('offset')) throw new Error(`${name} was made for other source of MinIO: ${output}`)
  }
}

/** What the server gives to those who ask it for its source. */
export function sourceNotice({ notice, patches }: Modifications): string {
  return [notice, ...patches.map(({ name, text }) => `==== ${name} ====\n\n${text}`)].join('\n')
}
