/** Builds the images of a release for each platform, and writes them with their SBOMs and notices to the release's directory. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { run } from '../cluster/host/exec.ts'
import type { Report, Step } from '../cluster/host/steps.ts'
import { ensureBase } from '../cluster/images/base.ts'
import { buildImage, prepare } from '../cluster/images/build.ts'
import type { BundledPackage } from '../cluster/images/bundle.ts'
import { type ImagePlan, imageReference, images } from '../cluster/images/plan.ts'
import { emulationPackages, ensureRunnable, hostPlatform, type Platform } from '../cluster/images/platforms.ts'
import { buildah, inspectImage } from '../cluster/images/store.ts'
import { buildNotices } from './notices.ts'
import { buildSbom, parseDpkgStatus, parseGoModules } from './sbom.ts'

/** An image in the OCI layout of a release. */
export interface ReleasedImage {
  name: string
  /** Digest of the index of all platforms. */
  digest: string
  platforms: readonly { platform: Platform; digest: string; compressedBytes: number }[]
}

/** What a release is made of. */
export interface ReleaseBuild {
  version: string
  /** Commit of the source, and when it was made. */
  revision: string
  created: string
  registry: string
  /** URL of the repository, if it is known. */
  source: string | undefined
  platforms: readonly Platform[]
  output: string
  /** True to use layers of earlier builds, which may have older Debian packages. */
  isCached: boolean
}

/** Images that a release publishes: all but the servers of test pages. */
export const releasedPlans = (only?: readonly string[]): ImagePlan[] => {
  const plans = images.filter(({ name }) => name !== 'sites')
  const unknown = only?.filter((name) => !plans.some((plan) => plan.name === name)) ?? []
  if (unknown.length > 0) throw new Error(`--only ${unknown.join(',')} is unknown: choose from ${plans.map(({ name }) => name).join(',')}`)
  return plans.filter(({ name }) => only === undefined || only.includes(name))
}

/** Debian packages that this machine needs for other platforms than its own. */
export const packagesFor = (platforms: readonly Platform[]): string[] =>
  platforms.every((platform) => platform === hostPlatform) ? [] : emulationPackages

const tagOf = (platform: Platform): string => `release-${platform}`

/** The steps that build the images, and the list that they fill. */
export function imageSteps(build: ReleaseBuild, plans: readonly ImagePlan[]): { steps: Step[]; released: ReleasedImage[] } {
  const released: ReleasedImage[] = []
  const bases = build.platforms.map((platform) => ({
    name: `Base image ${platform}`,
    run: async (report: Report) => {
      const how = await ensureRunnable(platform)
      await ensureBase(report, platform, !build.isCached)
      return how
    },
  }))
  const builds = plans.flatMap((plan) =>
    build.platforms.map((platform) => ({
      name: `${plan.name} ${platform}`,
      run: (report: Report) => buildOne(build, plan, platform, report),
    })),
  )
  const write: Step = {
    name: 'OCI layout',
    run: async (report) => {
      for (const { name } of plans) {
        report(`writing ${name}`)
        released.push(await writeToLayout(build, name))
      }
      return `${released.length} images`
    },
  }
  return { steps: [...bases, ...builds, write], released }
}

const sourceLabels = ({ revision, source }: ReleaseBuild): Record<string, string> => ({
  'org.opencontainers.image.revision': revision,
  ...(source === undefined ? {} : { 'org.opencontainers.image.source': source }),
})

async function buildOne(build: ReleaseBuild, plan: ImagePlan, platform: Platform, report: Report): Promise<string> {
  report('bundling')
  const npm = await prepare(plan, platform)
  const reference = imageReference(plan.name, tagOf(platform))
  const labels = {
    'org.opencontainers.image.version': build.version,
    'org.opencontainers.image.created': build.created,
    // The image of MinIO names its own source and revision, as its license requires.
    ...(plan.goProgram === undefined ? sourceLabels(build) : {}),
  }
  // The image for videos is built on the new layers of the runner.
  const isFresh = !build.isCached && plan.arguments === undefined
  await buildImage(plan, [reference], { report, platform, labels, isFresh })
  report('listing its parts')
  const license = await inspectImage(reference, '{{index .OCIv1.Config.Labels "org.opencontainers.image.licenses"}}')
  return mounted(reference, async (root) => {
    const parts = await describeParts(build, plan, { reference, platform, root, npm, license })
    const file = `${plan.name}-${platform}`
    await mkdir(path.join(build.output, 'sbom'), { recursive: true })
    await mkdir(path.join(build.output, 'notices'), { recursive: true })
    await writeFile(path.join(build.output, 'sbom', `${file}.cdx.json`), buildSbom(parts))
    await writeFile(path.join(build.output, 'notices', `${file}.txt`), await buildNotices(root, parts))
    return `${parts.npm.length} npm, ${parts.debian.length} Debian, ${parts.go.length} Go`
  })
}

