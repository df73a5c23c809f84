import t from 'tap'
import { Store } from '../../../../../crds/client/lister.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import type { Webhook, WebhookStatistics } from '../../../../../crds/src/kinds/webhook.ts'
import { accountOf } from '../../../../../crds/src/records/record.ts'
import { parseOpenKey } from '../../../../../crds/src/records/storage-keys.ts'
import { openKey, openPrefixOf, parseUndelivered } from '../../../../../crds/src/webhooks/deliveries.ts'
import { observe } from '../../../../../operator/src/controllers/delivery/controller.ts'
import type { DeliveryStateChange } from '../../../../../operator/src/controllers/delivery/decide.ts'
import { accountKeyOf, endpointKeyOf } from '../../../../../operator/src/controllers/delivery/events/receivers.ts'
import { Backlog, ProgressStore } from '../../../../../operator/src/controllers/delivery/progress.ts'
import { addCounts, toCounts } from '../../../../../operator/src/controllers/delivery/statistics.ts'
import { toUndelivered } from '../../../../../operator/src/controllers/delivery/undelivered-store.ts'
import { ACCOUNT_INDEX } from '../../../../../operator/src/kube/reflectors.ts'
import { aScreenshot, at, aWebhook, completedStatus, NOON } from '../../../../support/fakes/builders.ts'

function aBacklog() {
  let now = 0
  const reported: string[] = []
  const backlog = new Backlog(() => now)
  backlog.onFull = (keys) => reported.push(`full ${keys.length}`)
  backlog.onRoom = () => reported.push('room')
  const later = (milliseconds: number) => {
    now += milliseconds
  }
  const fill = (count: number) => {
    for (let n = 0; n < count; n++) backlog.add(`delivery-${n}`, `shot-${n % 10}`)
  }
  return { backlog, reported, later, fill }
}

t.test('Backlog is full with 32 results, reports their Screenshots once, and reports when there is room again', async (t) => {
  const { backlog, reported, fill } = aBacklog()
  fill(31)
  t.equal(backlog.isFull, false)
  fill(40)
  t.strictSame([backlog.isFull, reported], [true, ['full 10']])
  for (let n = 0; n < 8; n++) backlog.remove(`delivery-${n}`)
  t.equal(backlog.isFull, true)
  backlog.remove('delivery-8')
  backlog.remove('delivery-8')
  backlog.remove('delivery-9')
  t.strictSame([backlog.isFull, reported], [false, ['full 10', 'room']])
})

t.test('Backlog lets posts start when its results cannot be written for a long time', async (t) => {
  const { backlog, later, fill } = aBacklog()
  fill(32)
  later(29_999)
  t.equal(backlog.isFull, true)
  later(1)
  t.equal(backlog.isFull, false)
})

t.test('ProgressStore counts results until they are written, replaced or removed', async (t) => {
  const { backlog } = aBacklog()
  const progressStore = new ProgressStore(backlog)
  const ended = { state: 'ended' as const, attempt: 1, at: new Date(0), isSuccess: true, statusCode: 200, jitter: 0 }
  const end = (count: number) => {
    for (let n = 0; n < count; n++) progressStore.of(`shot-${n}`, `uid-${n}`).set('screenshot.completed', 'hook', ended)
  }
  end(32)
  t.equal(backlog.isFull, true)
  progressStore.of('shot-0', 'uid-0').delete('screenshot.completed', 'hook')
  t.equal(backlog.isFull, false, 'written')
  end(32)
  progressStore.of('shot-1', 'uid-1').set('screenshot.completed', 'hook', { state: 'waiting' })
  t.equal(backlog.isFull, false, 'another attempt')
  end(32)
  progressStore.forget('shot-2')
  t.equal(backlog.isFull, false, 'forgotten')
  end(32)
  progressStore.of('shot-3', 'another uid')
  t.equal(backlog.isFull, false, 'the object was recreated')
})

function deps(shot: Screenshot, ...hooks: Webhook[]) {
  const screenshots = new Store<Screenshot>()
  screenshots.set(shot)
  const webhooks = new Store<Webhook>().addIndex(ACCOUNT_INDEX, accountOf)
  for (const hook of hooks) webhooks.set(hook)
  return {
    reflectors: { screenshots: { lister: screenshots }, webhooks: { lister: webhooks } } as never,
    eventOrder: { followsStart: () => undefined },
    progressStore: new ProgressStore(),
  }
}
const KEY = 'default/shot'
const aShot = (status = completedStatus()) => aScreenshot({ name: 'shot', status })

t.test('observe drops a result that status.deliveries already contains', async (t) => {
  const settled = aShot(
    completedStatus({ deliveries: { 'screenshot.completed': { hook: { attempts: 1, at: at(3).toISOString(), state: 'ok' } } } }),
  )
  const given = deps(settled, aWebhook())
  const progress = given.progressStore.of(KEY, settled.metadata.uid)
  progress.set('screenshot.completed', 'hook', { state: 'ended', attempt: 1, at: at(3), isSuccess: false, statusCode: 0, jitter: 0 })
  t.match(observe(KEY, given)?.candidates, [{ progress: undefined }])
  t.ok(progress.isEmpty)
})

t.test('observe drops a deferred post that is no longer wanted', async (t) => {
  const shot = aShot()
  const given = deps(shot)
  const progress = given.progressStore.of(KEY, shot.metadata.uid)
  progress.set('screenshot.completed', 'hook', { state: 'deferred', until: at(9) })
  t.match(observe(KEY, given)?.candidates, [{ isReceiver: false, progress: undefined }])
  t.ok(progress.isEmpty)
})

