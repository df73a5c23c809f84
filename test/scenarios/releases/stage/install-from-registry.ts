/** Installs a release from its registry into the running local cluster, and captures a page. */
import { formatDuration } from '../../../cluster/host/steps.ts'
import { hostPlatform } from '../../../cluster/images/platforms.ts'
import { chooseSnapshotter, ctr } from '../../../cluster/kubernetes/node.ts'
import { chartReference, plainFlags } from '../../../release/chart.ts'
import type { Release } from '../../../release/release.ts'
import type { Context } from '../../harness/scenario.ts'
import { capturePage, installLocal, testEndToEnd } from './local-release.ts'
import { isPng } from './trial-release.ts'

const NAMESPACE = 'tintype-registry'

/** The values of the local cluster name its own images, which are loaded and never pulled. */
const fromRegistry = (registry: string): string[] => ['--set', `image.registry=${registry},image.pullPolicy=IfNotPresent`]

/** Pulls the images as a node does. The node has a network of its own, which does not reach loopback, so the kubelet cannot pull. */
async function pullImages({ build, images }: Release): Promise<void> {
  const options = ['--plain-http', '--platform', `linux/${hostPlatform}`, '--snapshotter', await chooseSnapshotter()]
  for (const { name } of images) await ctr(['images', 'pull', ...options, `${build.registry}/${name}:${build.version}`])
}

/** Measures the time from pull and `helm install` to the first picture, and runs the end-to-end tests on what was installed. */
export async function installFromRegistry(release: Release, { ends, ...report }: Omit<Context, 'settings' | 'stage'>) {
  const { build, images } = release
  report.progress('install into the cluster')
  const begun = performance.now()
  ends.teardown(() => ctr(['images', 'remove', ...images.map(({ name }) => `${build.registry}/${name}:${build.version}`)]))
  await pullImages(release)
  report.note('the node pulls the images from the registry', formatDuration(performance.now() - begun))
  const options = ['--version', build.version, ...plainFlags(build.registry), ...fromRegistry(build.registry)]
  const installed = await installLocal(ends, { namespace: NAMESPACE, chart: chartReference(build.registry), options })
  const picture = await capturePage(installed)
  const time = formatDuration(performance.now() - installed.began)
  report.holds('helm install oci://… leads to a picture', isPng(picture), `${picture.length} bytes after ${time}`)
  await testEndToEnd(installed, report)
}
