import t from 'tap'
import { buildScreenshot, planScreenshots } from '../../../../api-gateway/src/creation/plan.ts'
import { failureMilliseconds, type SharedCaptureRequest, SharedCaptures } from '../../../../api-gateway/src/creation/shared-captures.ts'
import { screenshotIdOf } from '../../../../crds/src/identifiers/ids.ts'
import type { Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import { sharedCaptureKey } from '../../../../crds/src/records/storage-keys.ts'
import { eventually } from '../../../support/eventually.ts'
import { anAccount } from '../../../support/fakes/builders.ts'
import { aCluster, anArchive, anObjectStore, aQueue, NOW, TestQuota, TestScreenshots } from '../fakes.ts'

const HASH = 'a'.repeat(64)
const owner = anAccount({ name: 'acme', spec: { plan: 'scale' } })

/** Stores that several gateways share, and a clock. */
function aBucket() {
  const cluster = aCluster()
  const [screenshots, archive, quota, objects] = [new TestScreenshots(cluster), anArchive(), new TestQuota(cluster), anObjectStore()]
  let at = NOW
  const now = () => at
  const keyRing = () => ({ current: 'a', keys: { a: 'c2VjcmV0' } })
  const aReplica = (changes: Partial<ConstructorParameters<typeof SharedCaptures>[0]> = {}) =>
    new SharedCaptures({
      screenshots,
      archive,
      quota,
      objects,
      queue: aQueue(screenshots),
      uncertainCreates: { add: async () => {} },
      keyRing,
      now,
      ...changes,
    })
  const built: string[] = []
  const request = (changes: Partial<SharedCaptureRequest> = {}): SharedCaptureRequest => ({
    owner,
    account: 'acme',
    units: 1,
    hash: HASH,
    admit: () => {},
    newPlan: () => planScreenshots(at, 1, false),
    build: async ({ ids, reservation }) => {
      built.push(ids[0]!)
      return [buildScreenshot(ids[0]!, { url: 'https://example.com/', accountName: 'acme', reservation })]
    },
    onCreate: () => {},
    signal: new AbortController().signal,
    waitMilliseconds: 0,
    ...changes,
  })
  const end = ({ metadata, spec }: Screenshot, phase: 'Completed' | 'Failed') =>
    screenshots.put({ metadata, spec, status: { phase, completionTime: at.toISOString() } })
  const later = (seconds: number): void => {
    at = new Date(at.getTime() + seconds * 1_000)
  }
  return { cluster, screenshots, archive, quota, objects, aReplica, request, end, later, built }
}

const idOf = (joined: { screenshot: Screenshot } | undefined): string | undefined => joined && screenshotIdOf(joined.screenshot.metadata)

t.test('SharedCaptures lets a hundred requests of five replicas share one capture and one unit of quota', async (t) => {
  const { aReplica, request, quota, screenshots } = aBucket()
  const replicas = Array.from({ length: 5 }, () => aReplica())
  const joined = await Promise.all(
    Array.from({ length: 100 }, (_, index) => replicas[index % 5]!.join(request({ waitMilliseconds: 5_000 }))),
  )
  t.equal(new Set(joined.map(idOf)).size, 1)
  t.equal(joined.filter((one) => one?.isCreator).length, 1)
  t.equal(quota.used, 1)
  t.equal(screenshots.objects.size, 1)
})

t.test('SharedCaptures waits for another process, and takes over its plan unchanged after ten seconds', async (t) => {
  const { aReplica, request, later, quota, cluster, objects } = aBucket()
  const crash = () => new Promise<never>(() => {})
  void aReplica({ screenshots: Object.assign(new TestScreenshots(cluster), { create: crash }) }).join(request())
  await eventually('it has reserved quota', async () => quota.used > 0)
  const { plan } = JSON.parse(objects.objects.get(sharedCaptureKey('acme', HASH))!)
  later(9)
  t.equal(await aReplica().join(request()), undefined)
  later(2)
  const joined = await aReplica().join(request())
  t.strictSame(joined && [idOf(joined), joined.startedAt], [plan.ids[0], NOW])
  t.equal(quota.used, 1, 'the reservation is the same')
})

t.test('SharedCaptures starts another capture after the last one has ended, was archived or was deleted', async (t) => {
  const { aReplica, request, end, later, screenshots, archive } = aBucket()
  const next = () => aReplica().join(request())
  const first = (await next())!
  t.equal(idOf(await next()), idOf(first), 'it runs')
  end(first.screenshot, 'Completed')
  t.equal(idOf(await next()), idOf(first), 'it has just ended, and its picture may not be in the cache yet')
  later(31)
  const second = (await next())!
  t.not(idOf(second), idOf(first))

  const ended = end(second.screenshot, 'Completed')
  await screenshots.delete(ended)
  await archive.add([ended])
  later(31)
  const third = (await next())!
  t.not(idOf(third), idOf(second))

  await screenshots.delete(third.screenshot)
  await archive.markDeleted('acme', idOf(third)!)
  const fourth = (await next())!
  t.not(idOf(fourth), idOf(third))
  t.ok(fourth.isCreator)
})

t.test('SharedCaptures remembers a failure for a minute, and twice as long after each further one', async (t) => {
  const { aReplica, request, end, later, quota } = aBucket()
  const replica = aReplica()
  let joined = (await replica.join(request()))!
  for (const [seconds, count] of [
    [60, 1],
    [120, 2],
    [240, 3],
  ] as const) {
    end(joined.screenshot, 'Failed')
    later(seconds - 1)
    for (const other of [replica, aReplica()]) t.match(await other.join(request()), { screenshot: { status: { phase: 'Failed' } } })
    t.equal(quota.used, count)
    later(2)
    joined = (await replica.join(request()))!
    t.ok(joined.isCreator, `${seconds} s`)
  }
  end(joined.screenshot, 'Completed')
  later(31)
  joined = (await replica.join(request()))!
  end(joined.screenshot, 'Failed')
  later(61)
  t.ok((await replica.join(request()))!.isCreator, 'a success ends the row of failures')
  t.strictSame([failureMilliseconds(5), failureMilliseconds(6), failureMilliseconds(1_000)], [1_920_000, 3_600_000, 3_600_000])
})

t.test('SharedCaptures writes nothing when the queue is full, and charges nothing when quota or rate refuse the capture', async (t) => {
  const { aReplica, request, quota, objects, screenshots } = aBucket()
  const full = () => {
    throw new Error('full')
  }
  await t.rejects(aReplica().join(request({ admit: full })), /full/)
  t.equal(objects.objects.size, 0)
  quota.bound({ limit: 0 })
  await t.rejects(aReplica().join(request()), { code: 'USAGE_LIMIT_REACHED' })
  quota.bound({ limit: 10 })
  quota.bound({ isRateUsedUp: true })
  await t.rejects(aReplica().join(request()), { code: 'RATE_LIMIT_EXCEEDED' })
  t.strictSame([screenshots.objects.size, quota.used], [0, 0])
  quota.bound({})
  const joined = await aReplica().join(request())
  t.ok(joined?.isCreator, 'the next request need not wait')
  t.equal(quota.used, 1)
})

t.test('SharedCaptures does not end a shared capture that another process has taken over', async (t) => {
  const { aReplica, request, later, quota, objects, cluster, screenshots } = aBucket()
  const { promise: pause, resolve: resume } = Promise.withResolvers<void>()
  const refuse = async () => {
    await pause
    return { granted: 0, refusal: 'rate' as const, facts: quota.facts(owner, NOW) }
  }
  const stalled = aReplica({ quota: Object.assign(new TestQuota(cluster), { reserve: refuse }) }).join(request())
  await eventually('it has begun', async () => objects.objects.size > 0)
  later(11)
  const taken = await aReplica().join(request())
  t.ok(taken?.isCreator)
  resume()
  await t.rejects(stalled, { code: 'RATE_LIMIT_EXCEEDED' })
  t.equal(idOf(await aReplica().join(request())), idOf(taken))
  t.strictSame([screenshots.objects.size, quota.used], [1, 1])
})

t.test('SharedCaptures keeps the number of failures when a capture is refused', async (t) => {
  const { aReplica, request, end, later, quota } = aBucket()
  end((await aReplica().join(request()))!.screenshot, 'Failed')
  later(61)
  quota.bound({ isRateUsedUp: true })
  for (let count = 0; count < 2; count++) await t.rejects(aReplica().join(request()), { code: 'RATE_LIMIT_EXCEEDED' })
  quota.bound({})
  const second = (await aReplica().join(request()))!
  end(second.screenshot, 'Failed')
  later(119)
  t.equal(idOf(await aReplica().join(request())), idOf(second), 'two failures are remembered for two minutes')
  later(2)
  t.not(idOf(await aReplica().join(request())), idOf(second))
})

t.test('SharedCaptures.refresh tries once in ten seconds, and once a minute without quota', async (t) => {
  const { aReplica, request, quota, later } = aBucket()
  const replica = aReplica()
  let tries = 0
  const refresh = async () => {
    replica.refresh(request({ admit: () => void tries++ }))
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  quota.bound({ limit: 0 })
  await refresh()
  await refresh()
  t.equal(tries, 1)
  later(59)
  await refresh()
  t.equal(tries, 1)
  later(2)
  quota.bound({ limit: 10 })
  await refresh()
  t.equal(tries, 2)
  t.equal(quota.used, 1)
  await refresh()
  t.equal(quota.used, 1)
})
