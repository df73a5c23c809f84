import { createHash } from 'node:crypto'
import { CaptureError } from '../../../capture-runner/src/runtime/errors.ts'
import type { Studio } from '../../integration/capture-runner/stage/studio.ts'
import type { Page } from './page.ts'
import type { CorpusSite } from './site.ts'
import type { Mode } from './slow.ts'

// Counts distinct files of repeated captures of the same page. Captures with and without the wait for visual stability alternate, so that both run
// under the same load.

/** Distinct files of one page. */
export interface Distinct {
  name: string
  mode: Mode
  moves: boolean
  /** Without and with the wait for visual stability. */
  without: number
  withWait: number
}

/** Captures each page `times` times in each way. */
export async function countDistinct(
  studio: Studio,
  site: CorpusSite,
  pages: readonly Page[],
  modes: readonly Mode[],
  times: number,
  onPage: (distinct: Distinct) => void,
): Promise<Distinct[]> {
  const all: Distinct[] = []
  for (const page of pages) {
    for (const mode of modes) {
      const files = { without: new Set<string>(), withWait: new Set<string>() }
      for (let time = 0; time < times; time++) {
        files.without.add(await fileOf(studio, site.urlOf(page), mode, { stabilityTimeout: 0 }))
        files.withWait.add(await fileOf(studio, site.urlOf(page), mode, {}))
      }
      const distinct = { name: page.name, mode, moves: page.moves ?? false, without: files.without.size, withWait: files.withWait.size }
      onPage(distinct)
      all.push(distinct)
    }
  }
  return all
}

/** A hash of the file, or the code of the failure. */
async function fileOf(studio: Studio, url: string, mode: Mode, options: { stabilityTimeout?: number }): Promise<string> {
  try {
    const { picture } = await studio.shoot(url, { ...options, ...(mode === 'full' ? { fullPage: true } : {}) })
    return createHash('sha256').update(picture).digest('hex')
  } catch (error) {
    if (!(error instanceof CaptureError)) throw error
    return error.code
  }
}

/** One line for the terminal. */
export const writeDistinct = ({ name, mode, moves, without, withWait }: Distinct): string =>
  `${mode.padEnd(7)} ${name.padEnd(24)} ${String(without).padStart(3)} ${String(withWait).padStart(3)}${moves ? '  moves' : ''}`

/** Number of pages with only one distinct file. */
export function summarize(all: readonly Distinct[], times: number): string {
  const still = all.filter(({ moves }) => !moves)
  const same = (count: (distinct: Distinct) => number) => still.filter((distinct) => count(distinct) === 1).length
  return `${still.length} pages without endless motion, ${times} captures each: one file without the wait ${same(({ without }) => without)}, with it ${same(({ withWait }) => withWait)}`
}
