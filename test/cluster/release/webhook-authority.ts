/** The authority of webhook endpoints in the local cluster: the operator trusts it, so that tests can start endpoints without a new release. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { clusterDirectory, releaseNamespace } from '../host/state.ts'
import { apply } from '../kubernetes/kubectl.ts'
import { certificatePaths, createAuthority, isFresh } from '../kubernetes/pki.ts'

/** Directory of its certificate and key, as pki.ts lays them out. */
export const webhookAuthority = path.join(clusterDirectory, 'webhook-authority')

/** Makes the authority unless it is there, and the ConfigMap that the chart takes its certificate from; gives the ConfigMap's name. */
export async function ensureWebhookAuthority(namespace = releaseNamespace): Promise<string> {
  if (!(await isFresh(webhookAuthority, 'ca'))) await createAuthority(webhookAuthority)
  const certificate = await readFile(certificatePaths(webhookAuthority, 'ca').certificate, 'utf8')
  // Another authority is another name: the operator reads the file once.
  const name = `webhook-authority-${createHash('sha256').update(certificate).digest('hex').slice(0, 8)}`
  const metadata = { name, namespace }
  await apply(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'ca.crt': certificate } }))
  return name
}
