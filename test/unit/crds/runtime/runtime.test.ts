import { Readable } from 'node:stream'
import t from 'tap'
import { z } from 'zod'
import { readAtMost, readBeginning, TooLongError } from '../../../../crds/src/runtime/limited-read.ts'
import { mapConcurrently } from '../../../../crds/src/runtime/lists.ts'
import { repeat, retry } from '../../../../crds/src/runtime/retry.ts'
import {
  checkStorageSettings,
  OptionalStorageUrl,
  OtlpEndpoint,
  OtlpHeaders,
  storageSettings,
  toStorageAccess,
} from '../../../../crds/src/runtime/settings.ts'
import { parseTraceparent, spanIds, toTraceparent, traceOf } from '../../../../crds/src/runtime/trace-context.ts'
import { assertAccepts } from '../../../support/accepts.ts'
import { aScreenshot } from '../../../support/fakes/builders.ts'

const stream = (...parts: string[]): Readable => Readable.from(parts.map((part) => Buffer.from(part)))

t.test('readAtMost accepts a body of the maximum length, and refuses one more byte', async (t) => {
  t.equal((await readAtMost(stream('abc', 'de'), 5)).toString(), 'abcde')
  const long = stream('abc', 'def', 'ghi')
  await t.rejects(readAtMost(long, 5), TooLongError)
  t.ok(long.destroyed, 'nobody sends the rest')
})

t.test('readBeginning returns the beginning, and destroys a longer stream', async (t) => {
  t.equal((await readBeginning(stream('abc', 'de'), 9)).toString(), 'abcde')
  const long = stream('abc', 'def', 'ghi')
  t.equal((await readBeginning(long, 5)).toString(), 'abcde')
  t.ok(long.destroyed, 'nobody sends the rest')
})

t.test('mapConcurrently maps every item in order, with limited concurrency', async (t) => {
  let active = 0
  let most = 0
  const results = await mapConcurrently([5, 4, 3, 2, 1], 2, async (n, index) => {
    most = Math.max(most, ++active)
    for (let turn = 0; turn < n; turn++) await new Promise((resolve) => setImmediate(resolve))
    active--
    return `${index}:${n}`
  })
  t.strictSame(results, ['0:5', '1:4', '2:3', '3:2', '4:1'])
  t.equal(most, 2)
})

t.test('mapConcurrently starts no further call after a failure', async (t) => {
  const seen: number[] = []
  const map = async (n: number) => {
    seen.push(n)
    if (n === 2) throw new Error('away')
  }
  await t.rejects(mapConcurrently([1, 2, 3, 4], 1, map), { message: 'away' })
  t.strictSame(seen, [1, 2])
})

t.test('OtlpHeaders reads OpenTelemetry’s list of headers', async (t) => {
  t.strictSame(OtlpHeaders.parse(undefined), {})
  t.strictSame(OtlpHeaders.parse('Authorization=Basic%20YWJj=, x-team = shots ,'), { authorization: 'Basic YWJj=', 'x-team': 'shots' })
  assertAccepts(t, (text) => OtlpHeaders.safeParse(text).success, ['', 'a=b'], ['authorization', 'a b=c', 'a=%zz'])
})

t.test('OtlpEndpoint is a URL or undefined', async (t) => {
  t.equal(OtlpEndpoint.parse(''), undefined)
  assertAccepts(t, (url) => OtlpEndpoint.safeParse(url).data === url, ['http://collector:4318'], ['collector:4318'])
})

/** Records waits instead of waiting. */
function aClock() {
  const waits: number[] = []
  return { waits, wait: async (milliseconds: number) => void waits.push(milliseconds) }
}

t.test('retry repeats after errors with the delays of the caller, and resolves with the first success', async (t) => {
  const { waits, wait } = aClock()
  const seen: unknown[] = []
  const work = async (attempt: number) => {
    if (attempt < 4) throw new Error(`failure ${attempt}`)
    return `done after ${attempt}`
  }
  const delayOf = (error: unknown, attempt: number) => {
    seen.push((error as Error).message)
    return attempt === 2 ? 0 : attempt * 10
  }
  t.equal(await retry(work, { delayOf, wait }), 'done after 4')
  t.strictSame(seen, ['failure 1', 'failure 2', 'failure 3'])
  t.strictSame(waits, [10, 30], 'a delay of 0 does not wait')
})

t.test('retry throws the last error when the caller wants no further attempt', async (t) => {
  const { waits, wait } = aClock()
  const last = { not: 'an Error' }
  const work = (attempt: number) => Promise.reject(attempt === 3 ? last : new Error('earlier'))
  const thrown = await retry(work, { delayOf: (_, attempt) => (attempt < 3 ? 5 : undefined), wait }).catch((error: unknown) => error)
  t.equal(thrown, last)
  t.strictSame(waits, [5, 5])
})

t.test('retry throws what the delay or the wait throws', async (t) => {
  const work = () => Promise.reject(new Error('failure'))
  const refuse = () => {
    throw new Error('too busy')
  }
  await t.rejects(retry(work, { delayOf: refuse, wait: aClock().wait }), { message: 'too busy' })
  await t.rejects(retry(work, { delayOf: () => 1, wait: () => Promise.reject(new Error('aborted')) }), { message: 'aborted' })
})

