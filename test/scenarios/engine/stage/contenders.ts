import path from 'node:path'
import { viewportDefaults } from '@tintype/crds/options/page/viewport'
import { repository } from '../../../cluster/host/state.ts'
import { openLines } from '../../harness/line-program.ts'
import { processorSeconds } from '../../harness/processes.ts'
import type { LoopOrder, LoopResult } from './bare-loop.ts'

/** One capture method in the engine benchmark. */
export interface Contender {
  name: string
  /** Captures each page once, a number of pages at a time. */
  run: (pages: readonly string[], lanes: number) => Promise<Run>
  /** Seconds of processor time used so far, including its browsers. */
  processorSeconds: () => number
  close: () => Promise<void>
}

/** Results of one run. */
export interface Run {
  milliseconds: number
  /** Encoded pictures by page, read after the measurement. */
  pictures: ReadonlyMap<string, Buffer>
}

export const VIEWPORT = { width: viewportDefaults.viewportWidth, height: viewportDefaults.viewportHeight }

const toRun = ({ totalMilliseconds, pictures }: LoopResult): Run => ({
  milliseconds: totalMilliseconds,
  pictures: new Map(Object.entries(pictures).map(([page, text]) => [page, Buffer.from(text, 'base64')])),
})

/** The bare loop on this machine, with one browser per lane, by raw DevTools or page.screenshot(). */
export function openBare(executablePath: string): { raw: Contender; library: Contender; reference: Contender } {
  const program = path.join(import.meta.dirname, 'bare-loop.ts')
  const env = { ...process.env, BARE_MODULES: path.join(repository, 'capture-runner/package.json'), BARE_CHROMIUM: executablePath }
  const loop = openLines<LoopOrder, LoopResult>(process.execPath, [program], env)
  const contender = (name: string, way: LoopOrder['way']): Contender => ({
    name,
    run: async (pages, browsers) => toRun(await loop.ask({ pages, count: 1, browsers, way, viewport: VIEWPORT, pictures: true })),
    processorSeconds: () => processorSeconds([loop.pid]),
    close: loop.close,
  })
  return {
    raw: contender('bare loop', 'raw'),
    library: contender('bare loop, page.screenshot()', 'library'),
    reference: contender('reference', 'reference'),
  }
}
