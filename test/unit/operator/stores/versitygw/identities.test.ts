import t from 'tap'
import { IDENTITIES } from '../../../../../crds/src/records/folders.ts'
import type { Identities } from '../../../../../operator/src/stores/driver.ts'
import { type BucketStatement, withIdentities } from '../../../../../operator/src/stores/versitygw/identities.ts'

const keys = (mark: string): Identities =>
  Object.fromEntries(IDENTITIES.map((role) => [role, { accessKey: `${role}-${mark}`.padEnd(20, '0'), secretKey: 'secret' }])) as Identities
const keyOf = (role: string, mark: string): string => `${role}-${mark}`.padEnd(20, '0')
const namesIn = (statements: readonly BucketStatement[]) => new Set(statements.flatMap(({ Principal }) => Principal.AWS))

t.test('withIdentities allows each identity what its role may do, and denies nothing', async (t) => {
  const { policy, replaced } = withIdentities([], keys('one'), 'tintype')
  t.strictSame(replaced, [])
  t.strictSame(new Set(policy.Statement.map(({ Effect }) => Effect)), new Set(['Allow']))
  t.strictSame(
    policy.Statement.filter(({ Principal }) => Principal.AWS.includes(keyOf('uploads', 'one'))),
    [
      {
        Sid: 'tintype',
        Principal: { AWS: [keyOf('uploads', 'one')] },
        Effect: 'Allow',
        Action: ['s3:PutObject'],
        Resource: ['arn:aws:s3:::tintype/users/*'],
      },
    ],
  )
})

t.test('withIdentities names each resource of an identity once', async (t) => {
  const { policy } = withIdentities([], keys('one'), 'tintype')
  for (const role of IDENTITIES) {
    const resources = policy.Statement.filter(({ Principal }) => Principal.AWS.includes(keyOf(role, 'one'))).flatMap(
      ({ Resource }) => Resource,
    )
    t.equal(new Set(resources).size, resources.length, role)
  }
})

t.test('withIdentities is idempotent, keeps statements of others, and lists replaced keys', async (t) => {
  const theirs: BucketStatement = {
    Sid: 'theirs',
    Principal: { AWS: ['backup'] },
    Effect: 'Allow',
    Action: ['s3:GetObject'],
    Resource: ['arn:aws:s3:::tintype/*'],
  }
  const first = withIdentities([theirs], keys('one'), 'tintype').policy.Statement
  t.same(first[0], theirs)
  t.strictSame(withIdentities(first, keys('one'), 'tintype'), { policy: { Version: '2012-10-17', Statement: first }, replaced: [] })

  const second = withIdentities(first, { ...keys('one'), gateway: keys('two').gateway }, 'tintype')
  t.strictSame(second.replaced, [keyOf('gateway', 'one')])
  t.notOk(namesIn(second.policy.Statement).has(keyOf('gateway', 'one')))
  t.ok(namesIn(second.policy.Statement).has('backup'))
})

t.test('withIdentities refuses a policy that the file system could not store', async (t) => {
  t.ok(withIdentities([], keys('one'), 'b'.repeat(35)))
  t.throws(() => withIdentities([], keys('one'), 'b'.repeat(63)), {
    reason: 'StorageRefused',
    message: /takes 3800: shorten storage\.bucket/,
  })
})