t.test('repeat calls again for results that the caller does not accept', async (t) => {
  const { waits, wait } = aClock()
  const result = await repeat(async (attempt) => attempt, { delayOf: (found) => (found < 3 ? found * 100 : undefined), wait })
  t.equal(result, 3)
  t.strictSame(waits, [100, 200])
  await t.rejects(
    repeat(() => Promise.reject(new Error('thrown')), { delayOf: () => 1, wait }),
    { message: 'thrown' },
  )
})

const Settings = z
  .object({ ...storageSettings, TINTYPE_STORAGE_PUBLIC_URL: OptionalStorageUrl.default('') })
  .superRefine(checkStorageSettings)
const keys = { TINTYPE_STORAGE_ACCESS_KEY: 'key', TINTYPE_STORAGE_SECRET_KEY: 'secret' }
const read = (given: Record<string, string>) => Settings.safeParse({ ...keys, ...given })

t.test('storage settings describe the bucket', async (t) => {
  const endpoint = 'http://[2001:db8::10]:9000'
  t.strictSame(toStorageAccess(Settings.parse({ ...keys, TINTYPE_STORAGE_ENDPOINT: endpoint, TINTYPE_STORAGE_REGION: 'eu-test-1' })), {
    ...{ endpoint, region: 'eu-test-1', bucket: 'tintype', accessKey: 'key', secretKey: 'secret', pathStyle: true },
  })
  const hosted = Settings.parse({ ...keys, TINTYPE_STORAGE_ENDPOINT: 'https://s3.example/', TINTYPE_STORAGE_PATH_STYLE: 'false' })
  t.match(toStorageAccess(hosted), { endpoint: 'https://s3.example/', pathStyle: false })
})

const URLS = ['TINTYPE_STORAGE_ENDPOINT', 'TINTYPE_STORAGE_PUBLIC_URL']
const wrong: [endpoint: string, words: RegExp][] = [
  ['minio:9000', /must begin with http:\/\/ or https:\/\//],
  ['ftp://s3.example', /must begin with http:\/\/ or https:\/\//],
  ['http://2001:db8::10:9000', /IPv6 address in brackets/],
  ['http://s3.example:90000', /port of at most 65535/],
  ['http://', /must be a URL with a host/],
  ['https://s3.example/tintype', /must end after the host and the port/],
  ['https://s3.example?x=1', /must end after the host and the port/],
  ['https://key:secret@s3.example', /must not contain a user/],
]
for (const [url, words] of wrong) {
  for (const name of URLS) {
    t.test(`${name} ${url} is rejected in one line`, async (t) => {
      const { error } = read({ [name]: url })
      t.equal(error?.issues.length, 1)
      t.match(error?.issues[0]?.message, words)
      t.notMatch(error?.issues[0]?.message, /\n|secret/)
      t.match(z.prettifyError(error!), `at ${name}`)
    })
  }
}

for (const host of ['192.0.2.7:9000', '[2001:db8::10]']) {
  t.test(`storage settings reject the bucket in the host name of ${host}`, async (t) => {
    for (const name of URLS) {
      const given = { TINTYPE_STORAGE_ENDPOINT: 'https://s3.example', [name]: `http://${host}` }
      t.ok(read(given).success)
      const { error } = read({ ...given, TINTYPE_STORAGE_PATH_STYLE: 'false' })
      t.match(error?.issues, [{ path: [name], message: /has no subdomain.*set TINTYPE_STORAGE_PATH_STYLE to true/ }])
    }
  })
}

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

t.test('parseTraceparent accepts only valid W3C Trace Context headers', async (t) => {
  t.strictSame(parseTraceparent(`00-${TRACE}-${SPAN}-01`), { traceId: TRACE, spanId: SPAN, isSampled: true })
  t.strictSame(parseTraceparent(`00-${TRACE}-${SPAN}-02`), { traceId: TRACE, spanId: SPAN, isSampled: false })
  const ids = [`${'0'.repeat(32)}-${SPAN}`, `${TRACE}-${'0'.repeat(16)}`, `${TRACE.toUpperCase()}-${SPAN}`].map((ids) => `00-${ids}-01`)
  const forms = [`ff-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01\nx: y`, `00-${TRACE}-${SPAN}`]
  const valid = [`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-00`]
  assertAccepts<string | string[] | undefined>(t, parseTraceparent, valid, [undefined, ['00'], '', ...ids, ...forms])
  for (const text of valid) t.equal(toTraceparent(parseTraceparent(text)!), text, 'toTraceparent is the inverse')
})

t.test('traceOf finds the trace on an object', async (t) => {
  const annotations = { 'tintype.dev/traceparent': `00-${TRACE}-${SPAN}-01` }
  t.equal(traceOf(aScreenshot({ metadata: { annotations } }))?.traceId, TRACE)
  t.equal(traceOf(aScreenshot()), undefined)
})

t.test('span ids are derived from their subjects, and differ', async (t) => {
  const ids = [spanIds.screenshot('uid'), spanIds.capture('uid', 1), spanIds.capture('uid', 2), spanIds.delivery('dlv_1', 1)]
  t.equal(new Set(ids).size, ids.length)
  for (const id of ids) t.match(id, /^[0-9a-f]{16}$/)
  t.equal(spanIds.capture('uid', 1), ids[1])
})
