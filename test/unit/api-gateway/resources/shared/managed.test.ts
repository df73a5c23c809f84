import t from 'tap'
import { routes } from '../../../../../api-gateway/src/resources/all.ts'
import { assertEvery } from '../../../../support/accepts.ts'
import { aGateway, NOW } from '../../fakes.ts'
import { listed } from '../../requests.ts'

// What keys, webhooks and schedules have in common: their lists, versions, limits and repetitions. The tests of each kind have its own fields.

type Gateway = ReturnType<typeof aGateway>
type Kind = 'keys' | 'webhooks' | 'schedules'

const hook = { url: 'https://hooks.example.com/in', events: ['screenshot.completed'] }
/** A body of each kind without its name, the setting of its maximum, and the field that only a creation shows. */
const kinds: { kind: Kind; body: object; max: 'maxKeys' | 'maxWebhooks' | 'maxSchedules'; secret?: string }[] = [
  { kind: 'keys', body: {}, max: 'maxKeys', secret: 'key' },
  { kind: 'webhooks', body: hook, max: 'maxWebhooks', secret: 'signing_secret' },
  { kind: 'schedules', body: { schedule: '@hourly', url: 'https://example.com/' }, max: 'maxSchedules' },
]
const recordsOf = (gateway: Gateway, kind: Kind) => (kind === 'keys' ? gateway.apiKeys : gateway[kind]) as unknown as Gateway['webhooks']

