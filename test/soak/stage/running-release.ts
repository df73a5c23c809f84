import { releaseNamespace } from '../../cluster/host/state.ts'
import { kubectl } from '../../cluster/kubernetes/kubectl.ts'

const IMAGES = { operator: 'operator', gateway: 'api-gateway', runner: 'capture-runner', minio: 'minio' }

/** Values for the local cluster, and the image tags of the running release. */
export async function readRunning(): Promise<{ values: string[]; tags: Record<string, string> }> {
  const read = (...what: string[]) => kubectl(['get', ...what, '-n', releaseNamespace, '-o', 'json'])
  // Other pools belong to other releases, which may have other images.
  const images = (await Promise.all([read('deployments,statefulsets'), read('runnerpool', 'default', 'video')])).join('')
  const tags = Object.fromEntries(
    [...images.matchAll(/"image": "[^"]*\/([a-z-]+):([^"]+)"/g)].map(([, name = '', tag = '']) => [name, tag]),
  )
  const values = {
    'image.registry': 'localhost/tintype',
    'image.pullPolicy': 'Never',
    'bootstrap.plan': 'scale',
    'runner.maxPods': 5,
    'runner.egress.allowedHosts': ['*.sites.svc.cluster.local'],
    'sandbox.localhostProfile': 'profiles/tintype-chromium.json',
    'minio.persistence.size': '1Gi',
  }
  return { values: Object.entries(values).flatMap(([name, value]) => ['--set-json', `${name}=${JSON.stringify(value)}`]), tags }
}

/** Chart values that set the image tag of each component. */
export const tagSettings = (tagOf: (image: string) => string): string[] =>
  Object.entries(IMAGES).flatMap(([part, image]) => ['--set', `${part}.image.tag=${tagOf(image)}`])
