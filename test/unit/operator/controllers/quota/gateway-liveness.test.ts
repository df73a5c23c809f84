import t from 'tap'
import type { Lease } from '../../../../../crds/client/core-resources.ts'
import type { ReflectorEvent } from '../../../../../crds/client/reflector.ts'
import type { Clock } from '../../../../../operator/src/controller-runtime/clock.ts'
import { GatewayLiveness } from '../../../../../operator/src/controllers/quota/gateway-liveness.ts'

const START = Date.parse('2026-11-21T10:00:00Z')

/** Leases that the test controls, with their own clock. */
function setUp() {
  const time = { milliseconds: 0 }
  const clock = { monotonic: () => time.milliseconds, wall: () => START + time.milliseconds } as Clock
  const stored = new Map<string, Lease>()
  let tell = (_event: ReflectorEvent<Lease>): void => {}
  const addListener = (listener: typeof tell) => {
    tell = listener
    return () => true
  }
  const seen = new Map<string, string>()
  const noteWritten = (object: Lease) => {
    const { name, resourceVersion = '' } = object.metadata
    if (seen.get(name) === resourceVersion) return
    seen.set(name, resourceVersion)
    tell({ type: 'modified', object, source: 'watch' })
  }
  const liveness = new GatewayLiveness({
    leases: { addListener, noteWritten } as unknown as ConstructorParameters<typeof GatewayLiveness>[0]['leases'],
    clock,
  })
  let version = 0
  /** Renews a Lease at the API server. The cache sees it unless it is stale. */
  const renew = (name: string, { deaf = false } = {}) => {
    const lease = { metadata: { name, resourceVersion: String(++version) }, spec: { leaseDurationSeconds: 30 } } as Lease
    stored.set(name, lease)
    if (!deaf) noteWritten(lease)
  }
  const end = (name: string) => {
    tell({ type: 'deleted', object: stored.get(name)!, source: 'watch' })
    stored.delete(name)
  }
  const leases = { find: async (name: string) => stored.get(name) }
  return {
    liveness,
    hasEnded: (gateway: string, reservedAt: Date) => liveness.hasEnded(gateway, reservedAt, leases),
    renew,
    end,
    at: (seconds: number) => new Date(START + seconds * 1_000),
    wait: (seconds: number) => (time.milliseconds += seconds * 1_000),
  }
}

t.test('GatewayLiveness reports a gateway that renews its Lease as alive', async (t) => {
  const { liveness, renew, at, wait } = setUp()
  const ended = Array.from({ length: 30 }, () => {
    renew('g')
    wait(10)
    return liveness.seemsEnded('g', at(0))
  })
  t.strictSame(ended, Array(30).fill(false))
})

t.test('GatewayLiveness assumes that a live gateway gave up a reservation after ten minutes', async (t) => {
  const { hasEnded, renew, at, wait } = setUp()
  for (let n = 0; n < 61; n++) {
    renew('g')
    wait(10)
  }
  t.ok(await hasEnded('g', at(10)))
  t.notOk(await hasEnded('g', at(11)))
})

t.test('GatewayLiveness reports a gateway as ended when its Lease expires', async (t) => {
  const { hasEnded, renew, at, wait } = setUp()
  renew('g')
  wait(30)
  t.notOk(await hasEnded('g', at(29)))
  wait(1)
  t.ok(await hasEnded('g', at(29)))
})

t.test('GatewayLiveness does not report a live gateway as ended because of a stale cache', async (t) => {
  const { liveness, hasEnded, renew, at, wait } = setUp()
  renew('g')
  wait(40)
  renew('g', { deaf: true })
  t.ok(liveness.seemsEnded('g', at(0)), 'the cache says so')
  t.notOk(await hasEnded('g', at(0)))
  t.notOk(liveness.seemsEnded('g', at(0)), 'the API server corrects it')
})

t.test('GatewayLiveness reports a gateway without a Lease as ended when its reservation is a minute old', async (t) => {
  const { hasEnded, renew, end, at, wait } = setUp()
  wait(59)
  t.notOk(await hasEnded('g', at(0)), 'its Lease may not be in the cache yet')
  wait(1)
  t.ok(await hasEnded('g', at(0)))
  renew('polite')
  end('polite')
  t.notOk(await hasEnded('polite', at(60)))
  wait(60)
  t.ok(await hasEnded('polite', at(60)))
})

t.test('GatewayLiveness lists Leases that expired long ago', async (t) => {
  const { liveness, renew, wait } = setUp()
  renew('g')
  wait(629)
  t.strictSame(liveness.expiredFor(600_000), [])
  wait(2)
  t.strictSame(liveness.expiredFor(600_000), ['g'])
})
