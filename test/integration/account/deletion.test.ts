import t from 'tap'
import { screenshotSchedules, webhooks } from '../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { mergePatch, Resource } from '../../../crds/client/resource.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { ApiKey } from '../../../crds/src/kinds/api-key.ts'
import { accountOf } from '../../../crds/src/records/record.ts'
import { deletedAccountKey } from '../../../crds/src/records/storage-keys.ts'
import { findCondition } from '../../../crds/src/schema/conditions.ts'
import { eventually } from '../../support/eventually.ts'
import { accessPlane } from '../../support/processes/plane-access.ts'
import { call } from '../api-gateway/client.ts'
import { startStage } from '../retention/stage.ts'

// Accounts are deleted with kubectl while captures of them are queued. There is no pool, so they stay queued. The grace period is a second.

const stage = await startStage(t)
const { world, gateway } = stage
const http = new KubeHttp(await accessPlane(world.plane.kubeconfigPath))
t.teardown(() => http.close())
const hooks = new Resource(http, webhooks)
const keyOfOther = await world.createKey({ accountName: 'other' })
// The operator would create their usage first.
for (const name of ['kept-for', 'held']) await world.createAccount(name)
await stage.startOperator({ TINTYPE_RETENTION_LIVE_FOR_SECONDS: '3600', TINTYPE_RETENTION_ACCOUNT_GRACE_SECONDS: '1' })

const create = async (key: string): Promise<string> => {
  const { body } = await call(`${gateway.url}/v1/screenshots`, { method: 'POST', key, body: { url: 'https://example.com/' } })
  return toObjectName(body.id)
}
const objectsOf = async (account: string) => {
  const [shots, keys, ends] = await Promise.all([world.screenshots.listAll(), world.keys.listAll(), hooks.listAll()])
  return [...shots, ...keys, ...ends].filter((object) => accountOf(object) === account).map(({ metadata }) => metadata.name)
}
const filesOf = async (account: string) => (await stage.keysUnder('')).filter((name) => name.split('/')[1] === account)

t.test('kubectl showed a deleted object that a finalizer kept as Ready', async (t) => {
  const [url, accountName] = ['https://example.com/', 'kept']
  const metadata = { name: 'kept', finalizers: ['example.com/held'] }
  const schedules = new Resource(http, screenshotSchedules)
  await world.createKey({ accountName: 'kept-for' })
  const [key] = (await world.keys.listAll()).filter((each) => accountOf(each) === 'kept-for') as [ApiKey]
  await world.keys.patch(key.metadata.name, mergePatch({ metadata: { finalizers: metadata.finalizers } }))
  await world.accounts.create({ metadata, spec: { plan: 'scale' } } as never)
  await hooks.create({ metadata, spec: { accountName: 'kept-for', url, events: ['screenshot.failed'] } } as never)
  await schedules.create({ metadata, spec: { accountName: 'kept-for', schedule: '@daily', template: { url } } } as never)
  const kinds = [world.keys, hooks, schedules, world.accounts] as unknown as Resource<ApiKey>[]
  for (const [index, kind] of kinds.entries()) {
    const name = index === 0 ? key.metadata.name : accountName
    const readyOf = async () => findCondition((await kind.get(name)).status?.conditions, 'Ready')
    await eventually(`${index} is ready`, async () => (await readyOf())?.status === 'True')
    await kind.delete(name)
    const ready = await eventually(`${index} says that it is deleted`, async () => {
      const condition = await readyOf()
      return condition?.status === 'False' && condition
    })
    t.match(ready, { reason: 'Deleting', message: /metadata\.finalizers/ })
    if (kind === (schedules as unknown)) t.equal((await schedules.get(name)).status?.nextScheduleTime, undefined)
    await kind.patch(name, mergePatch({ metadata: { finalizers: null } }))
    await eventually(`${index} is gone`, async () => (await kind.find(name)) === undefined)
  }
})

t.test('a deleted Account that a finalizer kept went on working, and so did a key in the Account that was created again', async (t) => {
  const schedules = new Resource(http, screenshotSchedules)
  const [url, accountName, finalizers] = ['https://example.com/', 'held', ['example.com/held']]
  const key = await world.createKey({ accountName })
  const waiting = await create(key)
  const others = await create(keyOfOther)
  await stage.addRecord({ account: accountName })
  await schedules.create({ metadata: { name: accountName }, spec: { accountName, schedule: '@daily', template: { url } } })
  const [{ metadata }] = (await world.keys.listAll()).filter((each) => accountOf(each) === accountName) as [ApiKey]
  await world.keys.patch(metadata.name, mergePatch({ metadata: { finalizers } }))
  await world.accounts.patch(accountName, mergePatch({ metadata: { finalizers } }))
  const readyOf = async () => findCondition((await schedules.get(accountName)).status?.conditions, 'Ready')?.reason
  await eventually('the schedule is ready', async () => (await readyOf()) === 'Scheduled')
  await world.accounts.delete(accountName)
  const reasonOf = async (name: string, type: string) => findCondition((await world.screenshots.get(name)).status?.conditions, type)?.reason
  await eventually('the queued capture ends', async () => (await reasonOf(waiting, 'Succeeded')) === 'AccountDeleted')
  // What kubectl creates meanwhile has the end of all data of the account.
  await world.screenshots.create({ metadata: { name: 'by-kubectl' }, spec: { url, accountName } } as never)
  await eventually('a Screenshot of kubectl fails', async () => (await reasonOf('by-kubectl', 'Succeeded')) === 'AccountDeleted')
  const late = { name: 'held-late' }
  await world.keys.create({ metadata: late, spec: { accountName } } as never)
  await hooks.create({ metadata: late, spec: { accountName, url, events: ['screenshot.failed'] } })
  await schedules.create({ metadata: late, spec: { accountName, schedule: '@daily', template: { url } } })
  await eventually('the schedule has no runs', async () => (await readyOf()) === 'AccountNotFound')
  const mark = deletedAccountKey(accountName)
  const files = await filesOf(accountName)
  t.ok(files.length > 0)
  t.notOk(files.includes(mark), 'the grace period has not begun')
  await world.accounts.patch(accountName, mergePatch({ metadata: { finalizers: null } }))
  await eventually('only the mark is left, because the key is', async () => String(await filesOf(accountName)) === mark, 60_000)
  await eventually('only the key is left', async () => String(await objectsOf(accountName)) === metadata.name, 60_000)
  await eventually('no schedule is left', async () => (await schedules.listAll()).length === 0)
  t.equal((await world.screenshots.get(others)).status?.phase, 'Pending', 'data of another account stays')
  await world.accounts.create({ metadata: { name: accountName }, spec: { plan: 'scale' } } as never)
  const fresh = await world.createKey({ accountName })
  const statusWith = async (text: string) => (await call(`${gateway.url}/v1/keys`, { key: text })).status
  await eventually('a key of the new account is accepted', async () => (await statusWith(fresh)) === 200)
  t.equal(await statusWith(key), 401)
  t.ok(await world.keys.find(metadata.name), 'control: the old key is still there')
})
