import path from 'node:path'
import { repository } from '../../cluster/host/state.ts'
import type { LoopOrder, LoopResult } from '../bare-loop.ts'
import { VIEWPORT } from '../sequential.ts'
import type { Contender } from './contender.ts'
import { openLines } from './lines.ts'
import { processorSeconds } from './processor.ts'

const PROGRAM = path.join(import.meta.dirname, '../bare-loop.ts')

/** The bare loop on this machine, with one browser per lane, by raw DevTools or page.screenshot(). */
export function openBare(executablePath: string): { raw: Contender; library: Contender; reference: Contender } {
  const env = { ...process.env, BARE_MODULES: path.join(repository, 'capture-runner/package.json'), BARE_CHROMIUM: executablePath }
  const loop = openLines<LoopOrder, LoopResult>(process.execPath, [PROGRAM], env)
  const contender = (name: string, way: LoopOrder['way'], lanes: readonly number[]): Contender => ({
    name,
    lanes,
    run: async (pages, browsers) => {
      const answer = await loop.ask({ pages, count: 1, browsers, way, viewport: VIEWPORT, pictures: true })
      const pictures = Object.entries(answer.pictures).map(([page, text]) => [page, Buffer.from(text, 'base64')] as const)
      return { milliseconds: answer.totalMilliseconds, pictures: new Map(pictures) }
    },
    processorSeconds: () => processorSeconds([loop.pid]),
    close: loop.close,
  })
  return {
    raw: contender('bare loop', 'raw', [1, 2, 4]),
    library: contender('bare loop, page.screenshot()', 'library', [1, 2, 4]),
    reference: contender('reference', 'reference', [1]),
  }
}
