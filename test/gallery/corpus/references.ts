import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { PictureHash } from './compare.ts'
import type { Mode } from './slow.ts'

/** An approved picture. */
export interface Reference extends PictureHash {
  /** Day, such as 2026-11-24. */
  approved: string
  /** Captured by the runner, or by plain Playwright with long waits. */
  source: Source
  /** Note for reviewers. */
  note?: string
}

export type Source = 'runner' | 'slow'

/** By names of pages. */
export type References = Record<string, Partial<Record<Mode, Reference>>>

const FILE = path.join(import.meta.dirname, 'references.json')

export const readReferences = async (file = FILE): Promise<References> =>
  existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as References) : {}

/** Writes them sorted by name, so that a change is a small diff. */
export async function writeReferences(references: References, file = FILE): Promise<void> {
  const sorted = Object.fromEntries(Object.entries(references).sort(([one], [other]) => (one < other ? -1 : 1)))
  await writeFile(file, `${JSON.stringify(sorted, undefined, 1)}\n`)
}
