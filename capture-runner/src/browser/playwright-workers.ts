import type { Page } from 'playwright'
import type { Lifecycle } from './lifecycle.ts'
import type { PageEvents } from './page-events.ts'
import { followChildren, pageSessionOf, workerSessionsOf } from './playwright-internals.ts'

/** Evaluates an expression in all later workers of the page, before their first line. */
export function addWorkerScript(page: Page, expression: string): void {
  const session = pageSessionOf(page)
  // Frames of other processes are children, too.
  const guarded = { expression: `typeof document === 'undefined' && ${expression}` }
  if (session) followChildren(session, (child) => void child.send('Runtime.evaluate', guarded).catch(() => {}))
}

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
