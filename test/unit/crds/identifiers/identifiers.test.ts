import t from 'tap'
import {
  createdAtOf,
  derivedId,
  isPlausibleId,
  isScreenshotId,
  newId,
  screenshotIdOf,
  webhookIdOf,
} from '../../../../crds/src/identifiers/ids.ts'
import { isScreenshotIdName, isWebhookIdName, secretNames, toId, toObjectName } from '../../../../crds/src/identifiers/names.ts'
import { poolOf } from '../../../../crds/src/kinds/runner-pool.ts'
import { assertAccepts } from '../../../support/accepts.ts'
import { at, NOON } from '../../../support/fakes/builders.ts'

t.test('newId contains its time to the millisecond', async (t) => {
  for (const time of ['2026-11-21T12:00:00.000Z', '2026-11-21T12:00:00.001Z', '1970-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z']) {
    const id = newId('scr', new Date(time))
    t.ok(isScreenshotId(id), id)
    t.equal(createdAtOf(id).toISOString(), time)
    t.equal(createdAtOf(newId('batch', new Date(time))).toISOString(), time)
  }
})

t.test('newId sorts screenshots newest first and everything else oldest first', async (t) => {
  const instants = [0, 0.001, 1, 60, 86_400, 31_536_000].map(at)
  const shots = instants.map((instant) => newId('scr', instant))
  t.strictSame(shots.toSorted(), shots.toReversed())
  const hooks = instants.map((instant) => newId('wh', instant))
  t.strictSame(hooks.toSorted(), hooks)
})

t.test('newId returns unique ids', async (t) => {
  t.equal(new Set(Array.from({ length: 10_000 }, () => newId('scr', NOON))).size, 10_000)
})

t.test('newId encodes the time and the random bytes in Crockford’s base32', async (t) => {
  t.equal(newId('evt', new Date(0), new Uint8Array(10)), `evt_${'0'.repeat(26)}`)
  t.equal(newId('evt', new Date(2 ** 48 - 1), new Uint8Array(10).fill(255)), `evt_7${'z'.repeat(25)}`)
  t.equal(newId('scr', new Date(0), new Uint8Array(10)), 'scr_7zzzzzzzzz0000000000000000')
})

t.test('derivedId is the same for the same seed and time, and differs otherwise', async (t) => {
  t.equal(derivedId('evt', NOON, 'a'), derivedId('evt', NOON, 'a'))
  const ids = [derivedId('evt', NOON, 'a'), derivedId('evt', NOON, 'b'), derivedId('evt', at(0.001), 'a'), derivedId('dlv', NOON, 'a')]
  t.equal(new Set(ids).size, 4)
})

t.test('isScreenshotId refuses texts that newId cannot return', async (t) => {
  const good = newId('scr', NOON)
  const head = good.slice(0, -1)
  const otherPrefixes = ['', 'scr_', good.toUpperCase(), good.replace('scr', 'evt'), good.replace('_', '-')]
  assertAccepts(t, isScreenshotId, [good], [...otherPrefixes, head, `${good}0`, `${head}u`, `scr_8${good.slice(5)}`])
})

t.test('screenshotIdOf reads the id from the name, or derives it from uid and creation time', async (t) => {
  const id = newId('scr', at(5))
  const creationTimestamp = NOON.toISOString()
  t.equal(screenshotIdOf({ name: toObjectName(id), uid: 'u', creationTimestamp }), id)
  const named = screenshotIdOf({ name: 'front-page', uid: 'u', creationTimestamp })
  t.ok(isScreenshotId(named))
  t.equal(createdAtOf(named).toISOString(), creationTimestamp)
  t.equal(screenshotIdOf({ name: 'front-page', uid: 'u', creationTimestamp }), named)
  t.not(screenshotIdOf({ name: 'front-page', uid: 'made anew', creationTimestamp }), named)
})

t.test('screenshotIdOf uses the creation time if the name contains a time in the year 10889', async (t) => {
  const name = 'scr-00000000000000000000000000'
  t.equal(createdAtOf('scr_00000000000000000000000000').getUTCFullYear(), 10_889)
  const id = screenshotIdOf({ name, uid: 'u', creationTimestamp: NOON.toISOString() })
  t.equal(createdAtOf(id).toISOString(), NOON.toISOString())
  t.equal(id, screenshotIdOf({ name, uid: 'u', creationTimestamp: NOON.toISOString() }))
})

t.test('isPlausibleId accepts a clock difference of at most one hour', async (t) => {
  for (const kind of ['scr', 'wh'] as const)
    assertAccepts(t, (seconds) => isPlausibleId(newId(kind, at(seconds)), NOON), [-1e9, 0, 3_600], [3_600.001, 1e9])
  const ahead = newId('scr', at(3_600))
  t.equal(screenshotIdOf({ name: toObjectName(ahead), uid: 'u', creationTimestamp: NOON.toISOString() }), ahead)
})

t.test('webhookIdOf reads the id from the name, or derives it from uid and creation time', async (t) => {
  const id = newId('wh', at(5))
  const creationTimestamp = NOON.toISOString()
  t.equal(webhookIdOf({ name: toObjectName(id), uid: 'u', creationTimestamp }), id)
  t.match(webhookIdOf({ name: 'production', uid: 'u', creationTimestamp }), /^wh_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
  t.not(webhookIdOf({ name: 'production', uid: 'u', creationTimestamp }), webhookIdOf({ name: 'production', uid: 'v', creationTimestamp }))
})

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

t.test('toObjectName and toId convert an id to a valid object name and back', async (t) => {
  for (const prefix of ['scr', 'wh', 'batch'] as const) {
    const id = derivedId(prefix, NOON, 'seed')
    t.match(toObjectName(id), DNS_LABEL)
    t.equal(toId(toObjectName(id)), id)
  }
})

t.test('isScreenshotIdName and isWebhookIdName distinguish names made from an id from names that a person chose', async (t) => {
  const nameOf = (kind: 'scr' | 'wh') => toObjectName(derivedId(kind, NOON, 'seed'))
  const malformed = [`scr-8${'0'.repeat(25)}`, `scr-0${'u'.repeat(25)}`, `scr-${'0'.repeat(27)}`]
  assertAccepts(t, isScreenshotIdName, [nameOf('scr')], ['scr-', 'scr-front-page', 'front-page', ...malformed, `wh-${'0'.repeat(26)}`])
  assertAccepts(t, isWebhookIdName, [nameOf('wh')], ['wh-', 'wh-production', `wh-9${'0'.repeat(25)}`, `scr-${'0'.repeat(26)}`])
})

t.test('secretNames returns different names for each release', async (t) => {
  const names = [...Object.values(secretNames('a')), ...Object.values(secretNames('b'))]
  t.equal(new Set(names).size, names.length)
  for (const name of names) t.match(name, DNS_LABEL)
})

t.test('poolOf prefers the pool of the spec, then that of videos, then that of the plan', async (t) => {
  t.equal(poolOf({}), 'default')
  t.equal(poolOf({}, 'large'), 'large')
  t.equal(poolOf({ options: { format: 'mp4' } }, 'large'), 'video')
  t.equal(poolOf({ options: { format: 'mp4' }, poolName: 'mine' }, 'large'), 'mine')
})
