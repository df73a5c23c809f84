/** Pushes a release to its registry and signs it there. */
import { createHash } from 'node:crypto'
import path from 'node:path'
import type { Report } from '../cluster/host/steps.ts'
import { skopeo } from '../cluster/images/store.ts'
import { helm, plainFlags } from './chart.ts'
import { layoutOf, type ReleaseBuild, type ReleasedImage } from './images.ts'
import { isLoopback } from './settings.ts'
import { attachSbom, signImage } from './sign.ts'

/** Pushes the images with all their platforms. Digests stay as in the layout. */
export async function pushImages(build: ReleaseBuild, images: readonly ReleasedImage[], report: Report): Promise<string> {
  const plain = isLoopback(build.registry) ? ['--dest-tls-verify=false'] : []
  for (const { name } of images) {
    report(`pushing ${name}`)
    const source = `oci:${layoutOf(build.output)}:${name}:${build.version}`
    const target = `docker://${build.registry}/${name}:${build.version}`
    await skopeo(['copy', '--quiet', '--all', '--preserve-digests', ...plain, source, target])
  }
  return `${images.length} images`
}

/** Pushes the chart. Resolves to its digest in the registry. */
export async function pushChart(build: ReleaseBuild, archive: string): Promise<string> {
  await helm(['push', archive, `oci://${build.registry}/charts`, ...plainFlags(build.registry)])
  const plain = isLoopback(build.registry) ? ['--tls-verify=false'] : []
  const reference = `docker://${build.registry}/charts/tintype:${build.version}`
  const manifest = await skopeo(['inspect', ...plain, '--raw', reference])
  return `sha256:${createHash('sha256').update(manifest).digest('hex')}`
}

/** Signs images and chart by their digests, and attaches the SBOMs to the images of each platform. */
export async function signRelease(
  build: ReleaseBuild,
  images: readonly ReleasedImage[],
  { key, chartDigest, report }: { key: string; chartDigest: string; report: Report },
): Promise<string> {
  for (const { name, digest, platforms } of images) {
    report(`signing ${name}`)
    await signImage(`${build.registry}/${name}@${digest}`, key)
    for (const { platform, digest: single } of platforms) {
      const sbom = path.join(build.output, 'sbom', `${name}-${platform}.cdx.json`)
      await attachSbom(`${build.registry}/${name}@${single}`, sbom, key)
    }
  }
  await signImage(`${build.registry}/charts/tintype@${chartDigest}`, key)
  return `${images.length} images and the chart`
}
