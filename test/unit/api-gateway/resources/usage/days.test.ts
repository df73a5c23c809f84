import t from 'tap'
import { aGateway, NOW } from '../../fakes.ts'

t.test('GET /usage/days lists each day, and a new screenshot counts for today', async (t) => {
  const { app, headers, quota } = aGateway()
  const read = async () => (await app.inject({ url: '/v1/usage/days', headers })).json()
  t.strictSame(await read(), { success: true, data: [] })
  const today = NOW.toISOString().slice(0, 10)
  const yesterday = new Date(NOW.getTime() - 86_400_000).toISOString().slice(0, 10)
  quota.set('acme', { limit: 100 }, { period: today.slice(0, 7), used: 7, days: { [yesterday]: 7 } })
  await app.inject({ method: 'POST', url: '/v1/screenshots', headers, payload: { url: 'https://example.com/' } })
  t.strictSame(await read(), {
    success: true,
    data: [
      { date: yesterday, count: 7 },
      { date: today, count: 1 },
    ],
  })
})

t.test('usage and status refuse parameters that they do not have', async (t) => {
  const { app, headers } = aGateway()
  for (const path of ['/v1/usage/current', '/v1/usage/days', '/v1/status']) {
    const response = await app.inject({ url: `${path}?month=2026-10`, headers })
    t.match([response.statusCode, response.json().error.message], [400, 'month is not known here'], path)
  }
})
