import t from 'tap'
import { Store } from '../../../../../crds/client/lister.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import type { Webhook } from '../../../../../crds/src/kinds/webhook.ts'
import { accountOf } from '../../../../../crds/src/records/record.ts'
import { observe } from '../../../../../operator/src/controllers/delivery/observe.ts'
import { Backlog, ProgressStore } from '../../../../../operator/src/controllers/delivery/progress.ts'
import { ACCOUNT_INDEX } from '../../../../../operator/src/kube/account-index.ts'
import { aScreenshot, at, aWebhook, completedStatus } from '../../../../support/fakes/builders.ts'

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
  progressStore.of('shot-1', 'uid-1').set('screenshot.completed', 'hook', { state: 'waiting', attempt: 2 })
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
    circuitBreakers: { heldUntil: () => undefined },
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

t.test('observe checks the circuit for deliveries that could start, from their due time', async (t) => {
  const entry = { attempts: 1, at: at(9).toISOString(), state: 'open' as const }
  const asked: unknown[] = []
  const circuitBreakers = {
    heldUntil: (endpoint: string, dueAt: Date, key: string) => {
      asked.push([endpoint, dueAt, key])
      return at(30)
    },
  }
  const shot = aShot(completedStatus({ deliveries: { 'screenshot.completed': { hook: entry, over: { ...entry, state: 'ok' } } } }))
  const given = {
    ...deps(shot, aWebhook(), aWebhook({ name: 'fresh' }), aWebhook({ name: 'over' }), aWebhook({ name: 'busy' })),
    circuitBreakers,
  }
  given.progressStore.of(KEY, shot.metadata.uid).set('screenshot.completed', 'busy', { state: 'posting', attempt: 1 })
  const held = observe(KEY, given)?.candidates.filter(({ heldUntil }) => heldUntil)
  t.strictSame(held?.map(({ webhook }) => webhook).sort(), ['fresh', 'hook'])
  t.strictSame(asked, [
    ['default/hook', at(9), KEY],
    ['default/fresh', at(2), KEY],
  ])
})
