import type { Page } from 'playwright-core'
import type { Lifecycle } from './lifecycle.ts'
import { findClient, mainSessionOf, type PageEvents } from './page-events.ts'

/** Has the lifecycle count what the page's workers load. Playwright has attached to them and has them tell it already. */
export function followWorkers(page: Page, lifecycle: Lifecycle): void {
  const client = findClient(page)
  const workers = mainSessionOf(page)?._workerSessions
  if (client && workers) followWorkersOf(client, workers, lifecycle)
}

/** Follows the workers of a page or of a worker. Returns a function that ends them all. */
function followWorkersOf(parent: PageEvents, workers: ReadonlyMap<string, PageEvents>, lifecycle: Lifecycle): () => void {
  const ends = new Map<string, () => void>()
  const end = (sessionId: string) => {
    ends.get(sessionId)?.()
    ends.delete(sessionId)
  }
  parent.on('Target.attachedToTarget', ({ sessionId, targetInfo }) => {
    const worker = workers.get(sessionId)
    if (!worker) return
    const endOwn = lifecycle.attendWorker(worker, targetInfo.targetId)
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
