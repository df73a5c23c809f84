import t from 'tap'
import { accountUsages, customResourceDefinitions, runnerPools, screenshots, webhooks } from '../../../crds/client/kinds.ts'
import type { KubeObject } from '../../../crds/client/kube-object.ts'
import { mergePatch, Resource, tintypeResource } from '../../../crds/client/resource.ts'
import { definitions } from '../../../crds/generate/custom-resource-definition.ts'
import type { AccountUsage } from '../../../crds/src/kinds/account.ts'
import { buildClaim } from '../../../operator/src/controllers/screenshot/status.ts'
import { eventually } from '../../support/eventually.ts'
import { aScreenshot, completedStatus } from '../../support/fakes/builders.ts'
import { createBeforeRules } from '../../support/processes/create-kinds.ts'
import { startPlane } from '../client/plane.ts'
import { kubectlOf } from './kubectl.ts'

const plane = await startPlane(t, { own: true })
const http = plane.connect(t)
const shots = new Resource(http, screenshots)
const kubectl = kubectlOf(plane)
const url = 'https://example.com/'
const refused = { status: 422, message: /./ }
const manifest = (kind: string, name: string, spec: object) => ({ apiVersion: 'tintype.dev/v1alpha1', kind, metadata: { name }, spec })

t.test('every kind is established, with a structural schema and unique names', async (t) => {
  const crds = await new Resource(http, customResourceDefinitions).listAll()
  const ours = crds.filter(({ metadata }) => metadata.name.endsWith('.tintype.dev'))
  t.equal(ours.length, definitions.length)
  for (const { metadata, status } of ours) {
    const conditions = Object.fromEntries((status?.conditions ?? []).map(({ type, status }) => [type, status]))
    t.match(conditions, { Established: 'True', NamesAccepted: 'True' }, metadata.name)
    t.notOk('NonStructuralSchema' in conditions, metadata.name)
  }
})

t.test('kubectl explain shows options with their unit, range and default', async (t) => {
  // The API server publishes the OpenAPI documents of a kind some time after it has established it.
  for (const { singular } of definitions) {
    for (const part of ['spec', 'status']) {
      const { output } = await eventually(`${singular} is published`, async () => {
        const explained = await kubectl(['explain', `${singular}.${part}`])
        return explained.isOk && explained
      })
      t.match(output, /DESCRIPTION:\n +[A-Z]/, `${singular}.${part}`)
      t.notMatch(output, '<empty>', `${singular}.${part}`)
    }
  }
  const { output } = await kubectl(['explain', 'screenshot.spec.options'])
  const limits = [/Milliseconds to wait before the picture is taken, 0 to\s+60000/, /full-page picture\s+in\s+CSS pixels/]
  for (const words of [/delay\s+<integer>/, /Default: png/, ...limits]) t.match(output, words)
  t.match((await kubectl(['explain', 'shot.status.phase'])).output, /Pending, Running, Completed or Failed/)
})

t.test('kubectl get shows when a key expires, and a long URL does not widen the rows', async (t) => {
  const expiryTime = '2099-01-31T10:00:00Z'
  t.ok((await kubectl(['apply', '-f', '-'], manifest('ApiKey', 'expires', { expiryTime }))).isOk)
  t.match((await kubectl(['get', 'apikey', 'expires'])).output, /EXPIRES[\s\S]*2099-01-31T10:00:00Z/)
  const long = `https://example.com/${'a'.repeat(8_000)}`
  t.ok((await kubectl(['apply', '-f', '-'], manifest('Screenshot', 'long', { url: long }))).isOk)
  const { metadata } = await shots.get('long')
  const claim = buildClaim(aScreenshot({ metadata, spec: { url: long } }), { pod: 'default-1', uid: 'u' }, new Date())
  await shots.patch('long', mergePatch({ status: claim }), { subresource: 'status' })
  const { output } = await kubectl(['get', 'screenshots', '-o', 'wide'])
  t.match(output, /^long +Running +https:\/\/example\.com\/a{59}… /m)
  t.ok(output.split('\n').every((line) => line.length < 512))
  await shots.delete('long')
})

