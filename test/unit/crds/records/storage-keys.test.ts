import t from 'tap'
import { newId } from '../../../../crds/src/identifiers/ids.ts'
import {
  eventKey,
  invertedDay,
  namedRecordKey,
  objectKey,
  objectKeyPrefix,
  optionsKey,
  parseObjectKey,
  scheduleOptionsKey,
  tombstoneKey,
} from '../../../../crds/src/records/storage-keys.ts'
import { at, NOON } from '../../../support/fakes/builders.ts'

const id = newId('scr', NOON)

t.test('objectKey and parseObjectKey are inverse', async (t) => {
  t.equal(objectKey('acme', id, 'png'), `users/acme/${id}.png`)
  for (const extension of ['png', 'jpeg', 'webp', 'thumb.png', 'html']) {
    t.strictSame(parseObjectKey(objectKey('acme', id, extension)), { account: 'acme', id, extension })
  }
})

t.test('parseObjectKey refuses other keys', async (t) => {
  const keys = [
    '',
    `users/acme/${id}`,
    `users//${id}.png`,
    `users/Acme/${id}.png`,
    `users/a/b/${id}.png`,
    `users/../acme/${id}.png`,
    `records/acme/${id}.png`,
    `users/acme/scr_x.png`,
    `users/acme/${id}.png/..`,
    `users/acme/${id}.PNG`,
    `users/-a/${id}.png`,
    `/users/acme/${id}.png`,
    `users/acme/${id}.png\n`,
  ]
  for (const key of keys) t.equal(parseObjectKey(key), undefined, key)
})

t.test('objectKeyPrefix matches only the files of its screenshot', async (t) => {
  t.ok(objectKey('acme', id, 'thumb.png').startsWith(objectKeyPrefix('acme', id)))
  t.notOk(objectKey('acme', newId('scr', at(1)), 'png').startsWith(objectKeyPrefix('acme', id)))
  t.ok(objectKeyPrefix('acme', id).endsWith('.'))
})

t.test('invertedDay sorts later days first', async (t) => {
  const days = [0, 1, 2, 365].map((day) => invertedDay(at(day * 86_400)))
  t.strictSame(days.toSorted(), days.toReversed())
  t.equal(invertedDay(new Date('2026-11-21T00:00:00.000Z')), invertedDay(new Date('2026-11-21T23:59:59.999Z')))
})

t.test('tombstoneKey is under the prefix of the day of creation', async (t) => {
  t.equal(tombstoneKey('acme', id), `records/acme/${invertedDay(NOON)}/tombstones/${id}`)
})

t.test('eventKey has its own prefix', async (t) => t.equal(eventKey('evt_1'), 'events/evt_1.json'))

t.test('optionsKey separates accounts', async (t) => {
  t.equal(optionsKey('acme', 'scr-1'), 'options/acme/scr-1.jwe')
  t.equal(parseObjectKey(optionsKey('acme', 'scr-1')), undefined, 'no download leads to it')
})

t.test(
  'a Screenshot or schedule with a name of 253 characters is never captured, because a part of its key is too long for the store',
  async (t) => {
    const account = 'a'.repeat(63)
    for (const keyOf of [namedRecordKey, scheduleOptionsKey]) {
      const known = new Set<string>()
      for (const name of ['home', 'n'.repeat(250), 'n'.repeat(251), 'n'.repeat(253), `${'n'.repeat(252)}m`]) {
        const key = keyOf(account, name)
        t.ok(
          key.split('/').every((part) => part.length <= 255),
          `${key.length} characters`,
        )
        t.match(key, /^(names|schedules)\/a{63}\/[^/]+\.(json|jwe)$/)
        known.add(key)
      }
      t.equal(known.size, 5, 'each name has its own key')
    }
    t.equal(namedRecordKey('acme', 'n'.repeat(250)), `names/acme/${'n'.repeat(250)}.json`, 'stored records keep their keys')
  },
)
