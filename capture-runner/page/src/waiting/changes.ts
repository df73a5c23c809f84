import type { PageFunctions } from '../../../src/page/functions.ts'
import { recall, remember } from '../shared/state.ts'

export const EVERYTHING = { subtree: true, childList: true, attributes: true, characterData: true }

/** The observer's callback, where scripts run, only counts. */
export const countChanges: PageFunctions['countChanges'] = () => {
  const watch = recall('tintypeChanges') ?? remember('tintypeChanges', startWatch())
  const changes = watch.count + watch.observer.takeRecords().length
  watch.count = 0
  return changes
}

function startWatch() {
  const observer = new MutationObserver((records) => {
    watch.count += records.length
  })
  const watch = { count: 0, observer }
  observer.observe(document, EVERYTHING)
  return watch
}
