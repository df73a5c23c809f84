import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import type { ClusterAccess } from '../../../crds/client/cluster-access.ts'

interface Kubeconfig {
  clusters: { cluster: { server: string; 'certificate-authority-data': string } }[]
  users: { user: { 'client-certificate-data': string; 'client-key-data': string } }[]
  contexts: { context: { namespace: string } }[]
}

const decode = (text: string): string => Buffer.from(text, 'base64').toString()

/**
 * Access with a kubeconfig of a test's API server. The product's `accessFromKubeconfig` reads every kind of kubeconfig, but its library takes almost a second
 * of processor time to load.
 */
export async function accessPlane(kubeconfigPath: string): Promise<ClusterAccess> {
  const { clusters, users, contexts } = parse(await readFile(kubeconfigPath, 'utf8')) as Kubeconfig
  const [{ cluster }, { user }, { context }] = [clusters[0]!, users[0]!, contexts[0]!]
  const tls = {
    ca: decode(cluster['certificate-authority-data']),
    cert: decode(user['client-certificate-data']),
    key: decode(user['client-key-data']),
  }
  return { server: cluster.server, namespace: context.namespace, credentials: async () => ({ headers: {}, tls }) }
}
