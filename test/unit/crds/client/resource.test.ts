import t, { type Test } from 'tap'
import { pods, tokenReviews } from '../../../../crds/client/kinds.ts'
import type { KubeHttp, KubeRequest } from '../../../../crds/client/kube-http.ts'
import { defineResource, jsonPatch, mergePatch, Resource, tintypeResource } from '../../../../crds/client/resource.ts'
import { TooLongError } from '../../../../crds/src/runtime/limited-read.ts'
import { type Exchange, sendJson, sendStatus, startScriptedServer } from './scripted-server.ts'
import { aThing, type Thing, things } from './things.ts'

t.test('resource paths contain group, namespace, name and subresource', async (t) => {
  const { http } = await startScriptedServer(t, () => {})
  t.equal(new Resource(http, pods).pathOf('a'), '/api/v1/namespaces/default/pods/a')
  t.equal(new Resource(http, things, { namespace: 'x' }).pathOf(), '/apis/test.dev/v1/namespaces/x/things')
  t.equal(new Resource(http, tokenReviews).pathOf(), '/apis/authentication.k8s.io/v1/tokenreviews')
  const shots = new Resource(http, tintypeResource('Screenshot', 'screenshots'))
  t.equal(shots.pathOf('scr-1', 'status'), '/apis/tintype.dev/v1alpha1/namespaces/default/screenshots/scr-1/status')
})

t.test('resource verbs send the requests that the API server expects', async (t) => {
  const { http, exchanges } = await startScriptedServer(t, ({ response }) =>
    sendJson(response, { metadata: { resourceVersion: '1' }, items: [] }),
  )
  const client = new Resource(http, things)
  await client.get('a')
  await client.list({ labelSelector: 'x=y', limit: 5, resourceVersion: '0' })
  await client.list({ allNamespaces: true })
  await client.create({ ...aThing('a', 0), metadata: { generateName: 'a-', namespace: 'other' } })
  await client.replace(aThing('a', 3))
  await client.replaceStatus(aThing('a', 3))
  await client.patch('a', mergePatch({ status: {} }, { resourceVersion: '3' }), { subresource: 'status' })
  await client.patch('a', jsonPatch([], { '/x': 1 }))
  await client.delete('a', { uid: 'u', resourceVersion: '3', gracePeriodSeconds: 0, propagationPolicy: 'Background' })
  await client.delete('a')
  const base = '/apis/test.dev/v1/namespaces/default/things'
  const seen = exchanges.map(({ method, path, query }: Exchange) => `${method} ${path}${query.size ? `?${query}` : ''}`)
  t.strictSame(seen, [
    `GET ${base}/a`,
    `GET ${base}?labelSelector=x%3Dy&limit=5&resourceVersion=0`,
    'GET /apis/test.dev/v1/things',
    'POST /apis/test.dev/v1/namespaces/other/things',
    ...[`PUT ${base}/a`, `PUT ${base}/a/status`, `PATCH ${base}/a/status`, `PATCH ${base}/a`, `DELETE ${base}/a`, `DELETE ${base}/a`],
  ])
  t.match(exchanges[3]?.body, { apiVersion: 'test.dev/v1', kind: 'Thing', metadata: { generateName: 'a-' } })
  t.equal(exchanges[6]?.headers['content-type'], 'application/merge-patch+json')
  t.strictSame(exchanges[6]?.body, { status: {}, metadata: { resourceVersion: '3' } })
  t.match(exchanges[8]?.body, { preconditions: { uid: 'u', resourceVersion: '3' }, gracePeriodSeconds: 0, propagationPolicy: 'Background' })
  t.strictSame(exchanges[9]?.body, { kind: 'DeleteOptions', apiVersion: 'v1' })
})

t.test('find returns undefined for a missing object, and rejects for other errors', async (t) => {
  const { http } = await startScriptedServer(t, ({ response, path }) =>
    path.endsWith('/a') ? sendStatus(response, 404, 'NotFound') : sendStatus(response, 403, 'Forbidden'),
  )
  const client = new Resource(http, things)
  t.equal(await client.find('a'), undefined)
  await t.rejects(client.find('b'), { name: 'KubeError', status: 403 })
})

