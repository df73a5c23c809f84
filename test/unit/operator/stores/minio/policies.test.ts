import { readFileSync } from 'node:fs'
import t from 'tap'
import { policyOf } from '../../../../../crds/src/records/folder-policies.ts'
import { IDENTITIES } from '../../../../../crds/src/records/folders.ts'
import { parseRetiredName, retiredPolicy, retiredPolicyName } from '../../../../../operator/src/stores/minio/policies.ts'

const readme = readFileSync(new URL('../../../../../charts/tintype/README.md', import.meta.url), 'utf8')

for (const role of IDENTITIES) {
  t.test(`chart’s README grants ${role} on other stores what policyOf grants on MinIO`, async (t) => {
    const [, text = ''] = new RegExp(`Rights of \\x60${role}\\x60[^\\0]*?\\x60{3}json\\n([^\\0]*?)\\x60{3}`).exec(readme) ?? []
    t.strictSame(JSON.parse(text), policyOf(role, 'tintype'))
  })
}

t.test('policies contain only their own bucket', async (t) => {
  const resources = IDENTITIES.flatMap((role) => policyOf(role, 'own').Statement.flatMap(({ Resource }) => Resource))
  t.ok(resources.length > 20)
  t.strictSame(
    resources.filter((resource) => !/^arn:aws:s3:::own(\/|$)/.test(resource)),
    [],
  )
})

t.test('a retired identity keeps its permissions for an hour, and reads files for seven days', async (t) => {
  const { Statement: statements } = retiredPolicy('gateway', 'own', new Date('2026-11-23T12:00:00.500Z'))
  const allowed = statements.filter(({ Effect }) => Effect === 'Allow')
  const ends = new Set(allowed.map(({ Condition }) => Condition?.DateLessThan?.['aws:CurrentTime']))
  t.strictSame([...ends], ['2026-11-23T13:00:00Z', '2026-11-30T12:00:00Z'])
  t.strictSame(allowed.at(-1)?.Resource, ['arn:aws:s3:::own/users/*'])
  t.equal(retiredPolicy('uploads', 'own', new Date()).Statement.length, 2, 'uploads read nothing')
})

t.test('parseRetiredName reads the role and the time of retiredPolicyName', async (t) => {
  const at = new Date('2026-11-23T12:00:00.000Z')
  t.strictSame(parseRetiredName(retiredPolicyName('links', at)), { role: 'links', retiredAt: at })
  t.equal(parseRetiredName('tintype-links'), undefined)
})
