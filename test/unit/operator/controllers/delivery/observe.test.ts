import t from 'tap'
import { Store } from '../../../../../crds/client/lister.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import type { Webhook } from '../../../../../crds/src/kinds/webhook.ts'
import { accountOf } from '../../../../../crds/src/records/record.ts'
import { observe } from '../../../../../operator/src/controllers/delivery/observe.ts'
import { ProgressStore } from '../../../../../operator/src/controllers/delivery/progress.ts'
import { ACCOUNT_INDEX } from '../../../../../operator/src/kube/account-index.ts'
import { aScreenshot, at, aWebhook, completedStatus } from '../../../../support/fakes/builders.ts'

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

t.test('observe finds the receivers of the account, and the names in status.deliveries', async (t) => {
  const entry = { attempts: 1, at: at(9).toISOString(), state: 'open' as const }
  const shot = aShot(completedStatus({ deliveries: { 'screenshot.completed': { gone: entry } } }))
  const hooks = [aWebhook(), aWebhook({ name: 'foreign', spec: { accountName: 'acme' } })]
  t.match(observe(KEY, deps(shot, ...hooks))?.candidates, [
    { event: 'screenshot.completed', webhook: 'gone', isReceiver: false, entry },
    { event: 'screenshot.completed', webhook: 'hook', isReceiver: true, entry: undefined },
  ])
})

t.test('observe returns nothing for a Screenshot that was deleted or is being deleted', async (t) => {
  t.equal(observe('default/other', deps(aShot())), undefined)
  const going = aScreenshot({ name: 'shot', metadata: { deletionTimestamp: at(3).toISOString() } })
  t.equal(observe(KEY, deps(going)), undefined)
})

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

t.test('observe keeps the result of a post whose webhook was disabled meanwhile, so that it is recorded', async (t) => {
  const ended = { state: 'ended', attempt: 1, at: at(3), isSuccess: false, statusCode: 0, jitter: 0 } as const
  const deleteRequested = { annotations: { 'tintype.dev/delete-requested': at(4).toISOString() } }
  for (const [said, metadata] of [['', {}] as const, [', deletion or not', deleteRequested] as const]) {
    const shot = aScreenshot({ name: 'shot', metadata, status: completedStatus() })
    for (const hooks of [[], [aWebhook({ spec: { active: false } })]]) {
      const given = deps(shot, ...hooks)
      given.progressStore.of(KEY, shot.metadata.uid).set('screenshot.completed', 'hook', ended)
      t.match(
        observe(KEY, given)?.candidates,
        [{ webhook: 'hook', isReceiver: false, entry: undefined, progress: ended }],
        `it is there to be recorded${said}`,
      )
    }
  }
})

t.test('observe drops a deferred post that is no longer wanted', async (t) => {
  const shot = aShot()
  const given = deps(shot)
  const progress = given.progressStore.of(KEY, shot.metadata.uid)
  progress.set('screenshot.completed', 'hook', { state: 'deferred', until: at(9) })
  t.match(observe(KEY, given)?.candidates, [{ isReceiver: false, progress: undefined }])
  t.ok(progress.isEmpty)
})

t.test('observe does not exceed the limit of status.deliveries for an account with 65 webhooks', async (t) => {
  const entry = { attempts: 1, at: at(9).toISOString(), state: 'open' as const }
  const shot = aShot(completedStatus({ deliveries: { 'screenshot.completed': { 'hook-70': entry } } }))
  const hooks = Array.from({ length: 80 }, (_, index) => aWebhook({ name: `hook-${index}` }))
  const names = observe(KEY, deps(shot, ...hooks))?.candidates.map(({ webhook }) => webhook)
  t.equal(names?.length, 64)
  t.ok(names?.includes('hook-70'), 'recorded entries stay')
})

t.test('observe starts empty for a new object of the same name', async (t) => {
  const shot = aShot()
  const given = deps(shot, aWebhook())
  given.progressStore.of(KEY, 'another uid').set('screenshot.completed', 'hook', { state: 'posting', attempt: 1 })
  t.match(observe(KEY, given)?.candidates, [{ progress: undefined }])
})

t.test('observe throws a terminal error for an object that does not match its schema', async (t) => {
  const odd = { ...aShot(), spec: { url: 7 } } as unknown as Screenshot
  t.throws(() => observe(KEY, deps(odd)), { name: 'TerminalError', reason: 'InvalidObject' })
})

t.test('observe starts no new deliveries for a Screenshot whose deletion was requested', async (t) => {
  const entry = { attempts: 1, at: at(9).toISOString(), state: 'open' as const }
  const shot = aScreenshot({
    name: 'shot',
    metadata: { annotations: { 'tintype.dev/delete-requested': at(4).toISOString() } },
    status: completedStatus({ deliveries: { 'screenshot.completed': { hook: entry } } }),
  })
  const observed = observe(KEY, deps(shot, aWebhook(), aWebhook({ name: 'other' })))
  t.ok(observed?.isDeleteRequested)
  t.match(observed?.candidates, [{ webhook: 'hook', entry, isReceiver: true }])
  t.equal(observed?.candidates.length, 1)
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

t.test('observe finds the URL of the request and the default webhook that signs', async (t) => {
  const shot = aScreenshot({ name: 'shot', spec: { webhookUrl: 'https://me.example.com/' }, status: completedStatus() })
  const signer = aWebhook({ name: 'signer', spec: { isDefault: true } })
  const observed = observe(KEY, deps(shot, signer))
  t.match(observed, { defaultWebhook: signer, candidates: [{ event: 'screenshot.completed', webhook: '_request', isReceiver: true }] })
  t.equal(observed?.candidates.length, 1)
  t.strictSame(observe(KEY, deps(shot))?.candidates, [])
})
