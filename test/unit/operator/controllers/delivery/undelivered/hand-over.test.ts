import t from 'tap'
import { screenshotIdOf } from '../../../../../../crds/src/identifiers/ids.ts'
import { parseOpenKey } from '../../../../../../crds/src/records/storage-keys.ts'
import { eventIdOf } from '../../../../../../crds/src/webhooks/events.ts'
import { openKey, openPrefixOf, parseUndelivered } from '../../../../../../crds/src/webhooks/undelivered.ts'
import type { Candidate } from '../../../../../../operator/src/controllers/delivery/decide.ts'
import type { Observed } from '../../../../../../operator/src/controllers/delivery/observe.ts'
import { ScreenshotProgress } from '../../../../../../operator/src/controllers/delivery/progress.ts'
import { findOpenDeliveries, toUndelivered } from '../../../../../../operator/src/controllers/delivery/undelivered/hand-over.ts'
import { aScreenshot, at, aWebhook, completedStatus } from '../../../../../support/fakes/builders.ts'

const type = 'screenshot.completed'
const shot = aScreenshot({ spec: { webhookUrl: 'https://me.example.com/done' }, status: completedStatus() })
const finder = { findWebhook: () => aWebhook(), findDefaultWebhook: () => aWebhook({ spec: { isDefault: true } }) }
const aCandidate = (changes: Partial<Candidate> = {}): Candidate => ({
  ...{ event: type, webhook: 'hook', isReceiver: true, entry: undefined, progress: undefined },
  ...changes,
})
const open = { attempts: 1, at: at(60).toISOString(), state: 'open' } as const
const find = (...candidates: Candidate[]) => {
  const observed: Observed = {
    ...{ screenshot: shot, candidates, occurrences: [], isDeleteRequested: false, defaultWebhook: undefined },
    progress: new ScreenshotProgress('uid'),
  }
  return findOpenDeliveries(observed, finder, at(30))
}

t.test('an open delivery keeps its attempts and its time, and one without an attempt is due at once', async (t) => {
  t.match(find(aCandidate({ entry: open }), aCandidate({ webhook: 'new' })), [
    {
      version: 1,
      type,
      webhook: 'hook',
      attempts: 1,
      at: at(60).toISOString(),
      event: eventIdOf(shot, type),
      screenshot: screenshotIdOf(shot.metadata),
    },
    { webhook: 'new', attempts: 0, at: at(30).toISOString() },
  ])
})

t.test('ended deliveries, and webhooks that do not want the event, are left out', async (t) => {
  const ended = aCandidate({ entry: { ...open, state: 'ok' } })
  t.strictSame(find(ended, aCandidate({ isReceiver: false, entry: open })), [])
})

t.test('a Screenshot with a running post, or with a result that is not recorded, is not handed over', async (t) => {
  t.equal(find(aCandidate({ progress: { state: 'posting', attempt: 1 } })), undefined)
  const ended = { state: 'ended', attempt: 1, at: at(1), isSuccess: true, statusCode: 200, jitter: 0 } as const
  t.equal(find(aCandidate({ progress: ended })), undefined)
})

t.test('an attempt that waits for its turn does not count, although it was recorded', async (t) => {
  const progress = { state: 'waiting', attempt: 2 } as const
  t.match(find(aCandidate({ entry: { ...open, attempts: 2 }, progress })), [{ attempts: 1, at: at(30).toISOString() }])
})

t.test('keys name the account, the endpoint and the second at which an attempt is due', async (t) => {
  const [hooked] = toUndelivered(shot, { event: type, webhook: 'hook', ...open }, finder)
  const [requested] = toUndelivered(shot, { event: type, webhook: '_request', ...open }, finder)
  const key = openKey('acme', hooked!)
  t.equal(key, `undelivered/open/acme/hook/${at(60).getTime() / 1_000}.${hooked!.delivery}`)
  t.strictSame(parseOpenKey(key), { prefix: 'undelivered/open/acme/hook/', account: 'acme', at: at(60) })
  t.ok(openKey('acme', requested!).startsWith(openPrefixOf('acme', '_request')))
  t.not(openKey('acme', { ...requested!, url: 'https://other.example.com/' }).split('/')[3], openKey('acme', requested!).split('/')[3])
  for (const other of ['undelivered/open/a/hook/1.dlv_1', `undelivered/open/-/hook/0000000001.${hooked!.delivery}`, 'x'])
    t.equal(parseOpenKey(other), undefined)
  t.strictSame(parseUndelivered(JSON.stringify(requested)), requested)
  t.equal(parseUndelivered('{"version":2}'), undefined)
  t.strictSame(toUndelivered(shot, { event: type, webhook: 'gone', ...open }, { ...finder, findWebhook: () => undefined }), [])
})
