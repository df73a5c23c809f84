// A program that uses the installed package, as a customer would write it. It runs in Node.js, Deno and Bun.

import { CaptureFailedError, signLink, Tintype, TintypeError, verifyWebhook } from '@tintype/client'

const { TINTYPE_URL = '', TINTYPE_API_KEY = '' } = (globalThis as unknown as { process: { env: Record<string, string> } }).process.env
const tintype = new Tintype({ baseUrl: TINTYPE_URL, apiKey: TINTYPE_API_KEY })

function assert(isTrue: boolean, what: string): asserts isTrue {
  if (!isTrue) throw new Error(`not so: ${what}`)
}

/** Of the captures of the test stage, one in five fails. */
async function captureUntil(isWanted: 'completed' | 'failed'): Promise<string> {
  for (let attempt = 0; attempt < 60; attempt += 1) {
    try {
      const { bytes, screenshot } = await tintype.capture({
        url: 'https://example.com/',
        viewport_width: 640,
        external_identifier: 'smoke',
      })
      assert(bytes.length === screenshot.file_size_bytes, 'the bytes are those of the file')
      if (isWanted === 'completed') return screenshot.id
    } catch (error) {
      if (!(error instanceof CaptureFailedError)) throw error
      assert(error.captureCode === 'TIMEOUT' && error.screenshot.status === 'failed', 'the error has the record')
      if (isWanted === 'failed') return error.screenshot.id
    }
  }
  throw new Error(`no capture ${isWanted}`)
}

async function screenshots(): Promise<void> {
  const id = await captureUntil('completed')
  const stream = await tintype.screenshots.stream(id)
  const text = await new Response(stream).text()
  assert(text === 'bytes that stand for a picture', 'the stream has the file')
  const failed = await captureUntil('failed')
  const found = new Set<string>()
  for await (const screenshot of tintype.screenshots.list({ external_identifier: 'smoke', limit: 1 })) found.add(screenshot.id)
  assert(found.has(id) && found.has(failed), 'the list goes on beyond its first page')
  await tintype.screenshots.delete(id)
  const missing = await tintype.screenshots.get(id).catch((error: unknown) => error)
  assert(missing instanceof TintypeError && missing.code === 'NOT_FOUND' && missing.status === 404, 'it is deleted')
  assert(typeof missing.requestId === 'string', 'the error has the id of the request')
}

async function batches(): Promise<void> {
  const { batch_id: id } = await tintype.batches.create({ urls: ['https://example.com/1', 'https://example.com/2'], format: 'jpeg' })
  const batch = await tintype.batches.wait(id)
  assert(batch.completed + batch.failed === 2, 'both captures have ended')
}

async function account(): Promise<void> {
  const created = await tintype.keys.create({ name: 'smoke', scopes: ['usage:read'], expires_in_days: 1 })
  const limited = new Tintype({ baseUrl: TINTYPE_URL, apiKey: created.key ?? '' })
  assert((await limited.usage.get()).count > 0, 'the key works')
  const refused = await limited.keys
    .list()
    .toArray()
    .catch((error: unknown) => error)
  assert(refused instanceof TintypeError && refused.code === 'INSUFFICIENT_SCOPE', 'and only for its scope')
  await tintype.keys.delete(created.id)
  const webhook = await tintype.webhooks.create({ name: 'smoke', url: 'https://hooks.example.com/', events: ['screenshot.completed'] })
  assert((await tintype.webhooks.deliveries.list(webhook.id).toArray()).length === 0, 'nothing was delivered')
  assert((await tintype.webhooks.get(webhook.id)).statistics.total_deliveries === 0, 'nothing was counted')
  await tintype.webhooks.delete(webhook.id)
  const schedule = await tintype.schedules.create({ schedule: '@yearly', url: 'https://example.com/', full_page: true })
  assert(schedule.options.full_page === true, 'the options are beside the other fields')
  assert((await tintype.schedules.update(schedule.id, { suspend: true })).status === 'suspended', 'and can be changed')
  assert((await tintype.schedules.runs(schedule.id).toArray()).length === 0, 'no run has ended')
  await tintype.schedules.delete(schedule.id)
  assert(
    (await tintype.devices.list().toArray()).some(({ id }) => id === 'iphone_15'),
    'there are devices',
  )
  assert((await tintype.status.get()).status === 'operational', 'the service works')
}

/** The library of Standard Webhooks made this signature. */
async function signatures(): Promise<void> {
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,Js6jdfqhs19sfV+cmZRzd/1WYb0qw4VQ4weezCldsMA=',
  }
  const request = {
    payload: '{"test": 2432232314}',
    headers,
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLLSw',
    now: new Date(1_614_265_330_000),
  }
  const error = await verifyWebhook(request).catch((reason: unknown) => reason)
  assert(error instanceof TintypeError && error.code === 'INVALID_EVENT', 'the signature is right, and the body is no event of ours')
  const forged = await verifyWebhook({ ...request, payload: '{"test": 1}' }).catch((reason: unknown) => reason)
  assert(forged instanceof TintypeError && forged.code === 'WEBHOOK_NOT_VERIFIED', 'another body is refused')
  const link = await signLink({
    baseUrl: TINTYPE_URL,
    key: 'key_1',
    secret: 'lsk_1',
    params: { url: 'https://example.com/', full_page: true },
  })
  assert(/\/v1\/take\?key=key_1&url=https%3A%2F%2Fexample\.com%2F&full_page=true&signature=[0-9a-f]{64}$/.test(link), link)
}

async function cancellation(): Promise<void> {
  const controller = new AbortController()
  const captured = tintype.capture({ url: 'https://example.com/', signal: controller.signal }).catch((error: unknown) => error)
  const reason = new Error('enough')
  setTimeout(() => controller.abort(reason), 5)
  assert((await captured) === reason, 'the call rejects with the reason of its signal')
  const nowhere = new Tintype({ baseUrl: 'http://127.0.0.1:1', retries: 1 })
  const failed = await nowhere.status.get().catch((error: unknown) => error)
  assert(failed instanceof TintypeError && failed.code === 'CONNECTION_FAILED', 'a failed connection has its code')
}

await screenshots()
await cancellation()
await batches()
await account()
await signatures()
console.log('the packed client did all that it should')
