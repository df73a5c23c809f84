import t from 'tap'
import { buildProbe } from '../../../../../api-gateway/src/resources/status/probe.ts'

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
