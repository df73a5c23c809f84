import Fastify from 'fastify'
import t from 'tap'
import type { Span } from '../../../../crds/client/span-exporter.ts'
import { aGateway } from '../fakes.ts'

const PROXY = '10.1.2.3'
const CLIENT = '198.51.100.7'

/** The addresses that the log line and the span of a request contain. */
async function findAddresses(trustedProxies: readonly string[], remoteAddress: string, forwardedFor?: string) {
  const lines: string[] = []
  const { log } = Fastify({ logger: { level: 'debug', stream: { write: (line: string) => void lines.push(line) } } })
  const spans: Span[] = []
  const { app } = aGateway({ trustedProxies, log, spans: { add: (span) => spans.push(span) } })
  const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
  await app.inject({ url: '/v1/status', remoteAddress, headers })
  await app.close()
  const line = lines.map((text) => JSON.parse(text)).find(({ msg }) => msg === 'request completed')
  return [line?.clientAddress, spans[0]?.attributes?.['client.address']]
}

t.test('the address of a client behind a trusted proxy is in the log and in the span', async (t) => {
  t.strictSame(await findAddresses(['10.1.0.0/16'], PROXY, CLIENT), [CLIENT, CLIENT])
  t.strictSame(await findAddresses(['10.1.0.0/16'], `::ffff:${PROXY}`, CLIENT), [CLIENT, CLIENT], 'as a dual-stack socket has it')
  t.strictSame(await findAddresses(['fd00::/8'], 'fd00::3', '2001:db8::7'), ['2001:db8::7', '2001:db8::7'])
  t.strictSame(await findAddresses(['10.1.0.0/16', '192.0.2.0/24'], PROXY, `${CLIENT}, 192.0.2.9`), [CLIENT, CLIENT], 'two proxies')
})

t.test('a client cannot choose the address that is logged', async (t) => {
  t.strictSame(await findAddresses(['10.1.0.0/16'], PROXY, `203.0.113.1, ${CLIENT}`), [CLIENT, CLIENT], 'the proxy appended the real one')
  t.strictSame(await findAddresses(['10.1.0.0/16'], CLIENT, '203.0.113.1'), [CLIENT, CLIENT], 'past the proxy')
  t.strictSame(await findAddresses([], PROXY, '203.0.113.1'), [PROXY, PROXY], 'no proxy is trusted by default')
})

t.test('the log has the address of the connection if the header has none', async (t) => {
  t.strictSame(await findAddresses(['10.1.0.0/16'], PROXY), [PROXY, PROXY])
  t.strictSame(await findAddresses(['10.1.0.0/16'], PROXY, 'unknown'), [PROXY, PROXY])
})
