import t from 'tap'
import { newId } from '../../../../crds/src/identifiers/ids.ts'
import { policyOf } from '../../../../crds/src/records/folder-policies.ts'
import { folders, IDENTITIES, OBJECTS, STORED_KINDS } from '../../../../crds/src/records/folders.ts'
import { NOON } from '../../../support/fakes/builders.ts'
import { readText } from '../../../support/sources/code-blocks.ts'
import { readRightsTable } from '../../../support/sources/rights-table.ts'

const rights = readRightsTable()

t.test('every folder has the rights that are written by hand, and no folder is missing', async (t) => {
  t.strictSame(folders.map(({ name }) => name).sort(), [...rights.keys()].sort())
  for (const { name, rights: found } of folders)
    for (const identity of IDENTITIES)
      t.strictSame(
        [...(found[identity] ?? [])].sort(),
        (rights.get(name)?.get(identity) ?? []).filter((right) => right !== 'list').sort(),
        `${identity} in ${name}/`,
      )
})

t.test('the policies allow exactly the rights that are written by hand, and deny copies elsewhere', async (t) => {
  const ACTIONS = { get: 's3:GetObject', put: 's3:PutObject', delete: 's3:DeleteObject' }
  for (const identity of IDENTITIES) {
    const statements = policyOf(identity, 'own').Statement
    const resourcesOf = (effect: string, action: string) =>
      statements.filter(({ Effect, Action }) => Effect === effect && Action.includes(action)).flatMap(({ Resource }) => Resource)
    const inFolders = (isWanted: (allowed: string[]) => boolean) =>
      [...rights].filter(([, of]) => isWanted(of.get(identity) ?? [])).map(([folder]) => `arn:aws:s3:::own/${folder}/*`)
    for (const [right, action] of Object.entries(ACTIONS))
      t.strictSame(
        resourcesOf('Allow', action),
        inFolders((allowed) => allowed.includes(right)),
        `${identity}: ${right}`,
      )
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
      for (const key of built) {
        t.ok(key.startsWith(`${name}/`), key)
        if (accounts.length > 0)
          t.ok(
            accounts.some((prefix) => key.startsWith(`${prefix}acme/`)),
            `${key} of an account`,
          )
      }
      if (parse === 'never') continue
      t.not(parse(built[0]!), undefined, kind)
      t.equal(parse(`${name}/nonsense_`), undefined, name)
    }
})

t.test('every type of object has one name and a limit', async (t) => {
  t.equal(
    new Set(STORED_KINDS).size,
    folders.reduce((sum, { objects }) => sum + Object.keys(objects).length, 0),
  )
  for (const kind of STORED_KINDS) t.ok(OBJECTS[kind].maxBytes >= 0, kind)
})