t.test(
  'kubectl apply of an unknown option, or one out of range, is rejected with a message that names the field and the range',
  async (t) => {
    const cases: [options: object, text: RegExp][] = [
      [{ delay: 60001 }, /spec\.options\.delay: Invalid value: 60001: .* should be less than or equal to 60000/],
      [{ imageQuality: -1 }, /spec\.options\.imageQuality: Invalid value: -1: .* should be greater than or equal to 0/],
      [{ format: 'mov' }, /spec\.options\.format: Unsupported value: "mov": supported values: "png", "jpeg", "webp"/],
      [{ viewportWidth: '1920' }, /spec\.options\.viewportWidth: Invalid value: "string": .* must be of type integer/],
      [{ waitUntil: [] }, /spec\.options\.waitUntil: Invalid value: 0: .* should have at least 1 items/],
      [
        { omitBackground: true, format: 'jpeg' },
        /spec\.options: Invalid value: .*: omitBackground needs format png: set format to png, or leave omitBackground out/,
      ],
      [{ viewport_width: 100 }, /unknown field "spec\.options\.viewport_width"/],
    ]
    for (const [options, text] of cases) {
      const { isOk, output } = await kubectl(['apply', '-f', '-'], manifest('Screenshot', 'refused', { url, options }))
      t.notOk(isOk, JSON.stringify(options))
      t.match(output, text)
    }
    t.equal(await shots.find('refused'), undefined)
  },
)

t.test('the spec of a Screenshot cannot be changed', async (t) => {
  await shots.create({ metadata: { name: 'fixed' }, spec: { url } })
  const immutable = { status: 422, message: /immutable: create another/ }
  await t.rejects(shots.patch('fixed', mergePatch({ spec: { url: 'https://example.org/' } })), immutable)
  await t.rejects(shots.patch('fixed', mergePatch({ spec: { options: { delay: 1 } } })), refused)
  await shots.patch('fixed', mergePatch({ metadata: { labels: { mine: 'yes' } }, spec: { url } }))
})

t.test('a new Screenshot is pending, and is found by its phase and its account', async (t) => {
  const created = await shots.create({ metadata: { name: 'waiting' }, spec: { url, accountName: 'acme' } })
  t.equal(created.status?.phase, 'Pending')
  const found = async (fieldSelector: string) => (await shots.list({ fieldSelector })).items.map(({ metadata }) => metadata.name)
  t.ok((await found('status.phase=Pending')).includes('waiting'))
  t.strictSame(await found('status.phase=Pending,spec.accountName=acme'), ['waiting'])
  await shots.patch('waiting', mergePatch({ status: { phase: 'Running' } }), { subresource: 'status' })
  t.notOk((await found('status.phase=Pending')).includes('waiting'))
  t.strictSame(await found('status.phase=Running'), ['waiting'])
})

t.test('a Screenshot with only a url takes less than 1.5 KiB at creation and less than 3 KB at completion', async (t) => {
  const name = `scr-${'0'.repeat(26)}`
  await kubectl(['apply', '--server-side', '-f', '-'], manifest('Screenshot', name, { url }))
  const size = async () => (await kubectl(['get', '--raw', shots.pathOf(name)])).output.trim().length
  const stored = await size()
  t.ok(stored < 1536, `${stored} bytes by kubectl apply`)
  await shots.create({ metadata: { name: 'by-the-gateway' }, spec: { url } })
  const created = (await kubectl(['get', '--raw', shots.pathOf('by-the-gateway')])).output.trim().length
  t.ok(created < 1536, `${created} bytes by create`)
  t.strictSame((await shots.get('by-the-gateway')).spec, { url })
  await shots.patch(name, mergePatch({ status: completedStatus() }), { subresource: 'status' })
  const done = await size()
  t.ok(done < 3_000, `${done} bytes when completed`)
  t.comment(`${created} bytes created, ${stored} applied, ${done} completed`)
})

t.test('the API server records the owner of a Screenshot’s whole status, not of each field', async (t) => {
  await shots.create({ metadata: { name: 'accounted' }, spec: { url, accountName: 'acme' } })
  const { metadata } = await shots.patch('accounted', mergePatch({ status: completedStatus() }), { subresource: 'status' })
  const { managedFields } = metadata as { managedFields?: { fieldsV1: unknown }[] }
  const owned = managedFields?.map(({ fieldsV1 }) => fieldsV1)
  t.strictSame(owned, [{ 'f:spec': {} }, { 'f:status': {} }])
})

