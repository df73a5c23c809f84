import t from 'tap'
import { mergePatch } from '../../../crds/client/resource.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { ScreenshotRecord } from '../../../crds/src/records/record.ts'
import { eventKey } from '../../../crds/src/records/storage-keys.ts'
import { type Envelope, recordIn } from '../../../crds/src/webhooks/events.ts'
import { toRequestAnnotation } from '../../../crds/src/webhooks/webhook-requests.ts'
import { assertEvery } from '../../support/accepts.ts'
import { countIgnored, JUNK, sumIgnored, toShort } from '../../support/attack/junk.ts'
import { eventually } from '../../support/eventually.ts'
import { choose } from '../../support/length.ts'
import { answerWith, type ReceivedRequest } from '../../support/servers/https-receiver.ts'
import { startStage } from './deliveries-stage.ts'

// Objects under events/ of the bucket, written with the store's own key: the operator never posts foreign content, but builds the event
// again from its record.

const stage = await startStage(t)
const { receiver, rest, world, gateway } = stage
// The second attempt gets its response only after an object was planted.
const operator = await stage.startOperator({ TINTYPE_WEBHOOK_TIMEOUT_MILLISECONDS: '30000' })
const put = (key: string, content: string | Buffer) => world.bucket.putObject('tintype', key, content)
const sizeOf = async (key: string) => (await world.bucket.statObject('tintype', key)).size
const EVIL = 'https://evil.example/'

/** The bytes of the event with changed fields. */
const withFacts = (body: Buffer, facts: Partial<ScreenshotRecord>, envelope: object = {}): string => {
  const event: Envelope = JSON.parse(body.toString())
  return JSON.stringify({ ...event, ...envelope, data: { ...event.data, screenshot: { ...recordIn(event.data), ...facts } } })
}
const idOf = (body: Buffer): string => JSON.parse(body.toString()).data.screenshot.id

/** Planted objects by their defect. Each is built from the bytes that the first attempt posted. */
const cases: { what: string; reason?: string; make: (body: Buffer) => string | Buffer }[] = [
  ...choose(JUNK, (_, index) => index % 3 === 0).map((junk) => ({ what: `junk ${toShort(junk)}`, make: () => junk })),
  { what: 'the bytes of another event', reason: 'id', make: (body) => withFacts(body, {}, { id: newId('evt', new Date()) }) },
  { what: 'an event of another Screenshot', reason: 'id', make: (body) => withFacts(body, { id: newId('scr', new Date()) }) },
  {
    what: 'the event with a file of another account',
    make: (body) => withFacts(body, { storage_path: `users/other/${idOf(body)}.png` }),
  },
  { what: 'the event with links to another host', make: (body) => withFacts(body, { download_url: EVIL }) },
  { what: 'the event with another URL', make: (body) => withFacts(body, { url: EVIL }) },
  { what: 'an event of another type', make: (body) => withFacts(body, {}, { type: 'screenshot.failed' }) },
  { what: 'deeply nested lists', make: (body) => withFacts(body, {}, { more: 0 }).replace(/0}$/, `${'['.repeat(100)}${']'.repeat(100)}}`) },
]
const planted: { key: string; reason: string }[] = []

const attemptOf = ({ headers }: ReceivedRequest): number => Number(headers['x-webhook-attempt'])
const idFromHeaders = ({ headers }: ReceivedRequest): string => headers['webhook-id'] ?? ''

