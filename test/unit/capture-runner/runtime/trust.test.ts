import t from 'tap'
import { trustAuthorities } from '../../../../capture-runner/src/runtime/trust.ts'

t.test('trustAuthorities rejects a bundle without a certificate, and names its field', async (t) => {
  for (const bundle of ['nonsense', '-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----'])
    await t.rejects(trustAuthorities(bundle, t.testdir()), { message: 'spec.egress.extraCaBundle holds no PEM certificate' })
})
