/** Installs a release from its registry into the running local cluster, and captures a page. */
import { formatDuration } from '../../cluster/host/steps.ts'
import { hostPlatform } from '../../cluster/images/platforms.ts'
import { chooseSnapshotter, ctr } from '../../cluster/kubernetes/node.ts'
import { chartReference, plainFlags } from '../../release/chart.ts'
import type { Release } from '../../release/release.ts'
import { eventually } from '../../support/eventually.ts'
import { type Finding, holds } from '../part.ts'
import { QUADRANTS } from './cluster-objects.ts'
import { helmOn, RELEASE, withGateway, withTrial } from './trial-release.ts'

/** Values that the local cluster needs: its test pages, and volumes that it has. */
const VALUES = {
  'runner.egress.allowedHosts': ['*.sites.svc.cluster.local'],
  'sandbox.localhostProfile': 'profiles/tintype-chromium.json',
  'minio.persistence.size': '1Gi',
}

/** Pulls the images as a node does. The node has a network of its own, which does not reach loopback, so the kubelet cannot pull. */
async function pullImages({ build, images }: Release): Promise<void> {
  const options = ['--plain-http', '--platform', `linux/${hostPlatform}`, '--snapshotter', await chooseSnapshotter()]
  for (const { name } of images) await ctr(['images', 'pull', ...options, `${build.registry}/${name}:${build.version}`])
}

async function removeImages({ build, images }: Release): Promise<void> {
  await ctr(['images', 'remove', ...images.map(({ name }) => `${build.registry}/${name}:${build.version}`)])
}

/** Findings on the time from pull and `helm install` to the first picture. */
export async function installFromRegistry(release: Release, progress: (line: string) => void): Promise<Finding[]> {
  const { build } = release
  return withTrial(async (trial) => {
    const begun = performance.now()
    await pullImages(release)
    const pulled = performance.now()
    try {
      progress('helm install')
      await trial.makeNamespace()
      const values = Object.entries(VALUES).flatMap(([name, value]) => ['--set-json', `${name}=${JSON.stringify(value)}`])
      await helmOn('install', RELEASE, chartReference(build.registry), '--version', build.version, ...plainFlags(build.registry), ...values)
      await trial.whenReady() // the first API key exists by then
      const { status, bytes } = await withGateway(capture)
      const done = performance.now()
      const isPicture = status === 200 && bytes.subarray(1, 4).toString() === 'PNG'
      return [
        holds('the node pulls the images from the registry', true, formatDuration(pulled - begun)),
        holds('helm install oci://… leads to a picture', isPicture, `${bytes.length} bytes after ${formatDuration(done - pulled)}`),
      ]
    } finally {
      await trial.clear()
      await removeImages(release)
    }
  })
}

/** Captures a page by REST, and repeats the request until the first runner is ready. */
async function capture(base: string, headers: Record<string, string>): Promise<{ status: number; bytes: Buffer }> {
  const request = {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'image/*' },
    body: JSON.stringify({ url: QUADRANTS, options: { capture_timeout: 60_000 } }),
  }
  return eventually(
    'the first picture',
    async () => {
      const response = await fetch(`${base}/api/v1/screenshots`, request)
      const bytes = Buffer.from(await response.arrayBuffer())
      return response.status === 200 && { status: response.status, bytes }
    },
    600_000,
  )
}
