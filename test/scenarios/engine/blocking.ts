import path from 'node:path'
import { openLists } from '../../../capture-runner/src/blocking/lists.ts'
import { RequestEvaluator } from '../../../capture-runner/src/blocking/request-evaluator.ts'
import type { EngineName } from '../../../capture-runner/src/plan/blocking.ts'
import { ensureLists } from '../../cluster/images/lists.ts'
import { scenario } from '../harness/scenario.ts'
import { type KnownAddress, readForeignList, UNWANTED, WANTED } from './stage/foreign-list.ts'

/** A page to which all requests are third-party. */
const PAGE = 'https://news.example/'
const ENGINES: readonly EngineName[] = ['ads', 'trackers']

/** Recall and false positives of `block_ads` and `block_trackers` on an independent list, and the time per decision. */
export const blocking = scenario({
  name: 'blocking',
  shows: 'the filter lists, with URLs of a list that is not one of their sources',
  run: async ({ table }) => {
    const lists = openLists(path.join(await ensureLists(), 'lists'))
    const loads: string[][] = []
    for (const name of ENGINES) {
      const started = performance.now()
      await lists.engine(name)
      loads.push([`${name}, read`, `${(performance.now() - started).toFixed(0)} ms`])
    }
    const engines = await Promise.all(ENGINES.map((name) => lists.engine(name)))
    const rules = { engines: ENGINES, refused: [], refusedKinds: [], allowed: [], thirdParty: false }
    const evaluator = new RequestEvaluator(PAGE, rules, engines)
    const isRefused = ({ url }: KnownAddress): boolean =>
      evaluator.evaluate({ url, resourceType: 'Script', isPage: false, documentUrl: PAGE }) !== 'pass'
    const known = await readForeignList()
    const decisions = known.map((address) => ({ ...address, isRefused: isRefused(address) }))
    // The engine initializes parts at their first use, so the measurement starts after a warm-up, as in a runner that has blocked before.
    const before = process.cpuUsage()
    for (const address of known) isRefused(address)
    const { user, system } = process.cpuUsage(before)
    const each = (user + system) / known.length
    const count = (category: string): string[] => {
      const of = decisions.filter((decision) => decision.category === category)
      const refused = of.filter((decision) => decision.isRefused).length
      return [category, String(of.length), String(refused), `${((100 * refused) / Math.max(1, of.length)).toFixed(1)} %`]
    }
    const { updated } = await lists.versions()
    table({
      title: 'Recall of block_ads and block_trackers on URLs of Ghostery’s list, which is not one of their sources',
      head: ['category', 'URLs', 'blocked', 'recall'],
      rows: Object.keys(UNWANTED).map(count),
    })
    table({
      title: 'False positives of block_ads and block_trackers on URLs that pages need',
      head: ['category', 'URLs', 'blocked', 'false positives'],
      rows: WANTED.map(count),
    })
    table({
      title: `Cost; the lists are of ${updated.slice(0, 10)}`,
      head: ['part', 'time'],
      rows: [...loads, ['processor time per decision', `${each.toFixed(0)} µs`]],
    })
  },
})
