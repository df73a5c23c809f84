import t from 'tap'
import { Tintype } from '../../../api-gateway/client/src/index.ts'
import { aCompleted, aRecord, fakeFetch, json, never, type Reply } from './fake-service.ts'

function aClient(...replies: Reply[]) {
  const { fetch, sent } = fakeFetch(...replies)
  return { tintype: new Tintype({ baseUrl: 'https://tintype.example.com', apiKey: 'tt_key', fetch, retries: 0 }), sent }
}
const picture = () => new Response('picture')
const failed = aRecord({ status: 'failed', error: { code: 'TIMEOUT', message: 'too slow' } })

t.test('capture resolves to the file and its record', async (t) => {
  const { tintype, sent } = aClient(json(aCompleted()), picture)
  const { bytes, screenshot } = await tintype.capture({ url: 'https://example.com/', full_page: true })
  t.ok(bytes instanceof Uint8Array)
  t.equal(new TextDecoder().decode(bytes), 'picture')
  t.equal(screenshot.id, 'scr_1')
  t.equal(sent.length, 2)
  t.match(sent[0], { method: 'POST', body: { url: 'https://example.com/', options: { full_page: true } } })
  t.notOk(sent[1]?.headers.authorization, 'the API key is not sent to the host of the file')
})

t.test('captureStream resolves to a stream and the record', async (t) => {
  const { stream, screenshot } = await aClient(json(aCompleted()), picture).tintype.captureStream({ url: 'https://example.com/' })
  t.equal(await new Response(stream).text(), 'picture')
  t.equal(screenshot.id, 'scr_1')
})

t.test('capture rejects with the record of a failed capture', async (t) => {
  const { tintype, sent } = aClient(json(failed))
  await t.rejects(tintype.capture({ url: 'https://example.com/' }), {
    name: 'CaptureFailedError',
    captureCode: 'TIMEOUT',
    screenshot: { id: 'scr_1' },
  })
  await t.rejects(tintype.captureStream({ url: 'https://example.com/' }), { name: 'CaptureFailedError' })
  t.equal(sent.length, 2)
})

t.test('a signal ends a capture in each of its requests', async (t) => {
  for (const replies of [[never], [json({ id: 'scr_1', status: 'pending' }, { status: 202 }), never], [json(aCompleted()), never]]) {
    const { tintype, sent } = aClient(...replies)
    const controller = new AbortController()
    const captured = tintype.capture({ url: 'https://example.com/', signal: controller.signal })
    setTimeout(() => controller.abort(new Error('enough')), 20)
    await t.rejects(captured, { message: 'enough' })
    t.equal(sent.length, replies.length)
    t.notOk(sent[0]?.body?.options, 'the signal is not an option')
  }
})

t.test('the client uses the global fetch, and not as its own method', async (t) => {
  const { fetch } = fakeFetch(json({ status: 'operational' }))
  const calls: unknown[] = []
  t.intercept(globalThis, 'fetch', {
    value(this: unknown, ...args: Parameters<typeof globalThis.fetch>) {
      calls.push(this)
      return fetch(...args)
    },
  })
  t.equal((await new Tintype({ baseUrl: 'https://tintype.example.com' }).status.get()).status, 'operational')
  t.strictSame(calls, [undefined])
})

t.test('the client refuses an API key that no header can contain, and does not show it', async (t) => {
  for (const apiKey of ['', 'tt_a\n', 'tt a', 'tt_ü']) {
    t.throws(() => new Tintype({ baseUrl: 'https://tintype.example.com', apiKey }), {
      code: 'INVALID_CONFIGURATION',
      message: /^apiKey is empty or/,
    })
  }
})

t.test('the client has no API key that a log could show', async (t) => {
  const { inspect } = await import('node:util')
  const { tintype } = aClient(json({}))
  t.notMatch(inspect(tintype, { depth: 9, showHidden: true }), 'tt_key')
  t.notMatch(JSON.stringify(tintype), 'tt_key')
})

t.test('requests with wrong options do not compile', async (t) => {
  const { tintype } = aClient(json(aCompleted()), picture)
  // Only the compiler runs these.
  const wrong = [
    // @ts-expect-error no option has this name
    () => tintype.capture({ url: 'https://example.com/', full_pages: true }),
    // @ts-expect-error a number
    () => tintype.capture({ url: 'https://example.com/', delay: '1' }),
    // @ts-expect-error no such format
    () => tintype.capture({ url: 'https://example.com/', format: 'bmp' }),
    // @ts-expect-error options are beside the URL
    () => tintype.capture({ url: 'https://example.com/', options: { full_page: true } }),
    // @ts-expect-error the names are those of the API
    () => tintype.screenshots.create({ url: 'https://example.com/', fullPage: true }),
    // @ts-expect-error a batch has urls
    () => tintype.batches.create({ url: 'https://example.com/' }),
    // @ts-expect-error no such event
    () => tintype.webhooks.create({ name: 'a', url: 'https://a.example/', events: ['screenshot.done'] }),
    // @ts-expect-error no such state
    () => tintype.screenshots.list({ status: 'done' }),
    // @ts-expect-error no such scope
    () => tintype.keys.create({ name: 'a', scopes: ['everything'] }),
  ]
  t.equal(wrong.length, 9)
})
