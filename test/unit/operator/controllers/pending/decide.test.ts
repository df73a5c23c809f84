import t from 'tap'
import type { Screenshot, ScreenshotSpec } from '../../../../../crds/src/kinds/screenshot.ts'
import type { Condition } from '../../../../../crds/src/schema/conditions.ts'
import {
  decide,
  type Obstacle,
  type PendingDecision,
  type PendingScreenshot,
} from '../../../../../operator/src/controllers/pending/decide.ts'
import { aScreenshot, at, NOON } from '../../../../support/fakes/builders.ts'

const missingPool: Obstacle = { code: 'POOL_NOT_FOUND', reason: 'PoolNotFound', message: 'RunnerPool large does not exist' }
const limits = { maxQueued: 3, unrunnableMilliseconds: 600_000 }

interface Given {
  spec?: Partial<ScreenshotSpec>
  /** Since when its condition says that it cannot run. */
  since?: Date
  reason?: string
  obstacle?: Obstacle
  second?: number
}
function waiting(name: string, { spec = {}, since, reason = 'PoolNotFound', obstacle, second = 0 }: Given = {}): PendingScreenshot {
  const runnable = { type: 'Runnable', status: 'False', reason, message: 'm' } as const
  const conditions: Condition[] = since ? [{ ...runnable, lastTransitionTime: since.toISOString() }] : []
  const shot = aScreenshot({ name, spec, status: { phase: 'Pending', conditions } })
  return { shot: { ...shot, metadata: { ...shot.metadata, creationTimestamp: at(second).toISOString() } } as Screenshot, obstacle }
}
const summarize = ({ actions }: PendingDecision): string[] =>
  actions.map((action) => `${action.do} ${action.shot.metadata.name}${action.do === 'fail' ? ` ${action.code}` : ''}`)

t.test('decide does nothing for Screenshots that can run within the limit', async (t) => {
  t.strictSame(
    decide(
      ['a', 'b', 'c'].map((name) => waiting(name)),
      limits,
      NOON,
    ),
    { actions: [], nextMilliseconds: undefined },
  )
})

t.test('decide notes once why a Screenshot cannot run, and fails it after the timeout', async (t) => {
  const look = (since: Date | undefined, reason?: string) =>
    decide([waiting('a', { obstacle: missingPool, ...(since ? { since } : {}), ...(reason ? { reason } : {}) })], limits, NOON)
  t.strictSame(summarize(look(undefined)), ['note a'])
  t.strictSame(summarize(look(at(-10), 'AccountNotFound')), ['note a'], 'another reason')
  t.strictSame(look(at(-10)), { actions: [], nextMilliseconds: 590_000 })
  t.match(look(at(-600)).actions, [{ do: 'fail', code: 'POOL_NOT_FOUND', message: missingPool.message }])
})

t.test('decide fails a Screenshot at once if no waiting helps', async (t) => {
  const obstacle: Obstacle = { code: 'VIDEO_UNAVAILABLE', message: 'RunnerPool default does not record videos' }
  for (const since of [undefined, at(-10)]) {
    const { actions } = decide([waiting('a', { obstacle, ...(since ? { since } : {}) })], limits, NOON)
    t.match(actions, [{ do: 'fail', code: 'VIDEO_UNAVAILABLE', message: obstacle.message }])
  }
})

t.test('decide clears the condition of a Screenshot that can run again, however late', async (t) => {
  t.strictSame(summarize(decide([waiting('a', { since: at(-10_000) })], limits, NOON)), ['clear a'])
})

t.test('decide keeps the oldest Screenshots from kubectl, and all that a gateway accepted', async (t) => {
  const paid = { reservation: 'res_1' }
  const made = [
    waiting('newest', { second: 9 }),
    waiting('rest', { second: 8, spec: paid }),
    waiting('same-second-b', { second: 5 }),
    waiting('same-second-a', { second: 5 }),
    waiting('older', { second: 2 }),
    waiting('oldest', { second: 1, spec: paid }),
  ]
  const expected = ['fail newest QUEUE_FULL', 'fail same-second-b QUEUE_FULL']
  t.strictSame(summarize(decide(made, limits, NOON)).sort(), expected)
  t.strictSame(summarize(decide(made.toReversed(), limits, NOON)).sort(), expected, 'in whatever order they come')
})

t.test('decide counts Screenshots that cannot run separately', async (t) => {
  const stuck = Array.from({ length: 4 }, (_, n) => waiting(`stuck-${n}`, { obstacle: missingPool, since: NOON, second: n }))
  const good = Array.from({ length: 3 }, (_, n) => waiting(`good-${n}`, { second: 10 + n }))
  t.strictSame(summarize(decide([...stuck, ...good], limits, NOON)), ['fail stuck-3 QUEUE_FULL'])
})