for (const { what, reason = 'content', make } of cases) {
  t.test(`an event whose kept bytes are ${what} is built again, for its retries and on request`, async (t) => {
    const { id } = await stage.subscribe()
    const contents: (string | Buffer)[] = []
    // The bytes are stored after the first attempt has failed, and read for each further attempt.
    receiver.answer = async (request, response) => {
      const attempt = attemptOf(request)
      if (attempt === 2) {
        const content = make(request.body)
        await put(eventKey(idFromHeaders(request)), content)
        contents.push(content)
      }
      answerWith(attempt < 3 ? 503 : 200)(request, response)
    }
    await stage.capture()
    const [first, , third] = await receiver.whenReceived(3)
    const key = eventKey(idFromHeaders(first!))
    planted.push({ key, reason })
    t.equal(third?.body.toString(), first?.body.toString())
    const [delivery] = await stage.whenListed(id, ([listed]) => listed?.attempts.length === 3)
    t.match(delivery, { status: 'successful', event_id: idFromHeaders(first!) })

    t.equal((await rest('POST', `/webhooks/${id}/deliveries/${delivery.id}/redeliver`)).status, 202)
    const fourth = (await receiver.whenReceived(4))[3]
    t.equal(fourth?.body.toString(), first?.body.toString())
    t.equal(countIgnored(operator.output(), key), 1, 'the ignored object is logged once')
    t.ok(operator.output().includes(`"key":"${key}","kind":"event","reason":"${reason}"`), reason)
    t.equal(await sizeOf(key), Buffer.byteLength(contents[0]!), 'the object is unchanged')
  })
}

t.test('the event of a deleted Screenshot is not delivered from foreign bytes', async (t) => {
  const { id } = await stage.subscribe()
  const screenshot = await stage.capture()
  const [first] = await receiver.whenReceived(1)
  const [delivery] = await stage.whenListed(id, (data) => data.length === 1)
  t.equal((await rest('DELETE', `/screenshots/${screenshot}`)).status, 204)
  const key = eventKey(idFromHeaders(first!))
  const foreign = [
    ...JUNK.map((content) => ({ content, reason: 'content' })),
    { content: withFacts(first!.body, { id: newId('scr', new Date()) }), reason: 'id' },
    { content: withFacts(first!.body, { storage_path: `users/other/${screenshot}.png` }), reason: 'account' },
    { content: withFacts(first!.body, { download_url: EVIL }), reason: 'account' },
  ]
  const counted = async (reason: string) => sumIgnored((await operator.get('/metrics')).text, 'event', reason)
  for (const { content, reason } of foreign) {
    await put(key, content)
    const before = await counted(reason)
    t.equal((await rest('POST', `/webhooks/${id}/deliveries/${delivery.id}/redeliver`)).status, 202)
    await eventually(`${reason} is counted`, async () => (await counted(reason)) > before)
  }
  const asked = { do: 'redeliver', nonce: 'c'.repeat(20), at: new Date(), delivery: delivery.id } as const
  await stage.hooks.patch(toObjectName(id), mergePatch({ metadata: { annotations: toRequestAnnotation(asked) } }))
  const response = await eventually(
    'the operator has responded',
    async () => (await stage.hooks.get(toObjectName(id))).status?.responses?.[asked.nonce],
  )
  t.match(response, { success: false, statusCode: 0, error: 'the screenshot was deleted, and its event was not kept' })
  t.equal(receiver.received.length, 1, 'nothing is posted')
  t.equal(countIgnored(operator.output(), key), 1)
})

t.test('ignored objects under events/ are counted, and no program failed', async (t) => {
  const { text } = await operator.get('/metrics')
  for (const reason of ['content', 'id']) {
    const count = planted.filter((each) => each.reason === reason).length
    // Counted once for the third attempt, and once for the request.
    t.ok(sumIgnored(text, 'event', reason) >= 2 * count, reason)
  }
  t.notMatch(gateway.log(), /"statusCode":5\d\d/)
  t.equal(operator.process.exitCode, null)
  // No chart is installed here, so there is no admission policy. The operator reports this, and no other error.
  const failures = operator.output().match(/^\{"level":[56]0.*$/gm) ?? []
  assertEvery(t, failures, (line) => line.includes('PolicyMissing'))
  const { id } = await stage.subscribe()
  const screenshot = await stage.capture()
  const [delivery] = await stage.whenListed(id, (data) => data.length === 1)
  t.match(delivery, { status: 'successful', screenshot_id: screenshot })
})
