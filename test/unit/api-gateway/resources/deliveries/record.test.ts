import t from 'tap'
import { withDeliveryState } from '../../../../../api-gateway/src/resources/deliveries/record.ts'
import type { DeliveryEntry } from '../../../../../crds/src/kinds/screenshot.ts'
import type { DeliveryState, LoggedDelivery } from '../../../../../crds/src/webhooks/delivery-log.ts'
import { aScreenshot, at, aWebhook, completedStatus } from '../../../../support/fakes/builders.ts'

const type = 'screenshot.completed'
const attempt = {
  delivery: 'dlv_1',
  event: 'evt_1',
  type,
  screenshot: 'scr_1',
  attempt: 1,
  at: at(1).toISOString(),
  milliseconds: 1,
  statusCode: 500,
  outcome: 'answered',
}
const aDelivery = (state: DeliveryState): LoggedDelivery => ({ id: 'dlv_1', state, attempts: [attempt] })
const aShot = (name: string, state?: DeliveryEntry['state']) =>
  aScreenshot({
    status: completedStatus(state ? { deliveries: { [type]: { [name]: { attempts: 1, at: at(2).toISOString(), state } } } } : {}),
  })

const cases = [
  { name: 'leaves what the log knows', logged: 'successful', live: aShot('hook', 'failed'), state: 'successful' },
  { name: 'leaves pending what the ledger has open', logged: 'pending', live: aShot('hook', 'open'), state: 'pending' },
  { name: 'leaves pending what the ledger does not have yet', logged: 'pending', live: aShot('hook'), state: 'pending' },
  { name: 'takes a success from the ledger', logged: 'pending', live: aShot('hook', 'ok'), state: 'successful' },
  { name: 'takes a failure from the ledger', logged: 'pending', live: aShot('hook', 'failed'), state: 'failed' },
  { name: 'leaves pending what is archived: its retries follow within hours', logged: 'pending', live: undefined, state: 'pending' },
] as const
for (const { name, logged, live, state } of cases) {
  t.test(`withDeliveryState ${name}`, async (t) => {
    t.equal(withDeliveryState(aDelivery(logged), aWebhook(), { live, now: at(60) }).state, state)
  })
}

t.test('withDeliveryState finds the deliveries of a default webhook by their own name', async (t) => {
  const hook = aWebhook({ spec: { isDefault: true } })
  t.equal(withDeliveryState(aDelivery('pending'), hook, { live: aShot('_request', 'ok'), now: at(60) }).state, 'successful')
})

t.test('withDeliveryState calls failed what has had no attempt for a day, because the last line was lost', async (t) => {
  t.equal(withDeliveryState(aDelivery('pending'), aWebhook(), { live: undefined, now: at(86_402) }).state, 'failed')
})
