import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { askSteadily } from '../../../soak/stage/clients.ts'

t.test('askSteadily counts what was accepted and tells of each request that was not', async (t) => {
  let requests = 0
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const isRefused = ++requests === 2
      response.writeHead(isRefused ? 503 : 202, { 'content-type': 'application/json' })
      const items = [1, 2].map((n) => ({ id: `scr_${requests}${n}`, status: 'pending' }))
      response.end(JSON.stringify(isRefused ? { error: { message: 'come again' } } : { screenshots: items }))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const refused: string[] = []
  const { port } = server.address() as AddressInfo
  const asked = await askSteadily({
    urls: [`http://127.0.0.1:${port}`],
    keys: ['key'],
    perSecond: 60,
    seconds: 0.1,
    batch: 2,
    onRefused: (what) => void refused.push(what),
  })
  t.strictSame(refused, ['503 come again'])
  t.strictSame(asked.others, { '503 come again': 2 })
  t.equal(asked.accepted.length, 4)
})