t.test('listAll reads all pages, and sends the resourceVersion for the first only', async (t) => {
  const { http, exchanges } = await startScriptedServer(t, ({ response, query }) => {
    const next = { '': 'two', two: 'three', three: '' }[query.get('continue') ?? '']
    sendJson(response, { metadata: { resourceVersion: '9', continue: next }, items: [aThing(`after-${query.get('continue')}`, 1)] })
  })
  const items = await new Resource(http, things).listAll({ resourceVersion: '0', labelSelector: 'x' })
  const names = items.map(({ metadata }) => metadata.name)
  t.strictSame(names, ['after-null', 'after-two', 'after-three'])
  const queries = exchanges.map(({ query }) => `${query.get('resourceVersion')} ${query.get('labelSelector')} ${query.get('limit')}`)
  t.strictSame(queries, ['0 x 10', 'null x 40', 'null x 160'])
})

t.test('a list without items is empty', async (t) => {
  const { http } = await startScriptedServer(t, ({ response }) => sendJson(response, { metadata: {}, items: null }))
  const cluster = defineResource({ group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false })
  t.strictSame(await new Resource(http, cluster).list(), { items: [], resourceVersion: '' })
})

/** Lists objects of these sizes, in bytes, as an API server does. Returns the requested limits, and the size of the largest page. */
async function listSizes(t: Test, sizes: readonly number[], options: Parameters<Resource<Thing>['pages']>[0] = {}) {
  const limits: number[] = []
  let peak = 0
  const request = async ({ query = {}, maxBytes = Number.POSITIVE_INFINITY, onBytes }: KubeRequest) => {
    const start = Number(query.continue ?? 0)
    const limit = Number(query.limit ?? sizes.length)
    limits.push(limit)
    const page = sizes.slice(start, start + limit)
    const bytes = page.reduce((sum, size) => sum + size, 0)
    if (bytes > maxBytes) throw new TooLongError(`more than ${maxBytes} bytes`)
    onBytes?.(bytes)
    peak = Math.max(peak, bytes)
    const next = start + limit < sizes.length ? { continue: String(start + limit) } : {}
    return { metadata: { resourceVersion: '9', ...next }, items: page.map((_, n) => aThing(`a-${start + n}`, 1)) }
  }
  const names: string[] = []
  const resource = new Resource({ namespace: 'default', request } as unknown as KubeHttp, things)
  for await (const { items } of resource.pages(options)) names.push(...items.map(({ metadata }) => metadata.name))
  t.equal(names.join(), sizes.map((_, n) => `a-${n}`).join())
  return { limits, peak }
}

t.test('a page of 500 objects with 1.2 MB had 600 MB: pages begin small, and grow only as far as the objects are small', async (t) => {
  const small = (count: number) => Array<number>(count).fill(100)
  const large = (count: number) => Array<number>(count).fill(1_200_000)
  t.strictSame((await listSizes(t, small(1_400))).limits, [10, 40, 160, 500, 500, 500])
  t.strictSame((await listSizes(t, large(30))).limits, [10, 3, 3, 3, 3, 3, 3, 3])
  const later = await listSizes(t, [...small(60), ...large(20)])
  t.ok(later.peak <= 16 * 2 ** 20, 'large objects after small ones: the page is given up and requested with fewer objects')
  t.strictSame(later.limits.slice(0, 4), [10, 40, 160, 16])
  t.strictSame((await listSizes(t, [100, 100, 100], { maxItems: 2 })).limits, [2, 2])
  t.strictSame((await listSizes(t, [20_000_000, 100])).limits, [10, 1, 1], 'an object that alone is larger than a page')
  const unlimited = await listSizes(t, large(60), { maxItems: Number.POSITIVE_INFINITY })
  t.equal(unlimited.limits[1], 50, 'a list in one page is given up too')
  t.ok(unlimited.peak <= 16 * 2 ** 20)
})