/** The official base image says its version. The substitute has the version of this process. */
async function readNodeVersion(reference: string): Promise<string> {
  const environment = await inspectImage(reference, '{{range .OCIv1.Config.Env}}{{println .}}{{end}}')
  return (
    environment
      .split('\n')
      .find((entry) => entry.startsWith('NODE_VERSION='))
      ?.split('=')[1] ?? process.version.slice(1)
  )
}

interface Found {
  reference: string
  platform: Platform
  root: string
  npm: readonly BundledPackage[]
  license: string
}

async function describeParts({ version }: ReleaseBuild, plan: ImagePlan, { reference, platform, root, npm, license }: Found) {
  const status = await readFile(path.join(root, 'var/lib/dpkg/status'), 'utf8').catch(() => '') // images from scratch have none
  const go = plan.goProgram === undefined ? '' : await run('go', ['version', '-m', path.join(root, plan.goProgram)])
  const debian = parseDpkgStatus(status)
  const node = debian.length > 0 ? await readNodeVersion(reference) : undefined
  return { image: plan.name, version, platform, license, npm, debian, go: parseGoModules(go), node }
}

/** Calls `act` with the path of an image's files. */
export async function mounted<T>(reference: string, act: (root: string) => Promise<T>): Promise<T> {
  const container = (await buildah(['from', '--pull-never', reference])).trim()
  try {
    return await act((await buildah(['mount', container])).trim())
  } finally {
    await buildah(['rm', container])
  }
}

/** The OCI layout of a release. It contains each image with all its platforms. */
export const layoutOf = (output: string): string => path.join(output, 'images')

async function writeToLayout(build: ReleaseBuild, name: string): Promise<ReleasedImage> {
  const list = imageReference(name, `release-${build.version}`)
  await buildah(['manifest', 'rm', list]).catch(() => '') // of an earlier run
  await buildah(['manifest', 'create', list])
  for (const platform of build.platforms)
    await buildah(['manifest', 'add', list, `containers-storage:${imageReference(name, tagOf(platform))}`])
  const target = `oci:${layoutOf(build.output)}:${name}:${build.version}`
  await buildah(['manifest', 'push', '--quiet', '--all', '--format', 'oci', list, target])
  return readReleased(build.output, name, build.version)
}

interface Descriptor {
  digest: string
  size: number
  platform?: { architecture: string }
  annotations?: Record<string, string>
}

/** Reads an image from the layout of a release. @throws when it is not there */
async function readReleased(output: string, name: string, version: string): Promise<ReleasedImage> {
  const layout = layoutOf(output)
  const readJson = async <T>(file: string): Promise<T> => JSON.parse(await readFile(path.join(layout, file), 'utf8')) as T
  const readBlob = <T>(digest: string): Promise<T> => readJson(`blobs/${digest.replace(':', '/')}`)
  const { manifests } = await readJson<{ manifests: Descriptor[] }>('index.json')
  const found = manifests.find(({ annotations }) => annotations?.['org.opencontainers.image.ref.name'] === `${name}:${version}`)
  if (!found) throw new Error(`${layout} has no image ${name}:${version}: run npm run release again`)
  const index = await readBlob<{ manifests: Descriptor[] }>(found.digest)
  const platforms = await Promise.all(
    index.manifests.map(async ({ digest, platform }) => {
      const { layers } = await readBlob<{ layers: Descriptor[] }>(digest)
      return {
        platform: platform?.architecture as Platform,
        digest,
        compressedBytes: layers.reduce((sum, { size }) => sum + size, 0),
      }
    }),
  )
  return { name, digest: found.digest, platforms }
}

/** All files of a directory and below, as sorted relative paths. */
export async function listFiles(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
  return files.sort()
}