for (const { kind, body, max, secret = '' } of kinds) {
  const path = `/${kind}`

  /** A gateway whose caller is the first of its keys, so that `others` records can be created. */
  const start = (others = 9) => {
    let milliseconds = 0
    const now = () => new Date(NOW.getTime() + milliseconds++)
    const gateway = aGateway({ [max]: others + (kind === 'keys' ? 1 : 0), now })
    const records = recordsOf(gateway, kind)
    const create = async (name: string, more: object = {}, headers = {}) => gateway.call('POST', path, { name, ...body, ...more }, headers)
    /** Creates a record. Returns its path and the header that names its version. */
    const createOne = async () => {
      const { id } = (await create('one')).body.data
      const etag = String((await gateway.call('GET', `${path}/${id}`)).headers.etag)
      return { id, own: `${path}/${id}`, version: { 'if-match': etag }, etag }
    }
    /** Another writer changes the newest record: what clients see of it, or a counter alone. */
    const overtake = (grown = 0) => records.change(({ metadata }) => (metadata.generation = (metadata.generation ?? 1) + grown))
    return { ...gateway, records, create, createOne, overtake }
  }

  t.test(`POST ${path} enforces the maximum per account, and a rejected request does not use up its Idempotency-Key`, async (t) => {
    const { call, create, createOne } = start(1)
    const { own } = await createOne()
    const once = { 'idempotency-key': 'k1' }
    const error = { code: 'LIMIT_REACHED', details: { limit: kind === 'keys' ? 2 : 1 } }
    t.match(await create('two', {}, once), { status: 409, body: { error } })
    await call('DELETE', own)
    t.match(await create('three', {}, once), { status: 201, body: { data: { name: 'three' } } })
  })

  t.test(`POST ${path} under an Idempotency-Key makes one, and shows its secret to the first request only`, async (t) => {
    const { call, create, records, objects } = start()
    const once = { 'idempotency-key': 'k1' }
    const first = await create('one', {}, once)
    const count = records.objects.length
    const { [secret]: text, ...record } = first.body.data
    for (const isDeleted of [false, true]) {
      if (isDeleted) await call('DELETE', `${path}/${record.id}`)
      const again = await create('one', {}, once)
      t.match(again, { status: 201, headers: { 'idempotent-replayed': 'true', location: first.headers.location } })
      t.strictSame(again.body.data, record, 'also when it is gone')
      t.match(again.body.message, secret === '' ? /created/ : /shown only once/)
    }
    t.equal(records.objects.length, count - 1)
    t.match(await create('two', {}, once), { status: 422, body: { error: { code: 'IDEMPOTENCY_KEY_REUSED' } } })
    t.notOk(text !== undefined && JSON.stringify([...objects.objects.values()]).includes(text))
  })

  t.test(`GET ${path} pages through those of the account, the oldest first, and leaves out inactive ones unless asked`, async (t) => {
    const { call, create, records } = start()
    if (kind === 'keys') records.change(({ spec }) => (spec.name = 'zero'))
    else await create('zero')
    for (const name of ['one', 'two', 'of another account']) await create(name)
    records.change(({ spec }) => (spec.accountName = 'other'))
    const list = await call('GET', path)
    t.strictSame(listed(list, 'name'), ['zero', 'one', 'two'])
    t.strictSame([list.body.success, list.body.pagination], [true, { limit: 100, offset: 0, total: 3, has_more: false }])
    t.notMatch(JSON.stringify(list.body), /"key"|"signing_secret"|sealed/)
    const middle = await call('GET', `${path}?limit=1&offset=1`)
    t.match(middle.body, { data: [{ name: 'one' }], pagination: { limit: 1, offset: 1, total: 3, has_more: true } })
    t.match((await call('GET', `${path}?limit=9999`)).body.pagination, { limit: 500 })
    for (const query of ['limit=0', 'offset=-1', 'include_inactive=yes', 'limit=1&limit=2', 'page=2'])
      t.equal((await call('GET', `${path}?${query}`)).status, 400, query)
    if (kind === 'schedules') return
    records.change(({ spec }) => (spec.active = false), 1)
    t.strictSame(listed(await call('GET', path), 'name'), ['zero', 'two'])
    t.strictSame(listed(await call('GET', `${path}?include_inactive=true`), 'name'), ['zero', 'one', 'two'])
  })

  t.test(`GET ${path}/:id responds with 304 to its ETag, and no proxy may change it`, async (t) => {
    const { call, createOne } = start()
    const { own, id, etag } = await createOne()
    const found = await call('GET', own)
    t.match(found, { status: 200, body: { success: true, data: { id, name: 'one' } } })
    t.match(found.headers, { 'cache-control': 'private, no-cache, no-transform' })
    t.equal((await call('GET', own, undefined, { 'if-none-match': etag })).status, 304)
  })

  t.test(`PATCH and DELETE ${path}/:id under If-Match lose to a writer that comes in between, and to none but a counter`, async (t) => {
    const { call, createOne, records, overtake } = start()
    const { own, version } = await createOne()
    t.match(await call('PATCH', own, {}), { status: 400, body: { error: { details: [{ code: 'empty' }] } } })
    let rivals = [() => overtake(1)]
    records.beforePatch = () => rivals.pop()?.()
    t.match(await call('PATCH', own, { name: 'two' }, version), { status: 412, body: { error: { code: 'PRECONDITION_FAILED' } } })
    rivals = [() => overtake()]
    const next = { 'if-match': String((await call('GET', own)).headers.etag) }
    t.match(await call('PATCH', own, { name: 'two' }, next), { status: 200, body: { message: /updated/, data: { name: 'two' } } })
    t.equal((await call('PATCH', own, { name: 'three' }, { 'if-match': '*' })).status, 200)
    t.equal((await call('DELETE', own, undefined, version)).status, 412)
    t.match(await call('DELETE', own), { status: 204, body: undefined })
    for (const method of ['GET', 'DELETE']) t.equal((await call(method, own)).status, 404)
  })

  t.test(`concurrent POST ${path} under one Idempotency-Key make one, and one of them shows its secret`, async (t) => {
    const { create, records } = start()
    const count = records.objects.length
    const responses = await Promise.all([1, 2, 3, 4].map(() => create('one', {}, { 'idempotency-key': 'k1' })))
    const isFirst = ({ status, headers }: (typeof responses)[number]) => status === 201 && headers['idempotent-replayed'] === undefined
    const [made, ...more] = responses.filter(isFirst)
    t.ok(secret === '' || secret in (made?.body.data ?? {}))
    t.strictSame(more, [])
    const others = responses.filter((response) => !isFirst(response))
    assertEvery(t, others, ({ status, body }) => status === 201 || body.error.code === 'IDEMPOTENCY_IN_PROGRESS')
    t.equal(records.objects.length, count + 1)
  })

  const deletionTimestamp = NOW.toISOString()
  t.test(`no route below ${path} finds one of another account, one that a finalizer keeps, or a malformed id`, async (t) => {
    const { call, createOne, records, screenshots } = start()
    const { id, own } = await createOne()
    const record = records.objects.at(-1)!
    const ofOne = routes.filter((route) => route.path.startsWith(`${path}/{`))
    t.ok(ofOne.length >= 4)
    for (const hidden of [
      { ...record, spec: { ...record.spec, accountName: 'other' } },
      { ...record, metadata: { ...record.metadata, deletionTimestamp } },
    ]) {
      records.put(hidden)
      const stored = records.objects
      for (const { method, path: template } of ofOne) {
        const send = (of: string) => {
          const url = template.replace(/\{\w+\}/, of).replaceAll(/\{\w+\}/g, 'x')
          const body = url.endsWith('/check-url')
            ? { url: 'https://example.com/' }
            : ['patch', 'put'].includes(method)
              ? { name: 'mine' }
              : undefined
          return call(method.toUpperCase(), url, body)
        }
        for (const unknown of [id, 'x', id.replace('_', '-')])
          t.equal((await send(unknown)).status, 404, `${method} ${template} of ${unknown}`)
      }
      t.equal(listed(await call('GET', path)).includes(id), false)
      t.strictSame([records.objects, screenshots.objects.size], [stored, 0], 'nothing has changed')
    }
    records.put(record)
    t.equal((await call('GET', own)).status, 200, 'control')
  })
}
