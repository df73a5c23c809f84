import t from 'tap'
import { aTransport, failure, hangUp, never, type Sent } from '../fake-service.ts'

const link = 'https://files.example.com/files/scr_1.png?signature=x'

/** Sends some bytes and then breaks off, or ends. */
const body = (chunks: string[], end?: Error) => {
  const left = chunks.map((chunk) => new TextEncoder().encode(chunk))
  return new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const next = left.shift()
      if (next) controller.enqueue(next)
      else if (end) controller.error(end)
      else controller.close()
    },
  })
}
const cut = () => new Response(body(['ab'], new TypeError('terminated')))
const whole = () => new Response(body(['ab', 'cd', 'e']))
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

t.test('file reads the link without the API key, which is for the API only', async (t) => {
  const { transport, sent } = aTransport([whole])
  t.equal(text(await transport.file(link, undefined)), 'abcde')
  t.equal(sent[0]?.url, link)
  t.strictSame(sent[0]?.headers, {})
})

t.test('file resolves links relative to the service', async (t) => {
  const { transport, sent } = aTransport([whole])
  await transport.file('/files/scr_1.png', undefined)
  t.equal(sent[0]?.url, 'https://tintype.example.com/files/scr_1.png')
})

t.test('file starts again when the connection breaks, and when the service is busy', async (t) => {
  const { transport, sent, delays } = aTransport([cut, hangUp(), failure(503, 'TOO_MANY_DOWNLOADS', { 'retry-after': '2' }), whole])
  t.equal(text(await transport.file(link, undefined)), 'abcde')
  t.equal(sent.length, 4)
  t.equal(delays.at(-1), 2_500)
})

t.test('file returns no bytes for an empty file', async (t) => {
  t.equal((await aTransport([() => new Response(null)]).transport.file(link, undefined)).length, 0)
})

t.test('file does not repeat an invalid link', async (t) => {
  const { transport, sent } = aTransport([failure(403, 'LINK_INVALID')])
  await t.rejects(transport.file(link, undefined), { code: 'LINK_INVALID', message: /Read the record again/ })
  t.equal(sent.length, 1)
  const store = aTransport([new Response('<Error><Code>AccessDenied</Code></Error>', { status: 403 })])
  await t.rejects(store.transport.file(link, undefined), { status: 403, code: 'INVALID_RESPONSE' })
})

t.test('stream hands on the chunks, and repeats only the request', async (t) => {
  const { transport, sent } = aTransport([hangUp(), whole])
  const chunks: string[] = []
  for await (const chunk of await transport.stream(link, undefined)) chunks.push(text(chunk))
  t.strictSame(chunks, ['ab', 'cd', 'e'])
  t.equal(sent.length, 2)
  const broken = await aTransport([cut]).transport.stream(link, undefined)
  await t.rejects(new Response(broken).text(), { code: 'CONNECTION_FAILED' })
})

t.test('stream reads nothing ahead of its reader', async (t) => {
  let pulled = 0
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    pulled += 1
    controller.enqueue(new Uint8Array([pulled]))
  }
  const source = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 })
  const reader = (await aTransport([() => new Response(source)]).transport.stream(link, undefined)).getReader()
  t.equal(pulled, 0)
  await reader.read()
  t.equal(pulled, 1)
})

t.test('stream cancels the transfer when its reader stops', async (t) => {
  const reasons: unknown[] = []
  const source = new ReadableStream<Uint8Array>({ cancel: (reason) => void reasons.push(reason) })
  const stream = await aTransport([() => new Response(source)]).transport.stream(link, undefined)
  await stream.cancel('enough')
  t.strictSame(reasons, ['enough'])
})

t.test('a signal ends a stream that is being read', async (t) => {
  const controller = new AbortController()
  const slow = ({ signal }: Sent) => {
    const source = new ReadableStream<Uint8Array>({
      start: (stream) => signal.addEventListener('abort', () => stream.error(signal.reason)),
    })
    return new Response(source)
  }
  const reader = (await aTransport([slow]).transport.stream(link, controller.signal)).getReader()
  const read = reader.read()
  controller.abort(new Error('enough'))
  await t.rejects(read, { message: 'enough' })
})

t.test('a stream leaves no listener at the signal when it has ended', async (t) => {
  const { signal } = new AbortController()
  let listeners = 0
  t.intercept(signal, 'addEventListener', { value: () => (listeners += 1) })
  t.intercept(signal, 'removeEventListener', { value: () => (listeners -= 1) })
  const { transport } = aTransport([whole])
  await new Response(await transport.stream(link, signal)).text()
  t.equal(listeners, 0)
  await (await transport.stream(link, signal)).cancel()
  t.equal(listeners, 0)
  await t.rejects(aTransport([failure(404, 'NOT_FOUND')]).transport.stream(link, signal), { code: 'NOT_FOUND' })
  t.equal(listeners, 0)
})

t.test('the timeout of a file counts from chunk to chunk, and not while the reader is busy', async (t) => {
  const { transport } = aTransport([whole, never], { timeout: 40, retries: 0 })
  const reader = (await transport.stream(link, undefined)).getReader()
  for (let index = 0; index < 3; index += 1) {
    t.notOk((await reader.read()).done)
    await new Promise((resolve) => setTimeout(resolve, 60))
  }
  t.ok((await reader.read()).done)
  await t.rejects(transport.stream(link, undefined), { code: 'REQUEST_TIMEOUT' })
})
