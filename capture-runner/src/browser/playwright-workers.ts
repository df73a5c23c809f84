import type { Page } from 'playwright'
import type { Lifecycle } from './lifecycle.ts'
import type { PageEvents } from './page-events.ts'
import { pageSessionOf, workerSessionsOf } from './playwright-internals.ts'

/** Counts requests of the page's workers in the lifecycle. Playwright has already attached to them and enabled their events. */
export function followWorkers(page: Page, lifecycle: Lifecycle): void {
  const session = pageSessionOf(page)
  const workers = workerSessionsOf(page)
  if (session && workers) followWorkersOf(session, workers, lifecycle)
}

/** Follows the workers of a page or of a worker. Returns a function that stops this. */
function followWorkersOf(parent: PageEvents, workers: ReadonlyMap<string, PageEvents>, lifecycle: Lifecycle): () => void {
  const ends = new Map<string, () => void>()
  const end = (sessionId: string) => {
    ends.get(sessionId)?.()
    ends.delete(sessionId)
  }
  parent.on('Target.attachedToTarget', ({ sessionId, targetInfo }) => {
    const worker = workers.get(sessionId)
    if (!worker) return
    const endOwn = lifecycle.followWorker(worker, targetInfo.targetId)
    const endInner = followWorkersOf(worker, workers, lifecycle)
    ends.set(sessionId, () => {
      endInner()
      endOwn()
    })
  })
  parent.on('Target.detachedFromTarget', ({ sessionId }) => end(sessionId))
  return () => {
    for (const sessionId of [...ends.keys()]) end(sessionId)
  }
}
