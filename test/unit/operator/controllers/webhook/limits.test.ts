import t from 'tap'
import type { Webhook, WebhookStatistics } from '../../../../../crds/src/kinds/webhook.ts'
import { affectedKeys, findDisabledReason, isBeyondLimit, MAX_RECEIVERS } from '../../../../../operator/src/controllers/webhook/decide.ts'
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
  const [first] = many as [Webhook]
  t.strictSame(affectedKeys({ type: 'added', object: first, source: 'watch' }, many.slice(0, 5)), ['default/hook-0'])
  t.equal(affectedKeys({ type: 'modified', object: first, old: first, source: 'watch' }, many).length, 1)
  const off = hookAt(0, 'hook-0', { spec: { active: false } })
  t.equal(affectedKeys({ type: 'modified', object: off, old: first, source: 'watch' }, many).length, MAX_RECEIVERS)
  const others = [...many.slice(1), hookAt(500)]
  t.ok(affectedKeys({ type: 'deleted', object: first, old: first, source: 'watch' }, others).includes('default/hook-500'))
})

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
