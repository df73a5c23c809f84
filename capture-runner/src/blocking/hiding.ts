import { type FiltersEngine, Request } from '@ghostery/adblocker'
import type { PageFacts } from '../page/functions.ts'

/** Style sheet that hides the elements matched by the engines. Pure function. */
export function findHidingRules(engines: readonly FiltersEngine[], { url, ids, classes, hrefs }: PageFacts): string {
  const { hostname, domain } = Request.fromRawDetails({ url, type: 'main_frame' })
  if (!hostname) return ''
  const sheets = engines.map(
    (engine) => engine.getCosmeticsFilters({ url, hostname, domain, ids, classes, hrefs, getInjectionRules: false }).styles,
  )
  return sheets.filter((sheet) => sheet !== '').join('\n')
}