t.test('kubectl get and kubectl wait work with a Screenshot', async (t) => {
  await shots.create({ metadata: { name: 'shown' }, spec: { url } })
  const status = completedStatus({ url, result: { format: 'png', size: '12 KB', duration: '0.9 s' } })
  await shots.patch('shown', mergePatch({ status }), { subresource: 'status' })
  const { output } = await kubectl(['get', 'shot', 'shown'])
  t.match(output, /^NAME\s+STATUS\s+URL\s+FORMAT\s+SIZE\s+DURATION\s+AGE\n/)
  t.match(output, /\nshown\s+Completed\s+https:\/\/example\.com\/\s+png\s+12 KB\s+0\.9 s/)
  const { output: wide } = await kubectl(['get', 'shot', 'shown', '-o', 'wide'])
  t.match(wide, /REASON\s+ATTEMPT\s+RUNNER\s+ACCOUNT[\s\S]+Captured\s+1\s+default-1/)
  t.ok((await kubectl(['wait', '--for=condition=Finished', 'shot/shown', '--timeout=120s'])).isOk)
  t.match((await kubectl(['get', 'tintype'])).output, /shown/, 'the category contains all kinds of Tintype')
})

t.test('kubectl scale sets minIdle of a pool, and the API server rejects one above maxPods', async (t) => {
  const pools = new Resource(http, runnerPools)
  const podTemplate = { image: 'x:1', serviceAccountName: 'runner' }
  const words = /spec.minIdle is above spec.maxPods: raise spec.maxPods, or lower spec.minIdle/
  const create = (name: string, size: object) => pools.create({ metadata: { name }, spec: { podTemplate, ...size } })
  await t.rejects(create('wide', { minIdle: 5, maxPods: 4 }), { status: 422, message: words })
  await t.rejects(create('wide', { minIdle: 11 }), { message: words }, 'above the default of maxPods')
  await create('narrow', { minIdle: 4, maxPods: 4 })
  await create('empty', { minIdle: 0, maxPods: 1 })
  await t.rejects(pools.patch('narrow', mergePatch({ spec: { maxPods: 3 } })), { message: words })
  const scaled = await kubectl(['scale', 'runnerpool/narrow', '--replicas=5'])
  t.notOk(scaled.isOk)
  t.match(scaled.output, words)
  t.notOk((await kubectl(['scale', 'runnerpool/narrow', '--replicas=3001'])).isOk)
  t.ok((await kubectl(['scale', 'runnerpool/narrow', '--replicas=3'])).isOk)
  t.equal((await pools.get('narrow')).spec.minIdle, 3)
})

t.test('the API server rejects every count above the limit', async (t) => {
  const usages = new Resource(http, accountUsages)
  const write = (status: AccountUsage['status']) => usages.patch('acme', mergePatch({ status }), { subresource: 'status' })
  await usages.create({ metadata: { name: 'acme' }, spec: { limit: 10 } })
  await write({ used: 10 })
  await t.rejects(write({ used: 11 }), { status: 422, message: /status.used must not exceed spec.limit/ })
  await usages.patch('acme', mergePatch({ spec: { limit: 5 } }))
  await write({ used: 9 })
  await t.rejects(write({ used: 10 }), refused, 'a count above a lowered limit may decrease but not increase')
  await write({ used: 5 })
  await t.rejects(write({ used: 6 }), refused)
  await usages.create({ metadata: { name: 'fresh' }, spec: { limit: 5 } })
  await t.rejects(usages.patch('fresh', mergePatch({ status: { used: 6 } }), { subresource: 'status' }), refused)
})

t.test('a Webhook must have an https URL and known events without duplicates', async (t) => {
  const hooks = new Resource(http, webhooks)
  const create = (spec: object) =>
    hooks.create({ metadata: { generateName: 'hook-' }, spec: { url, events: ['screenshot.completed'], ...spec } } as never)
  await create({})
  const urls = ['http://example.com/', 'https://a:b@example.com/', 'https://example.com/#x'].map((url) => ({ url }))
  const events = [[], ['screenshot.done'], ['screenshot.failed', 'screenshot.failed']].map((events) => ({ events }))
  for (const spec of [...urls, ...events]) await t.rejects(create(spec), refused, JSON.stringify(spec))
})

