import t from 'tap'
import type { Webhook, WebhookStatistics } from '../../../../../crds/src/kinds/webhook.ts'
import { findDisabledReason } from '../../../../../operator/src/controllers/webhook/auto-disable.ts'
import { at, aWebhook } from '../../../../support/fakes/builders.ts'

const HOUR = 3_600
const DAY = 24 * HOUR
const iso = (second: number) => at(second).toISOString()

/** An endpoint whose posts failed from one second to another. */
const failing = (since: number, until: number, more: Partial<WebhookStatistics> = {}, activeSince = -9 * DAY): Webhook => {
  const clock = { failingSince: iso(since), lastFailureTime: iso(until), consecutiveFailures: 12, lastStatusCode: 503 }
  return aWebhook({ status: { activeSince: iso(activeSince), statistics: { total: 9, successful: 0, failed: 3, ...clock, ...more } } })
}
const settings = { disableAfterDays: 5 }

const cases: { name: string; hook: Webhook; second: number; isDisabled: boolean }[] = [
  { name: 'five days of failures', hook: failing(0, 5 * DAY), second: 5 * DAY, isDisabled: true },
  { name: 'less than five days', hook: failing(0, 5 * DAY - 1), second: 5 * DAY - 1, isDisabled: false },
  { name: 'a success since then', hook: failing(0, 5 * DAY, { consecutiveFailures: 0 }), second: 5 * DAY, isDisabled: false },
  { name: 'failures of one night only', hook: failing(0, 11 * HOUR), second: 5 * DAY, isDisabled: false },
  { name: 'no failure for more than a day', hook: failing(0, 5 * DAY), second: 6 * DAY + 1, isDisabled: false },
  { name: 'being enabled again since then', hook: failing(0, 5 * DAY, {}, 4 * DAY), second: 5 * DAY, isDisabled: false },
  { name: 'no post yet', hook: aWebhook(), second: 9 * DAY, isDisabled: false },
]
for (const { name, hook, second, isDisabled } of cases) {
  t.test(`findDisabledReason is ${isDisabled ? 'given' : 'absent'} after ${name}`, async (t) => {
    t.equal(findDisabledReason(hook, settings, at(second)) !== undefined, isDisabled)
  })
}

t.test('findDisabledReason requires failures over half a day, however short the limit is', async (t) => {
  const soon = { disableAfterDays: 0.1 }
  t.equal(findDisabledReason(failing(0, 11 * HOUR), soon, at(11 * HOUR)), undefined)
  t.ok(findDisabledReason(failing(0, 12 * HOUR), soon, at(12 * HOUR)))
})

t.test('findDisabledReason says since when posts failed and how the last one ended', async (t) => {
  t.match(
    findDisabledReason(failing(0, 5 * DAY), settings, at(5 * DAY)),
    /since 2026-11-21T12:00:00.000Z failed; the last response was 503/,
  )
  t.match(findDisabledReason(failing(0, 5 * DAY, { lastStatusCode: 0 }), settings, at(5 * DAY)), /no response/)
})

t.test('findDisabledReason is absent when disabling is off, or for an inactive webhook', async (t) => {
  t.equal(findDisabledReason(failing(0, 9 * DAY), {}, at(9 * DAY)), undefined)
  const off = failing(0, 5 * DAY)
  t.equal(findDisabledReason({ ...off, spec: { ...off.spec, active: false } }, settings, at(5 * DAY)), undefined)
})

t.test('findDisabledReason is absent for the default webhook', async (t) => {
  const hook = failing(0, 5 * DAY)
  t.equal(findDisabledReason({ ...hook, spec: { ...hook.spec, isDefault: true } }, settings, at(5 * DAY)), undefined)
})
