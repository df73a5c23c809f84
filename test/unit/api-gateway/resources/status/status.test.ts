import t from 'tap'
import { buildProbe } from '../../../../../api-gateway/src/resources/status/probe.ts'
import { evaluateComponent, evaluateService, toServiceStatus } from '../../../../../api-gateway/src/resources/status/service-status.ts'

t.test('a probe asks once for many that want to know at the same time', async (t) => {
  let asked = 0
  const probe = buildProbe(async () => ++asked)
  const found = await Promise.all(Array.from({ length: 50 }, () => probe()))
  t.equal(asked, 1)
  t.ok(found.every(({ status }) => status === 'operational'))
})

t.test('a probe calls a refusal an outage and does not throw', async (t) => {
  const probe = buildProbe(async () => {
    throw new Error('away')
  })
  t.equal((await probe()).status, 'outage')
})

t.test('evaluateComponent reports a failed check as outage and a slow one as degraded', async (t) => {
  t.strictSame(evaluateComponent(true, 12.4), { status: 'operational', response_time_ms: 12 })
  t.strictSame(evaluateComponent(true, 1_001), { status: 'degraded', response_time_ms: 1_001 })
  t.strictSame(evaluateComponent(false, 3), { status: 'outage', response_time_ms: 3 })
})

const cases = [
  ['operational', 'operational', 'operational'],
  ['degraded', 'operational', 'degraded'],
  ['operational', 'degraded', 'degraded'],
  ['operational', 'outage', 'degraded'],
  ['outage', 'operational', 'outage'],
  ['outage', 'outage', 'outage'],
] as const
for (const [database, storage, service] of cases) {
  t.test(`evaluateService with database ${database} and storage ${storage} is ${service}`, async (t) =>
    t.equal(evaluateService(database, storage), service),
  )
}

t.test('toServiceStatus has exactly the documented fields', async (t) => {
  const health = { status: 'operational', response_time_ms: 2 } as const
  const facts = { version: '1.0.0', now: new Date(0), uptimeSeconds: 1.9, responseMilliseconds: 4.4, database: health, storage: health }
  t.strictSame(toServiceStatus(facts), {
    status: 'operational',
    version: '1.0.0',
    timestamp: '1970-01-01T00:00:00.000Z',
    uptime_seconds: 1,
    response_time_ms: 4,
    components: { database: health, storage: health, api: { status: 'operational' } },
  })
})
