import t from 'tap'
import { screenshotIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import type { AttemptLine } from '../../../../../crds/src/webhooks/delivery-log.ts'
import { buildEvent, eventIdOf } from '../../../../../crds/src/webhooks/events.ts'
import { noteWithdrawal } from '../../../../../operator/src/controllers/delivery/apply.ts'
import { toDeliveryId } from '../../../../../operator/src/controllers/delivery/delivery-worker.ts'
import { aScreenshot, at, aWebhook, completedStatus } from '../../../../support/fakes/builders.ts'

const type = 'screenshot.completed'
const shot = aScreenshot({ status: completedStatus() })
const hook = aWebhook()
const entry = { attempts: 2, at: at(9).toISOString() }
const change = { event: type, webhook: 'hook', before: { ...entry, state: 'open' }, after: { ...entry, state: 'failed' } } as const

t.test('noteWithdrawal logs the end of the delivery with the ids of its posts', async (t) => {
  const noted: AttemptLine[] = []
  noteWithdrawal(hook, shot, change, { note: (_, line) => noted.push(line) })
  const ring = { current: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } }
  const event = buildEvent(shot, type, { publicUrl: '', ring })
  t.equal(eventIdOf(shot, type), event.id)
  t.match(noted, [
    {
      delivery: toDeliveryId({ at: new Date(event.created_at) }, event, hook),
      event: event.id,
      screenshot: screenshotIdOf(shot.metadata),
      attempt: 2,
      last: true,
      outcome: 'withdrawn',
      at: at(9).toISOString(),
    },
  ])
})

t.test('noteWithdrawal logs nothing for a deleted webhook', async (t) => {
  const noted: AttemptLine[] = []
  noteWithdrawal(undefined, shot, change, { note: (_, line) => noted.push(line) })
  t.strictSame(noted, [])
})
