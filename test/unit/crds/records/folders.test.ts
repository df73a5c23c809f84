import t from 'tap'
import { newId } from '../../../../crds/src/identifiers/ids.ts'
import { folders, IDENTITIES, OBJECTS, policyOf, STORED_KINDS } from '../../../../crds/src/records/folders.ts'
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
import { assertAccepts, assertEvery } from '../../../support/accepts.ts'
import { at, NOON } from '../../../support/fakes/builders.ts'
import { readText } from '../../../support/sources/code-blocks.ts'
import { readRightsTable } from '../../../support/sources/rights-table.ts'

const rights = readRightsTable()

t.test('every folder has the rights that are written by hand, and no folder is missing', async (t) => {
  t.strictSame(folders.map(({ name }) => name).sort(), [...rights.keys()].sort())
  for (const { name, rights: found } of folders)
    for (const identity of IDENTITIES) {
      const written = (rights.get(name)?.get(identity) ?? []).filter((right) => right !== 'list')
      t.strictSame([...(found[identity] ?? [])].sort(), written.sort(), `${identity} in ${name}/`)
    }
})

t.test('the policies allow exactly the rights that are written by hand, and deny copies elsewhere', async (t) => {
  const ACTIONS = { get: 's3:GetObject', put: 's3:PutObject', delete: 's3:DeleteObject' }
  for (const identity of IDENTITIES) {
    const statements = policyOf(identity, 'own').Statement
    const resourcesOf = (effect: string, action: string) =>
      statements.filter(({ Effect, Action }) => Effect === effect && Action.includes(action)).flatMap(({ Resource }) => Resource)
    const inFolders = (isWanted: (allowed: string[]) => boolean) =>
      [...rights].filter(([, of]) => isWanted(of.get(identity) ?? [])).map(([folder]) => `arn:aws:s3:::own/${folder}/*`)
    for (const [right, action] of Object.entries(ACTIONS)) {
      const inRights = inFolders((allowed) => allowed.includes(right))
      t.strictSame(resourcesOf('Allow', action), inRights, `${identity}: ${right}`)
    }
    const noCopies = inFolders((allowed) => allowed.includes('put') && !allowed.includes('copy'))
    t.strictSame(resourcesOf('Deny', 's3:PutObject'), noCopies, `${identity}: no copies`)
    const mayList = identity === 'operator' || identity === 'gateway'
    t.strictSame(resourcesOf('Allow', 's3:ListBucket'), mayList ? ['arn:aws:s3:::own'] : [])
  }
})

t.test('docs/architecture.md shows the rights that are written by hand', async (t) => {
  const page = readText('docs/architecture.md')
  for (const [folder, of] of rights) {
    const cells = ['operator', 'gateway', 'uploads', 'links'].map((identity) => of.get(identity)?.join(', ') || '–')
    t.ok(page.includes(`| \`${folder}/\` | ${cells.join(' | ')} |`), folder)
  }
})

const id = newId('scr', NOON)
const delivery = newId('dlv', NOON)
/** Arguments of the builders of keys that do not take an account and an id. */
const ARGUMENTS: Record<string, unknown[][]> = {
  file: [['acme', id, 'png']],
  segment: [['acme', { first: id, last: id, count: 1 }, 'a'.repeat(12)]],
  rewrite: [['acme', '79246', 'join']],
  event: [['evt_1']],
  delivery_log: [['deliveries/acme/wh_1/', NOON, 3, 'abc']],
  undelivered: [
    ['acme', 'hook', NOON, delivery],
    ['acme', 'wh_1', delivery],
  ],
  expiry: [['acme', id, NOON]],
  gone: [['acme']],
  run: [['acme', 'uid', id]],
  baseline: [['acme', 'uid', id]],
}

t.test('every key is in the folder of its type, with the account where its deletion looks, and its parser accepts it', async (t) => {
  for (const {
    name,
    objects,
    deletion: { accounts },
  } of folders)
    for (const [kind, { keys, parse }] of Object.entries(objects)) {
      const built = keys.map((build, index) => (build as (...parts: unknown[]) => string)(...(ARGUMENTS[kind]?.[index] ?? ['acme', id])))
      assertEvery(t, built, (key) => key.startsWith(`${name}/`))
      if (accounts.length > 0) assertEvery(t, built, (key) => accounts.some((prefix) => key.startsWith(`${prefix}acme/`)), 'of an account')
      if (parse === 'never') continue
      t.not(parse(built[0]!), undefined, kind)
      t.equal(parse(`${name}/nonsense_`), undefined, name)
    }
})

t.test('every type of object has one name and a limit', async (t) => {
  const kinds = folders.flatMap(({ objects }) => Object.keys(objects))
  t.equal(new Set(STORED_KINDS).size, kinds.length)
  for (const kind of STORED_KINDS) t.ok(OBJECTS[kind].maxBytes >= 0, kind)
})

t.test('objectKey and parseObjectKey are inverse', async (t) => {
  t.equal(objectKey('acme', id, 'png'), `users/acme/${id}.png`)
  for (const extension of ['png', 'jpeg', 'webp', 'thumb.png', 'html']) {
    t.strictSame(parseObjectKey(objectKey('acme', id, extension)), { account: 'acme', id, extension })
  }
})

t.test('parseObjectKey refuses other keys', async (t) => {
  const folders = ['users/', 'users/Acme', 'users/a/b', 'users/../acme', 'users/-a', '/users/acme', 'records/acme']
  const files = [id, 'scr_x.png', `${id}.png/..`, `${id}.PNG`, `${id}.png\n`]
  const keys = [...folders.map((folder) => `${folder}/${id}.png`), ...files.map((file) => `users/acme/${file}`), '']
  // No download leads to sealed options.
  assertAccepts(t, parseObjectKey, [`users/acme/${id}.png`], [...keys, optionsKey('acme', 'scr-1')])
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

t.test('stored objects keep their keys', async (t) => {
  t.equal(tombstoneKey('acme', id), `records/acme/${invertedDay(NOON)}/tombstones/${id}`)
  t.equal(eventKey('evt_1'), 'events/evt_1.json')
  t.equal(optionsKey('acme', 'scr-1'), 'options/acme/scr-1.jwe')
  t.equal(namedRecordKey('acme', 'n'.repeat(250)), `names/acme/${'n'.repeat(250)}.json`)
})

t.test('a Screenshot or schedule with a name of 253 characters was never captured: a part of its key was too long', async (t) => {
  const names = ['home', 'n'.repeat(250), 'n'.repeat(251), 'n'.repeat(253), `${'n'.repeat(252)}m`]
  for (const keyOf of [namedRecordKey, scheduleOptionsKey]) {
    const keys = names.map((name) => keyOf('a'.repeat(63), name))
    assertEvery(t, keys, (key) => /^(names|schedules)\/a{63}\/[^/]{1,251}\.(json|jwe)$/.test(key))
    assertEvery(t, keys, (key) => key.split('/').every((part) => part.length <= 255))
    t.equal(new Set(keys).size, 5, 'each name has its own key')
  }
})
