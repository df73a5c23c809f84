import { releaseNamespace } from '../../cluster/host/state.ts'
import { kubectl } from '../../cluster/kubernetes/kubectl.ts'

const IMAGES = { operator: 'operator', gateway: 'api-gateway', runner: 'capture-runner', minio: 'minio' }

/** Values that suit the local cluster, and the image tags of the release that it runs. */
export async function readRunning(): Promise<{ values: string[]; tags: Record<string, string> }> {
  const read = (...what: string[]) => kubectl(['get', ...what, '-n', releaseNamespace, '-o', 'json'])
  // Other pools are others', and may have other images.
  const images = (await Promise.all([read('deployments,statefulsets'), read('runnerpool', 'default')])).join('')
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

/** Settings of the chart that give each part's image a tag. */
export const tagSettings = (tagOf: (image: string) => string): string[] =>
  Object.entries(IMAGES).flatMap(([part, image]) => ['--set', `${part}.image.tag=${tagOf(image)}`])