/** A valid spec of each kind, and the longest name. `isLabel`: without dots. */
const podTemplate = { image: 'x:1', serviceAccountName: 'runner' }
const named: { kind: string; longest: number; isLabel?: boolean; spec: object }[] = [
  { kind: 'Screenshot', longest: 253, spec: { url } },
  { kind: 'ScreenshotSchedule', longest: 253, spec: { schedule: '@hourly', template: { url } } },
  { kind: 'Webhook', longest: 238, spec: { url, events: ['screenshot.completed'] } },
  { kind: 'ApiKey', longest: 253, spec: {} },
  { kind: 'Account', longest: 63, isLabel: true, spec: { plan: 'free' } },
  { kind: 'AccountUsage', longest: 63, isLabel: true, spec: { limit: 1 } },
  { kind: 'RunnerPool', longest: 54, isLabel: true, spec: { podTemplate } },
]
const clientOf = (kind: string) => {
  const { plural } = definitions.find((definition) => definition.kind === kind)!
  return { plural, client: new Resource(http, tintypeResource<KubeObject & { spec?: object; status?: object }>(kind, plural)) }
}

t.test('every kind has a documented limit of its names', async (t) => {
  t.strictSame(named.map(({ kind }) => kind).sort(), definitions.map(({ kind }) => kind).sort())
})

/** Changes of specs. */
const CHANGES: Record<string, object> = {
  Webhook: { description: 'changed' },
  Account: { suspended: true },
  AccountUsage: { limit: 2 },
  RunnerPool: { minIdle: 2 },
}
const condition = { type: 'Ready', status: 'False', reason: 'InvalidName', message: 'x', lastTransitionTime: '2026-11-21T12:00:00Z' }

for (const { kind, longest, isLabel = false, spec } of named) {
  const { client, plural } = clientOf(kind)
  const create = (metadata: object) => client.create({ metadata, spec } as never)

  t.test(`a ${kind} has a name of at most ${longest} characters, and the refusal of a longer one names the limit`, async (t) => {
    const name = isLabel ? `0${'n'.repeat(longest - 2)}9` : `0.n-${'n'.repeat(longest - 6)}.9`
    t.equal((await create({ name })).metadata.name, name)
    await client.delete(name)
    const limit = new RegExp(`at most ${longest} characters|no more than ${longest} characters`)
    await t.rejects(create({ name: 'n'.repeat(longest + 1) }), { status: 422, message: limit })
    if (isLabel)
      await t.rejects(create({ name: 'a.b' }), { status: 422, message: /must not contain dots: use lower-case letters, digits and -/ })
    for (const bad of ['', '-a', 'a-', 'A', 'a_b', 'a b', 'ä']) await t.rejects(create({ name: bad }), refused, bad)
  })

  t.test(`a ${kind} with generateName has a name that works, or is refused with the limit`, async (t) => {
    const generated = await create({ generateName: 'g-' })
    await client.delete(generated.metadata.name)
    // The API server cuts generateName to 58 characters and adds 5.
    if (longest < 63) {
      await t.rejects(create({ generateName: 'g'.repeat(100) }), { status: 422, message: /at most 54 characters/ })
    } else {
      const { metadata } = await create({ generateName: 'g'.repeat(100) })
      t.equal(metadata.name.length, 63)
      await client.delete(metadata.name)
    }
  })

  if (longest < 253) {
    t.test(`a ${kind} with an old name that is too long stays writable after the upgrade`, async (t) => {
      const name = 'o'.repeat(longest + 1)
      const names = isLabel ? [name, 'old.name'] : [name]
      await createBeforeRules(http, plural, {
        create: async () => {
          for (const each of names)
            if (!(await client.find(each)))
              await client.create({ metadata: { name: each, finalizers: ['example.com/keep'] }, spec } as never)
          return true
        },
        isRefused: async () => {
          const refusal = await create({ name: 'r'.repeat(longest + 1) }).then(
            ({ metadata }) => client.delete(metadata.name).then(() => undefined),
            (error: { status?: number }) => error.status,
          )
          return refusal === 422
        },
      })
      for (const each of names) {
        await client.patch(each, mergePatch({ metadata: { labels: { mine: 'yes' } } }))
        await client.patch(each, mergePatch({ spec: CHANGES[kind] ?? {} }))
        await client.patch(each, mergePatch({ status: kind === 'AccountUsage' ? { used: 1 } : { conditions: [condition] } }), {
          subresource: 'status',
        })
        await client.delete(each)
        t.ok((await client.get(each)).metadata.deletionTimestamp, 'the finalizer holds it')
        await client.patch(each, mergePatch({ metadata: { finalizers: null } }))
        t.equal(await client.find(each), undefined)
      }
    })
  }
}
