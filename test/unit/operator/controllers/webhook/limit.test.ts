import t from 'tap'
import { Store } from '../../../../../crds/client/lister.ts'
import type { Webhook } from '../../../../../crds/src/kinds/webhook.ts'
import { accountOf } from '../../../../../crds/src/records/record.ts'
import { affectedKeys, isBeyondLimit, MAX_RECEIVERS } from '../../../../../operator/src/controllers/webhook/limit.ts'
import { ACCOUNT_INDEX } from '../../../../../operator/src/kube/account-index.ts'
import { at, aWebhook } from '../../../../support/fakes/builders.ts'

const hookAt = (second: number, name = `hook-${second}`, more: Parameters<typeof aWebhook>[0] = {}): Webhook =>
  aWebhook({ ...more, name, metadata: { creationTimestamp: at(second).toISOString() } })
const many = Array.from({ length: MAX_RECEIVERS }, (_, index) => hookAt(index))

t.test('isBeyondLimit is false for the oldest webhooks of an account', async (t) => {
  const late = hookAt(500)
  const all = [late, ...many]
  t.ok(isBeyondLimit(late, all))
  t.strictSame(
    many.filter((old) => isBeyondLimit(old, all)),
    [],
  )
  t.notOk(isBeyondLimit(late, all.slice(0, -1)), 'one was deleted')
})

t.test('isBeyondLimit ignores inactive and deleted webhooks, the default webhook and other namespaces', async (t) => {
  const late = hookAt(500)
  const first = many[0]!
  const idle = aWebhook({ name: 'hook-0', spec: { active: false }, metadata: { creationTimestamp: first.metadata.creationTimestamp } })
  const signer = aWebhook({ name: 'hook-0', spec: { isDefault: true }, metadata: { creationTimestamp: first.metadata.creationTimestamp } })
  const apart = aWebhook({ name: 'hook-0', metadata: { ...first.metadata, namespace: 'elsewhere' } })
  const deletionTimestamp = at(600).toISOString()
  const deleted = aWebhook({ name: 'hook-0', metadata: { creationTimestamp: first.metadata.creationTimestamp, deletionTimestamp } })
  for (const other of [idle, signer, apart, deleted]) t.notOk(isBeyondLimit(late, [late, other, ...many.slice(1)]))
  const off = hookAt(500, 'off', { spec: { active: false } })
  t.notOk(isBeyondLimit(off, [off, ...many]), 'an inactive webhook does not count')
})

t.test('isBeyondLimit orders webhooks of the same second by name', async (t) => {
  const [a, b] = [hookAt(500, 'a'), hookAt(500, 'b')]
  const all = [a, b, ...many.slice(1)]
  t.strictSame([isBeyondLimit(a, all), isBeyondLimit(b, all)], [false, true])
})

t.test('affectedKeys includes the other webhooks only above the limit, when one is added or removed', async (t) => {
  const store = new Store<Webhook>().addIndex(ACCOUNT_INDEX, accountOf)
  for (const hook of many.slice(0, 5)) store.set(hook)
  const [first] = many as [Webhook]
  t.strictSame(affectedKeys({ type: 'added', object: first, source: 'watch' }, store), ['default/hook-0'])
  for (const hook of many) store.set(hook)
  t.equal(affectedKeys({ type: 'modified', object: first, old: first, source: 'watch' }, store).length, 1)
  const off = hookAt(0, 'hook-0', { spec: { active: false } })
  t.equal(affectedKeys({ type: 'modified', object: off, old: first, source: 'watch' }, store).length, MAX_RECEIVERS)
  store.delete('default/hook-0')
  store.set(hookAt(500))
  t.ok(affectedKeys({ type: 'deleted', object: first, old: first, source: 'watch' }, store).includes('default/hook-500'))
})
