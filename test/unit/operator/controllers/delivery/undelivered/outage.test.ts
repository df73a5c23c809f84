import { setImmediate } from 'node:timers/promises'
import { Registry } from 'prom-client'
import t, { type Test } from 'tap'
import { silentLog } from '../../../../../../crds/client/log.ts'
import { newId, screenshotIdOf, webhookIdOf } from '../../../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../../../crds/src/identifiers/names.ts'
import { toArchivedLine } from '../../../../../../crds/src/records/archive.ts'
import { ignoreSilently } from '../../../../../../crds/src/records/ignored-objects.ts'
import { missedPrefix, OPEN_PREFIX, parseOpenKey, recordKey } from '../../../../../../crds/src/records/storage-keys.ts'
import { openPrefix } from '../../../../../../crds/src/webhooks/undelivered.ts'
import { EventBodies } from '../../../../../../operator/src/controllers/delivery/events/event-bodies.ts'
import { RecordedEvents } from '../../../../../../operator/src/controllers/delivery/events/recorded-events.ts'
import type { Post } from '../../../../../../operator/src/controllers/delivery/http/post.ts'
import { redeliverMissed } from '../../../../../../operator/src/controllers/delivery/requests/requested-post.ts'
import { createDeliveryMetrics } from '../../../../../../operator/src/controllers/delivery/telemetry/metrics.ts'
import { UndeliveredController } from '../../../../../../operator/src/controllers/delivery/undelivered/controller.ts'
import { toUndelivered, withOpenDeliveries } from '../../../../../../operator/src/controllers/delivery/undelivered/hand-over.ts'
import { UndeliveredStore } from '../../../../../../operator/src/controllers/delivery/undelivered/undelivered-store.ts'
import { aScreenshot, at, aWebhook, completedStatus } from '../../../../../support/fakes/builders.ts'
import { MemoryBucket } from '../../../../../support/fakes/memory-bucket.ts'
import { isFullLength } from '../../../../../support/length.ts'

// A receiver that does not respond for a while, with a false clock. The Screenshots are archived before their first attempt.

const MINUTE = 60
const STEP = 30
/** At full length, an event a second. */
const EVENTS_PER_STEP = isFullLength ? STEP : 1
/** Posts that run when a leader is killed. */
const MAX_INTERRUPTED = isFullLength ? 100 : 2
const linkBase = { publicUrl: '', ring: { current: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } } }
const hook = aWebhook()
const noStore = { put: async () => {}, get: async () => undefined }
const schedule = { delaysMilliseconds: [60_000, 4_500_000], timeoutMilliseconds: 5_000 }
const type = 'screenshot.completed'
const prefix = openPrefix('default', { webhook: 'hook' })

/** An operator with one account, one webhook and a receiver that is down until a time. */
function aStage(t: Test, downForSeconds: number) {
  const bucket = new MemoryBucket()
  const clock = { seconds: 0 }
  const now = () => at(clock.seconds)
  const received: string[] = []
  const attempts = new Map<string, number>()
  let terms = 0
  /** Starts the next leader. Posts of the one before never end. */
  const lead = () => {
    const term = ++terms
    const post = async ({ headers }: Post) => {
      const id = headers['webhook-id']!
      attempts.set(id, (attempts.get(id) ?? 0) + 1)
      const isSuccess = clock.seconds >= downForSeconds
      if (isSuccess) received.push(id)
      if (term !== terms) await new Promise(() => undefined)
      const statusCode = isSuccess ? 200 : 503
      return { end: 'answered', isSuccess, statusCode, detail: '', durationMilliseconds: 1, excerpt: Buffer.alloc(0) } as const
    }
    const store = new UndeliveredStore({ storage: bucket.storage, report: () => undefined })
    const controller = new UndeliveredController({
      ...{
        undelivered: store,
        schedule,
        now,
        post,
        config: { namespace: 'default' },
        version: '1',
        log: silentLog,
        metrics: createDeliveryMetrics(new Registry()),
      },
      circuitBreakers: { heldUntil: () => undefined, start: () => () => {} },
      eventBodies: new EventBodies({ linkBase, store: noStore, log: silentLog, report: ignoreSilently }),
      signingSecrets: { find: async () => ({ current: 'whsec_c2VjcmV0' }) },
      deliveryLog: { note: () => undefined },
      recordedEvents: new RecordedEvents({
        screenshots: { byIndex: () => [] },
        storage: bucket.storage,
        linkBase,
        now,
        report: ignoreSilently,
      }),
      statistics: { count: () => undefined },
      findWebhook: () => hook,
      findDefaultWebhook: () => undefined,
      onMissingSecret: () => undefined,
      random: () => 0,
      limiter: { run: <T>(_: unknown, job: () => Promise<T>) => job() },
      mayStart: () => term === terms,
    })
    controller.controller.start()
    t.teardown(() => controller.controller.stop(1))
    return { store, reconcile: () => controller.reconcile(prefix) }
  }
  /** Adds an event of now, as the archive does. */
  const add = async (store: UndeliveredStore) => {
    const id = newId('scr', now())
    const shot = aScreenshot({
      name: toObjectName(id),
      metadata: { uid: id, creationTimestamp: now().toISOString() },
      status: completedStatus({ completionTime: now().toISOString() }),
    })
    const finder = { findWebhook: () => hook, findDefaultWebhook: () => undefined }
    const [open] = toUndelivered(shot, { event: type, webhook: 'hook', attempts: 0, at: now().toISOString() }, finder)
    await bucket.storage.write(recordKey('default', screenshotIdOf(shot.metadata)), toArchivedLine(withOpenDeliveries(shot, [open!])))
    await store.open('default', open!)
    return open!.event
  }
  return { bucket, clock, now, received, attempts, lead, add }
}

/** Lets started posts end, and those that follow them. */
async function settle(bucket: MemoryBucket, now: Date): Promise<void> {
  do for (let n = 0; n < 40; n += 1) await setImmediate()
  while (bucket.list(OPEN_PREFIX, { limit: 1 }).some((key) => parseOpenKey(key)!.at <= now))
}

for (const [minutes, missedMinutes] of [
  [20, 0],
  [60, 0],
  [80, 4],
] as const) {
  t.test(
    `an outage of ${minutes} minutes, with a leader that is killed in the middle, loses ${missedMinutes ? 'what one call delivers' : 'nothing'}`,
    async (t) => {
      const { bucket, clock, now, received, attempts, lead, add } = aStage(t, minutes * MINUTE)
      let leader = lead()
      const events: string[] = []
      for (; clock.seconds <= 170 * MINUTE; clock.seconds += STEP) {
        const isDown = clock.seconds < minutes * MINUTE
        for (let n = 0; isDown && n < EVENTS_PER_STEP; n += 1) events.push(await add(leader.store))
        if (clock.seconds === (minutes * MINUTE) / 2) {
          const running = leader.reconcile()
          leader = lead()
          await running
        }
        await leader.reconcile()
        await settle(bucket, now())
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
      t.strictSame(
        [...bucket.objects.keys()].filter((key) => key.startsWith(OPEN_PREFIX)),
        [],
        'nothing is open',
      )

      t.equal(await redeliverMissed(hook, { undelivered: leader.store, now }), missed.length)
      await leader.reconcile()
      await settle(bucket, now())
      t.strictSame([...received].sort(), [...events].sort(), 'each event arrives once')
      t.strictSame(
        [...bucket.objects.keys()].filter((key) => key.startsWith('undelivered/')),
        [],
      )
    },
  )
}
