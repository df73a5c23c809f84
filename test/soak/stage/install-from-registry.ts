/** Installs a release from its registry into the running local cluster, and captures a page. */
import { formatDuration } from '../../cluster/host/steps.ts'
import { hostPlatform } from '../../cluster/images/platforms.ts'
import { chooseSnapshotter, ctr } from '../../cluster/kubernetes/node.ts'
import { chartReference, plainFlags } from '../../release/chart.ts'
import type { Release } from '../../release/release.ts'
import { type Finding, holds } from '../part.ts'
import { capturePage, isPng, testEndToEnd, withLocalRelease } from './local-release.ts'

const NAMESPACE = 'tintype-registry'

/** The values of the local cluster name its own images, which are loaded and never pulled. */
const fromRegistry = (registry: string): string[] => ['--set', `image.registry=${registry},image.pullPolicy=IfNotPresent`]

/** Pulls the images as a node does. The node has a network of its own, which does not reach loopback, so the kubelet cannot pull. */
async function pullImages({ build, images }: Release): Promise<void> {
  const options = ['--plain-http', '--platform', `linux/${hostPlatform}`, '--snapshotter', await chooseSnapshotter()]
  for (const { name } of images) await ctr(['images', 'pull', ...options, `${build.registry}/${name}:${build.version}`])
}

async function removeImages({ build, images }: Release): Promise<void> {
  await ctr(['images', 'remove', ...images.map(({ name }) => `${build.registry}/${name}:${build.version}`)])
}

/** Findings on the time from pull and `helm install` to the first picture, and the end-to-end tests on what was installed. */
export async function installFromRegistry(release: Release, progress: (line: string) => void): Promise<Finding[]> {
  const { build } = release
  const begun = performance.now()
  await pullImages(release)
  const pulled = holds('the node pulls the images from the registry', true, formatDuration(performance.now() - begun))
  const options = ['--version', build.version, ...plainFlags(build.registry), ...fromRegistry(build.registry)]
  try {
    progress('helm install')
    return await withLocalRelease({ namespace: NAMESPACE, chart: chartReference(build.registry), options }, async (installed) => {
      const picture = await capturePage(installed)
      const milliseconds = performance.now() - installed.began
      progress('end-to-end tests')
      return [
        pulled,
        holds('helm install oci://… leads to a picture', isPng(picture), `${picture.length} bytes after ${formatDuration(milliseconds)}`),
        await testEndToEnd(installed, progress),
      ]
    })
  } finally {
    await removeImages(release)
  }
}
