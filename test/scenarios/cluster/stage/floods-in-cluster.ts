import { rm } from 'node:fs/promises'
import type { Test } from 'tap'
import { createCertificate } from '../../../cluster/kubernetes/pki.ts'
import { webhookAuthority } from '../../../cluster/release/webhook-authority.ts'
import { startInCluster } from '../../../support/cluster/program.ts'
import type { PublicSite } from '../../../support/servers/public-site-program.ts'

/** A public address that is routed to the flooding receiver. */
const ADDRESS = '203.0.114.50'

/** Starts a webhook endpoint that floods the operator, with a certificate that the operator trusts. Resolves to its URL. */
export async function startFloodsInCluster(t: Test): Promise<string> {
  const { certificate, key } = await createCertificate(webhookAuthority, 'floods', { user: 'receiver', names: [`IP:${ADDRESS}`] })
  t.teardown(() => Promise.all([certificate, key].map((file) => rm(file, { force: true }))))
  await startInCluster(t, 'attack/public-flooding-program.ts', { address: ADDRESS, certificate, key } satisfies PublicSite)
  return `https://${ADDRESS}`
}