const webhookUrl = 'https://me.example.com:8443/in?x=1'
const shot = aScreenshot({ spec: { webhookUrl }, status: completedStatus() })

t.test('accountKeyOf is the same for all endpoints of an account', async (t) => {
  t.equal(accountKeyOf(shot), 'default/default')
  t.equal(accountKeyOf(aScreenshot({ spec: { webhookUrl, accountName: 'acme' } })), 'default/acme')
  t.equal(accountKeyOf(aWebhook({ spec: { accountName: 'acme' } })), 'default/acme')
})

t.test('endpointKeyOf distinguishes hosts and accounts', async (t) => {
  t.equal(endpointKeyOf(shot, 'hook'), 'default/hook')
  t.equal(endpointKeyOf(shot, '_request'), 'default/default/me.example.com:8443')
  t.equal(endpointKeyOf(aScreenshot({ spec: { webhookUrl, accountName: 'acme' } }), '_request'), 'default/acme/me.example.com:8443')
  t.equal(endpointKeyOf(aScreenshot({ spec: { webhookUrl: 'https://[' } }), '_request'), 'default/default/https://[')
})

t.test('keys of open deliveries name the account, the endpoint and the second at which an attempt is due', async (t) => {
  const finder = { findWebhook: () => aWebhook(), findDefaultWebhook: () => aWebhook({ spec: { isDefault: true } }) }
  const open = { event: 'screenshot.completed', attempts: 1, at: at(60).toISOString() } as const
  const [hooked] = toUndelivered(shot, { ...open, webhook: 'hook' }, finder)
  const [requested] = toUndelivered(shot, { ...open, webhook: '_request' }, finder)
  const key = openKey('acme', hooked!)
  t.equal(key, `undelivered/open/acme/hook/${at(60).getTime() / 1_000}.${hooked!.delivery}`)
  t.strictSame(parseOpenKey(key), { prefix: 'undelivered/open/acme/hook/', account: 'acme', at: at(60) })
  t.ok(openKey('acme', requested!).startsWith(openPrefixOf('acme', '_request')))
  t.not(openKey('acme', { ...requested!, url: 'https://other.example.com/' }).split('/')[3], openKey('acme', requested!).split('/')[3])
  for (const other of ['undelivered/open/a/hook/1.dlv_1', `undelivered/open/-/hook/0000000001.${hooked!.delivery}`, 'x'])
    t.equal(parseOpenKey(other), undefined)
  t.strictSame(parseUndelivered(JSON.stringify(requested)), requested)
  t.equal(parseUndelivered('{"version":2}'), undefined)
  t.strictSame(toUndelivered(shot, { ...open, webhook: 'gone' }, { ...finder, findWebhook: () => undefined }), [])
})

const entry = (attempts: number, state: 'open' | 'ok' | 'failed') => ({ attempts, at: NOON.toISOString(), state })
const change = (before: DeliveryStateChange['before'], after: DeliveryStateChange['after'], statusCode?: number): DeliveryStateChange => ({
  event: 'screenshot.completed',
  webhook: 'hook',
  before,
  after,
  ...(statusCode === undefined ? {} : { statusCode }),
})

const attempt = (isSuccess: boolean, responseMilliseconds?: number) =>
  toCounts(
    {
      ...change(undefined, entry(1, isSuccess ? 'ok' : 'open'), isSuccess ? 200 : 500),
      ...(responseMilliseconds === undefined ? {} : { responseMilliseconds }),
    },
    NOON,
  )

t.test('addCounts counts the failures since the last success, in any batches', async (t) => {
  const attempts = [false, false, true, false, false, false].map((isSuccess) => attempt(isSuccess))
  for (let cut = 1; cut < attempts.length; cut++) {
    const [before, after] = [attempts.slice(0, cut).reduce(addCounts), attempts.slice(cut).reduce(addCounts)]
    t.equal(addCounts(before, after).consecutiveFailures, 3, `cut after ${cut}`)
  }
})

t.test('addCounts sums the response times', async (t) => {
  t.match([attempt(true, 30), attempt(false), attempt(false, 10)].reduce(addCounts), { answers: 2, answerMilliseconds: 40, total: 3 })
})

t.test('addCounts keeps the start of continuous failures, in any batches', async (t) => {
  const HOUR = 3_600
  const one = (isSuccess: boolean, second: number) =>
    toCounts(change(undefined, entry(1, isSuccess ? 'ok' : 'open'), isSuccess ? 200 : 500), at(second))
  const cases: [name: string, attempts: WebhookStatistics[], since: number][] = [
    ['the first failure', [one(false, 0), one(false, HOUR), one(false, 20 * HOUR)], 0],
    ['a success ends it', [one(false, 0), one(true, 1), one(false, 2), one(false, 3)], 2],
    ['a day without a failure ends it', [one(false, 0), one(false, 24 * HOUR), one(false, 49 * HOUR)], 49 * HOUR],
  ]
  for (const [name, attempts, since] of cases) {
    for (let cut = 1; cut < attempts.length; cut++) {
      const [before, after] = [attempts.slice(0, cut).reduce(addCounts), attempts.slice(cut).reduce(addCounts)]
      t.equal(addCounts(before, after).failingSince, at(since).toISOString(), `${name}, cut after ${cut}`)
    }
  }
})
