/** The certificate authority for webhook endpoints in the local cluster. The operator trusts it, so tests can start endpoints without a new release. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { clusterDirectory, releaseNamespace } from '../host/state.ts'
import { apply } from '../kubernetes/kubectl.ts'
import { certificatePaths, createAuthority, isFresh } from '../kubernetes/pki.ts'

/** Directory of its certificate and key, with the file names of pki.ts. */
export const webhookAuthority = path.join(clusterDirectory, 'webhook-authority')

/** Creates the authority unless it exists, and the ConfigMap with its certificate for the chart. Resolves to the name of the ConfigMap. */
export async function ensureWebhookAuthority(namespace = releaseNamespace): Promise<string> {
  if (!(await isFresh(webhookAuthority, 'ca'))) await createAuthority(webhookAuthority)
  const certificate = await readFile(certificatePaths(webhookAuthority, 'ca').certificate, 'utf8')
  // The name contains a digest of the certificate, because the operator reads the file only once.
  const name = `webhook-authority-${createHash('sha256').update(certificate).digest('hex').slice(0, 8)}`
  const metadata = { name, namespace }
  await apply(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'ca.crt': certificate } }))
  return name
}
