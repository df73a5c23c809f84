import t, { type Test } from 'tap'
import { webhooks } from '../../../../../crds/client/kinds.ts'
import { newId, webhookIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../../crds/src/identifiers/names.ts'
import { toArchivedLine } from '../../../../../crds/src/records/archive.ts'
import { missedPrefix, recordKey } from '../../../../../crds/src/records/storage-keys.ts'
import { toRequestAnnotation } from '../../../../../crds/src/webhooks/webhook-requests.ts'
import { toUndelivered, withOpenDeliveries } from '../../../../../operator/src/controllers/delivery/undelivered-store.ts'
import { aScreenshot, completedStatus } from '../../../../support/fakes/builders.ts'
import { isFullLength } from '../../../../support/length.ts'
import { answer, startDeliveries } from './stage.ts'

// A receiver that does not respond for a while. The Screenshots are archived before their first attempt.

const MINUTE = 60
const STEP = 30
/** At full length, an event a second. */
const EVENTS_PER_STEP = isFullLength ? STEP : 1
/** Posts that run when a leader is killed. */
const MAX_INTERRUPTED = isFullLength ? 100 : 2

/** An operator with one webhook and a receiver that is down until a time. */
async function start(t: Test, downForSeconds: number) {
  const stage = await startDeliveries(t, { webhook: { retryDelaysMilliseconds: [60_000, 4_500_000], timeoutMilliseconds: 5_000 } }, 0)
  let leader = stage.lead()
  const hook = await stage.subscribe('hook')
  const received: string[] = []
  const attempts = new Map<string, number>()
  let interrupt: Promise<never> | undefined
  const { promise: never, reject: endNever } = Promise.withResolvers<never>()
  never.catch(() => undefined)
  stage.receiver.answer = ({ headers }) => {
    const id = headers['webhook-id']!
    attempts.set(id, (attempts.get(id) ?? 0) + 1)
    const isSuccess = stage.clock.second >= downForSeconds
    if (isSuccess) received.push(id)
    return interrupt ?? answer(isSuccess ? 200 : 503)
  }
  return {
    ...{ ...stage, hook, received, attempts },
    /** Lets time pass, and kills the leader while its posts run, which never end. */
    async killAt(second: number): Promise<void> {
      interrupt = never
      await stage.passTo(second)
      void leader.end()
      t.teardown(() => endNever(new Error('the test has ended')))
      interrupt = undefined
      leader = stage.lead()
    },
    /** Adds an event of now, as the archive does. */
    async add(): Promise<string> {
      const now = stage.now().toISOString()
      const id = newId('scr', stage.now())
      const metadata = { uid: id, creationTimestamp: now }
      const shot = aScreenshot({ name: toObjectName(id), metadata, status: completedStatus({ completionTime: now }) })
      const finder = { findWebhook: () => hook, findDefaultWebhook: () => undefined }
      const open = toUndelivered(shot, { event: 'screenshot.completed', webhook: 'hook', attempts: 0, at: now }, finder)
      stage.bucket.objects.set(recordKey('default', id), toArchivedLine(withOpenDeliveries(shot, open)))
      await stage.deps.archiving.openDeliveries.keep('default', open)
      return open[0]!.event
    },
  }
}

for (const [minutes, missedMinutes] of [
  [20, 0],
  [60, 0],
  [80, 4],
] as const) {
  t.test(
    `an outage of ${minutes} minutes, with a leader that is killed in the middle, loses ${missedMinutes ? 'what one call delivers' : 'nothing'}`,
    async (t) => {
      const { bucket, hook, received, attempts, killAt, passTo, add, change, now } = await start(t, minutes * MINUTE)
      const events: string[] = []
      for (let second = 0; second <= 170 * MINUTE; second += STEP) {
        const isDown = second < minutes * MINUTE
        for (let n = 0; isDown && n < EVENTS_PER_STEP; n += 1) events.push(await add())
        if (second === (minutes * MINUTE) / 2) await killAt(second)
        await passTo(second + STEP)
      }
      const missed = bucket.keys(missedPrefix('default', webhookIdOf(hook.metadata)))
      t.equal(events.length, minutes * 2 * EVENTS_PER_STEP)
      t.equal(received.length, events.length - missed.length)
      t.ok(missed.length <= (missedMinutes * 2 + 1) * EVENTS_PER_STEP && (missedMinutes === 0 || missed.length > 0), String(missed.length))
      const repeated = [...attempts.values()].filter((count) => count > 3)
      t.ok(
        repeated.length <= MAX_INTERRUPTED && repeated.every((count) => count === 4),
        'only a post that the kill interrupted is repeated',
      )
      t.strictSame(bucket.keys('undelivered/'), missed, 'nothing is open')

      const annotations = toRequestAnnotation({ do: 'redeliverMissed', nonce: 'a'.repeat(20), at: now() })
      await change(webhooks, 'hook', { metadata: { annotations } })
      await passTo(171 * MINUTE)
      t.strictSame([...received].sort(), [...events].sort(), 'each event arrives once')
      t.strictSame(bucket.keys('undelivered/'), [])
    },
  )
}

t.test('an attempt whose result the bucket does not take is not repeated before it is recorded', async (t) => {
  const { bucket, receiver, attempts, passTo, add } = await start(t, 10)
  const respond = receiver.answer
  let comeBack = () => {}
  receiver.answer = (post) => {
    comeBack = bucket.goAway('write')
    return respond(post)
  }
  const event = await add()
  await passTo(40)
  t.equal(attempts.get(event), 1)
  comeBack()
  await passTo(46)
  t.match(
    bucket.keys('undelivered/open/').map((key) => JSON.parse(bucket.objects.get(key)!).attempts),
    [1],
  )
  await passTo(110)
  t.equal(attempts.get(event), 2)
})
