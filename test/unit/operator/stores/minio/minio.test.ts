import { createCipheriv, createDecipheriv, pbkdf2Sync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { IDENTITIES, policyOf } from '../../../../../crds/src/records/folders.ts'
import { DEFAULT_PLANS, longestRetention } from '../../../../../crds/src/usage/plans.ts'
import { expiryDays } from '../../../../../operator/src/stores/driver.ts'
import { encryptForMinio, putPolicy } from '../../../../../operator/src/stores/minio/admin.ts'
import { parseRetiredName, retiredPolicy, retiredPolicyName, withOwnRules } from '../../../../../operator/src/stores/minio/driver.ts'
import { eventually } from '../../../../support/eventually.ts'
import { BUFFERED_BYTES, startEndlessServer } from '../../../../support/servers/endless-server.ts'

t.test('MinIO calls read only the start of an endless error response', async (t) => {
  const server = await startEndlessServer(t, 'HTTP/1.1 403 Forbidden\r\n\r\n', 'no ')
  const root = { endpoint: server.url, region: 'us-east-1', accessKey: 'root', secretKey: 'secret' }
  await t.rejects(putPolicy(root, 'gateway', {}), {
    reason: 'StorageRefused',
    message: /responded with 403 to add-canned-policy: (no ){150}/,
  })
  await eventually('the client closed the connection', async () => server.closed() === 1)
  t.ok(server.bytes() < BUFFERED_BYTES, `${server.bytes()} bytes were taken`)
})

const open = (key: Buffer, nonce: Buffer, sealed: Buffer, associated: Buffer): string => {
  const cipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 })
  cipher.setAAD(associated).setAuthTag(sealed.subarray(-16))
  return Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]).toString()
}

t.test('encryptForMinio arranges its parts as MinIO expects them, and only the same key opens its text', async (t) => {
  const sealed = encryptForMinio('root password', 'text')
  t.equal(sealed.length, 32 + 1 + 8 + 'text'.length + 16)
  t.equal(sealed[32], 2, 'PBKDF2 with AES-GCM')
  const read = (password: string) => {
    const key = pbkdf2Sync(password, sealed.subarray(0, 32), 8_192, 32, 'sha256')
    // The tag of an empty text of fragment 0 is associated with every fragment; the last one is marked.
    const nonce = (sequence: number) => Buffer.concat([sealed.subarray(33, 41), Buffer.of(sequence, 0, 0, 0)])
    const binding = sealTag(key, nonce(0))
    return open(key, nonce(1), sealed.subarray(41), Buffer.concat([Buffer.of(0x80), binding]))
  }
  t.equal(read('root password'), 'text')
  t.throws(() => read('another'))
  t.notSame(encryptForMinio('root password', 'text'), sealed, 'never the same bytes twice')
  t.throws(() => encryptForMinio('k', 'x'.repeat(16_385)), RangeError, 'a text that needs more than one fragment')
})

function sealTag(key: Buffer, nonce: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.final()
  return cipher.getAuthTag()
}

const ruleOfUsers = ({ Rule: rules }: ReturnType<typeof withOwnRules>) => rules.find(({ ID }) => ID === 'tintype-users')

t.test('withOwnRules replaces rules of Tintype and keeps others', async (t) => {
  const theirs = { ID: 'theirs', Status: 'Enabled', Filter: { Prefix: 'reports/' } }
  const first = withOwnRules([theirs] as never, expiryDays({ fileDays: 30, recordDays: 400 }))
  const fileDays = longestRetention({ ...DEFAULT_PLANS, scale: { ...DEFAULT_PLANS.scale, retentionDays: 3_650 } })
  const second = withOwnRules(first.Rule, expiryDays({ fileDays, recordDays: 500 }))
  t.strictSame(second.Rule[0], theirs)
  t.equal(second.Rule.length, first.Rule.length)
  t.match(ruleOfUsers(second), { Filter: { Prefix: 'users/' }, Expiration: { Days: 3_651 } })
})

const readme = readFileSync(new URL('../../../../../charts/tintype/README.md', import.meta.url), 'utf8')

for (const role of IDENTITIES) {
  t.test(`chart’s README grants ${role} on other stores what policyOf grants on MinIO`, async (t) => {
    const [, text = ''] = new RegExp(`Rights of \\x60${role}\\x60[^\\0]*?\\x60{3}json\\n([^\\0]*?)\\x60{3}`).exec(readme) ?? []
    t.strictSame(JSON.parse(text), policyOf(role, 'tintype'))
  })
}

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
