import t from 'tap'
import { derivedId } from '../../../../crds/src/identifiers/ids.ts'
import { isScreenshotIdName, isWebhookIdName, secretNames, toId, toObjectName } from '../../../../crds/src/identifiers/names.ts'
import { NOON } from '../../../support/fakes/builders.ts'

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

t.test('toObjectName and toId convert an id to a valid object name and back', async (t) => {
  for (const prefix of ['scr', 'wh', 'batch'] as const) {
    const id = derivedId(prefix, NOON, 'seed')
    t.match(toObjectName(id), DNS_LABEL)
    t.equal(toId(toObjectName(id)), id)
  }
})

t.test('isScreenshotIdName distinguishes names made from an id from names that a person chose', async (t) => {
  t.ok(isScreenshotIdName(toObjectName(derivedId('scr', NOON, 'seed'))))
  const others = [
    'scr-',
    'scr-front-page',
    'front-page',
    `scr-8${'0'.repeat(25)}`,
    `scr-0${'u'.repeat(25)}`,
    `scr-${'0'.repeat(27)}`,
    `wh-${'0'.repeat(26)}`,
  ]
  for (const name of others) t.notOk(isScreenshotIdName(name), name)
})

t.test('isWebhookIdName distinguishes names made from an id from names that a person chose', async (t) => {
  t.ok(isWebhookIdName(toObjectName(derivedId('wh', NOON, 'seed'))))
  for (const name of ['wh-', 'wh-production', `wh-9${'0'.repeat(25)}`, `scr-${'0'.repeat(26)}`]) t.notOk(isWebhookIdName(name), name)
})

t.test('secretNames returns different names for each release', async (t) => {
  const names = [...Object.values(secretNames('a')), ...Object.values(secretNames('b'))]
  t.equal(new Set(names).size, names.length)
  for (const name of names) t.match(name, DNS_LABEL)
})
