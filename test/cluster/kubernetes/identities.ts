/** Certificates and kubeconfigs of the embedded cluster: one identity per program, with only the permissions of Kubernetes' default roles. */
import { rm, writeFile } from 'node:fs/promises'
import { network, paths, releaseNamespace } from '../host/state.ts'
import { kubeconfigOf } from './node.ts'
import { buildKubeconfig, certificatePaths, createAuthority, createCertificate, type Identity, isFresh } from './pki.ts'

const serverNames = [
  ...[
    'localhost',
    network.nodeName,
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
  ].map((name) => `DNS:${name}`),
  ...['127.0.0.1', network.kubernetesService, network.nodeAddress].map((address) => `IP:${address}`),
]

const identities: Record<string, Identity> = {
  apiserver: { user: 'kube-apiserver', names: serverNames },
  admin: { user: 'admin', groups: ['system:masters'] },
  'kube-controller-manager': { user: 'system:kube-controller-manager' },
  'kube-scheduler': { user: 'system:kube-scheduler' },
  'kube-proxy': { user: 'system:kube-proxy' },
  kubelet: {
    user: `system:node:${network.nodeName}`,
    groups: ['system:nodes'],
    names: [`DNS:${network.nodeName}`, `IP:${network.nodeAddress}`],
  },
  // CoreDNS needs the permissions of kube-proxy and also reads namespaces. In a local cluster it may read everything.
  coredns: { user: 'system:coredns', groups: ['system:masters'] },
}

const insideUrl = `https://${network.nodeAddress}:${network.apiPort}`

/** The API server's address on the host. */
export const hostUrl = `https://127.0.0.1:${network.hostApiPort}`

/** True when all certificates exist and are valid for another month. */
export async function areIdentitiesFresh(): Promise<boolean> {
  const answers = await Promise.all(['ca', ...Object.keys(identities)].map((name) => isFresh(paths.pki, name)))
  return answers.every(Boolean)
}

/** Creates a new authority, all certificates and all kubeconfigs. Programs that use the old ones must be restarted. */
export async function createIdentities(): Promise<void> {
  await rm(paths.pki, { recursive: true, force: true })
  await createAuthority(paths.pki)
  await Promise.all(Object.entries(identities).map(([name, identity]) => createCertificate(paths.pki, name, identity)))
  await writeKubeconfigs()
}

/** Writes the kubeconfigs at each start, because a port may have changed. */
export async function writeKubeconfigs(): Promise<void> {
  const authority = certificatePaths(paths.pki, 'ca').certificate
  const write = async (file: string, url: string, name: string, namespace?: string) =>
    writeFile(file, await buildKubeconfig(url, authority, certificatePaths(paths.pki, name), namespace), { mode: 0o600 })
  const programs = Object.keys(identities).filter((name) => name !== 'apiserver')
  await Promise.all(programs.map((name) => write(kubeconfigOf(name), insideUrl, name)))
  await write(paths.kubeconfig, hostUrl, 'admin', releaseNamespace)
}
