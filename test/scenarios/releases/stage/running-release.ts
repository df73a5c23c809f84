import { withLock } from '../../../cluster/host/lock.ts'
import { paths, releaseNamespace, repository } from '../../../cluster/host/state.ts'
import { runSteps } from '../../../cluster/host/steps.ts'
import { imageSteps } from '../../../cluster/images/main.ts'
import { kubectl } from '../../../cluster/kubernetes/kubectl.ts'
import { imageSettings } from '../../../cluster/release/release.ts'

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

/** Chart values that set the image tag of each program, and keep the store of the running release. */
export const tagSettings = ({ minio = '' }: Record<string, string>, tag: string): string[] =>
  Object.entries(IMAGES).flatMap(([part, image]) => ['--set', `${part}.image.tag=${image === 'minio' ? minio : tag}`])

/** The chart of this checkout. */
export const CHART = `${repository}/charts/tintype`

/**
 * Chart values with the images of the running release, and with the image of versitygw, which is built and loaded if it is missing. Other images are not
 * built: older ones would be removed, although the running release may need them.
 */
export async function imageOptions(): Promise<string[]> {
  const { tags } = await readRunning()
  const versitygw = await withLock(paths.lock, async () => {
    const { steps, tags: built } = await imageSteps(true, ['versitygw'])
    await runSteps(steps, { write: () => undefined, isTerminal: false, columns: 120 })
    return built
  })
  return imageSettings(new Map([...Object.entries(tags), ...versitygw])).flatMap((setting) => ['--set', setting])
}
