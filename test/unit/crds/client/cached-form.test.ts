import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { toCached, toWhole } from '../../../../crds/client/cached-form.ts'
import { screenshots, tokenReviews } from '../../../../crds/client/kinds.ts'
import type { KubeObject } from '../../../../crds/client/kube-object.ts'
import { Reflector } from '../../../../crds/client/reflector.ts'
import { Resource } from '../../../../crds/client/resource.ts'
import type { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import { showsEveryOption, toEcho, toRecord } from '../../../../crds/src/records/record.ts'
import { isWhole } from '../../../../crds/src/schema/custom-resource.ts'
import { aSchedule, aScreenshot } from '../../../support/fakes/builders.ts'
import { type Exchange, sendJson, startScriptedServer, until } from './scripted-server.ts'

const LARGE = 1_200_000
const withOptions = (options: CaptureOptions) => aScreenshot({ name: 'a', spec: { options } })

for (const [what, options, left] of [
  ['html', { html: 'é'.repeat(5_000) }, ['html']],
  ['all texts of a page', { markdown: 'x'.repeat(9_000), styles: 'x'.repeat(8_193), delay: 5 }, ['markdown', 'styles']],
  ['a template', { pdfFooterTemplate: 'x'.repeat(16_000), format: 'pdf' }, ['pdfFooterTemplate']],
  ['selectors that are long together', { hideSelectors: Array.from({ length: 20 }, () => 'x'.repeat(500)) }, ['hideSelectors']],
  ['areas to ignore', { compareIgnore: Array.from({ length: 10 }, () => ({ selector: 'x'.repeat(1_000) })) }, ['compareIgnore']],
] as const satisfies [string, CaptureOptions, string[]][]) {
  t.test(`a cache leaves ${what} out, and only that`, async (t) => {
    const whole = withOptions(options)
    const cached = toCached(whole)
    const kept = Object.entries(options).filter(([name]) => !(left as readonly string[]).includes(name))
    t.strictSame(Object.keys(cached.metadata.leftOut ?? {}), left)
    t.strictSame(cached.spec.options, Object.fromEntries(kept))
    t.equal(isWhole(cached), false)
    t.strictSame(toWhole(cached, whole), whole)
    t.strictSame(toCached(cached), cached)
  })
}

t.test('a cache keeps what is small as it is', async (t) => {
  const small = withOptions({ html: 'x'.repeat(8_192), hideSelectors: ['#a', '#b'], waitForFunction: 'true', delay: 5 })
  t.equal(toCached(small), small)
  const kept = aScreenshot({ metadata: { annotations: { 'tintype.dev/traceparent': '00', 'request.tintype.dev/abc': 'test' } } })
  t.equal(toCached(kept), kept)
})

t.test('a cache keeps no annotations of other programs, and none of Tintype that is large', async (t) => {
  const annotations = {
    'kubectl.kubernetes.io/last-applied-configuration': 'x'.repeat(200_000),
    'argocd.argoproj.io/tracking-id': 'a',
    'tintype.dev.example.com/a': 'a',
    'tintype.dev/note': 'x'.repeat(9_000),
    'tintype.dev/estimated-time': '1-2s',
  }
  const { metadata } = toCached(aScreenshot({ metadata: { annotations, managedFields: [{}] } }))
  t.strictSame(metadata.annotations, { 'tintype.dev/estimated-time': '1-2s' })
  t.notOk('managedFields' in metadata)
  t.equal(toCached<KubeObject>({ metadata: { name: 'a', annotations: { other: 'x' } } }).metadata.annotations, undefined)
})

t.test('the record of a Screenshot in a cache shows its long texts as before, and names other long options', async (t) => {
  const whole = withOptions({ html: `<p>${'ß'.repeat(9_000)}`, styles: `${'x'.repeat(63)}${'😀'.repeat(9_000)}`, delay: 7 })
  const cached = toCached(whole)
  const linkTo = () => undefined
  t.strictSame(toRecord(cached, linkTo), toRecord(whole, linkTo))
  t.ok(showsEveryOption(cached))
  const listed = toCached(withOptions({ hideSelectors: Array.from({ length: 20 }, () => 'x'.repeat(500)) }))
  t.equal(toEcho(listed.spec.options, [], listed.metadata.leftOut).hide_selectors, '…')
  t.notOk(showsEveryOption(listed))
})

t.test('a whole write of an object from a cache would remove its html: the client refuses it', async (t) => {
  const { http, exchanges } = await startScriptedServer(t, ({ response, body }) => sendJson(response, body))
  const client = new Resource(http, screenshots)
  const cached = toCached(withOptions({ html: 'x'.repeat(LARGE) }))
  t.throws(() => client.replace(cached), /from a cache/)
  t.throws(() => client.replaceStatus(cached), /from a cache/)
  t.throws(() => client.create(cached), /from a cache/)
  t.equal(exchanges.length, 0)
  await new Resource(http, tokenReviews).create({ spec: { token: 'x' } })
  t.equal(exchanges.length, 1, 'an object without metadata')
})

t.test('40 Screenshots with 1.2 MB of html kept 48 MB in each program: a cache keeps none of it', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const text = (n: number) => `${n}${'<p>some text</p>'.repeat(LARGE / 16)}`
  const stored = (n: number, version: number) => {
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': 'x'.repeat(200_000) }
    const metadata = { resourceVersion: String(version), annotations }
    return aScreenshot({ name: `shot-${n}`, metadata, spec: { options: { html: text(n) } } })
  }
  let watch: Exchange | undefined
  const { http } = await startScriptedServer(t, (exchange) => {
    const { query, response } = exchange
    if (query.get('watch') === 'true') {
      watch = exchange
      response.writeHead(200)
      return response.flushHeaders()
    }
    const start = Number(query.get('continue') ?? 0)
    const end = Math.min(20, start + Number(query.get('limit')))
    const items = Array.from({ length: end - start }, (_, n) => stored(start + n, 1))
    return sendJson(response, { metadata: { resourceVersion: '1', ...(end < 20 ? { continue: String(end) } : {}) }, items })
  })
  const reflector = new Reflector({ http, resource: screenshots })
  t.teardown(() => reflector.stop())
  collect()
  const before = process.memoryUsage().heapUsed
  reflector.start()
  await reflector.whenSynced()
  await until(() => watch !== undefined, 'the watch')
  for (let n = 20; n < 40; n++) {
    const { response } = watch!
    response.write(`${JSON.stringify({ type: 'ADDED', object: stored(n, n) })}\n`)
    await until(() => reflector.lister.has(`default/shot-${n}`), 'the object')
  }
  reflector.noteWritten(stored(0, 100))
  await setImmediate()
  collect()
  const kept = (process.memoryUsage().heapUsed - before) / 2 ** 20
  t.equal(reflector.lister.size, 40)
  // The requests themselves keep some.
  t.ok(kept < 10, `${kept.toFixed(1)} MiB`)
})

t.test('equal capture policies of several objects are one object, in Screenshots and schedules', async (t) => {
  const policy = (host: string) => ({ keyId: 'key_1', allowedHosts: [host] })
  const shot = (host: string) => toCached(aScreenshot({ spec: { capturePolicy: policy(host) } })).spec
  const template = { url: 'https://b.example/', capturePolicy: policy('a.example') }
  const schedule = toCached(aSchedule({ spec: { template } })).spec
  const [one, same, other] = [shot('a.example'), shot('a.example'), shot('b.example')]
  t.equal(same.capturePolicy, one.capturePolicy)
  t.equal(schedule.template.capturePolicy, one.capturePolicy)
  t.strictSame(schedule, aSchedule({ spec: { template } }).spec)
  t.strictSame(other, aScreenshot({ spec: { capturePolicy: policy('b.example') } }).spec)
})
