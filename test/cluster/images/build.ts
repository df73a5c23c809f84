/** Builds one image from its Dockerfile and loads it into the cluster, unless the same build is already there. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { CommandError } from '../host/exec.ts'
import { imagesDirectory, repository } from '../host/state.ts'
import { type Report, StepError } from '../host/steps.ts'
import { baseImageOf } from './base.ts'
import type { BundledPackage } from './bundle.ts'
import { loadedImages, loadImage, tagImage, unloadImage } from './load.ts'
import { digestImage, type ImagePlan, imageReference } from './plan.ts'
import { hostPlatform, type Platform } from './platforms.ts'
import { buildah, findImageId } from './store.ts'

/** Older builds of the same image that stay loaded, for pods that have not been replaced yet. */
const keptBuilds = 3

/**
 * @param load true to load the image into the embedded cluster
 * @returns the work that was necessary
 */
export async function ensureImage(plan: ImagePlan, baseId: string, { load, report }: { load: boolean; report: Report }) {
  await prepare(plan)
  const tag = await digestImage(plan, baseId)
  const reference = imageReference(plan.name, tag)
  if (load && (await loadedImages()).has(reference)) return { tag, outcome: 'unchanged' }
  const isBuilt = (await findImageId(reference)) !== undefined
  if (!isBuilt) await buildImage(plan, [reference, imageReference(plan.name, 'dev')], { report })
  if (!load) return { tag, outcome: isBuilt ? 'unchanged' : 'built' }
  report(`loading ${plan.name}`)
  await loadImage(plan.name, reference)
  await tagImage(reference, imageReference(plan.name, 'dev'))
  await forgetOldBuilds(plan.name, tag)
  return { tag, outcome: isBuilt ? 'loaded' : 'built and loaded' }
}

/** Fills the context of an image. Resolves to the npm packages in it. @throws StepError with what to do */
export async function prepare(plan: ImagePlan, platform: Platform = hostPlatform): Promise<BundledPackage[]> {
  try {
    return (await plan.prepare?.(platform)) ?? []
  } catch (cause) {
    throw new StepError(`${plan.name} could not be bundled: ${cause instanceof Error ? cause.message : cause}`, {
      remedy: 'run `npm run types` and fix its errors',
      cause,
    })
  }
}

export interface BuildOptions {
  report: Report
  platform?: Platform
  labels?: Readonly<Record<string, string>>
  /** True to run every step again, so that Debian packages are the newest. Later builds can use the new layers. */
  isFresh?: boolean
}

/** Builds an image from its filled context. @throws StepError with what to do */
export async function buildImage(plan: ImagePlan, references: readonly string[], options: BuildOptions): Promise<void> {
  const { report, platform = hostPlatform, labels = {}, isFresh = false } = options
  report(`building ${plan.name}`)
  const context = path.join(repository, plan.context)
  const buildArguments = Object.entries({ BASE: baseImageOf(platform), ...plan.arguments })
  const args = [
    ...['--isolation', 'chroot', '--layers', '--pull-never'],
    ...(isFresh ? ['--no-cache'] : []),
    ...(platform === hostPlatform ? [] : ['--platform', `linux/${platform}`]),
    ...buildArguments.flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
    ...Object.entries(labels).flatMap(([name, value]) => ['--label', `${name}=${value}`]),
    ...references.flatMap((reference) => ['--tag', reference]),
  ]
  const onLine = (line: string) => {
    const step = /^STEP (\d+\/\d+): (.*)/.exec(line)
    if (step) report(`building ${plan.name} ${step[1]}: ${step[2]}`)
  }
  try {
    await buildah(['rm', '--all']) // an interrupted build leaves its container behind
    await buildah(['bud', ...args, context], { onLine })
  } catch (cause) {
    throw new StepError(`the image ${plan.name} could not be built`, {
      remedy: `see the output of buildah above; the Dockerfile is in ${plan.context}`,
      cause,
    })
  }
}

/** Keeps the newest builds in both stores and removes the others, which would fill the disk over time. */
async function forgetOldBuilds(name: string, tag: string): Promise<void> {
  const file = path.join(imagesDirectory, `${name}.builds.json`)
  const earlier = await readTags(file)
  const tags = [tag, ...earlier.filter((other) => other !== tag)]
  const loaded = await loadedImages()
  for (const old of tags.slice(keptBuilds)) {
    const reference = imageReference(name, old)
    if (loaded.has(reference)) await unloadImage(reference)
    await buildah(['rmi', reference]).catch(ignoreCommandError)
  }
  await mkdir(imagesDirectory, { recursive: true })
  await writeFile(file, JSON.stringify(tags.slice(0, keptBuilds)))
}

async function readTags(file: string): Promise<string[]> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as string[]
  } catch {
    return [] // the first build, or a file that is incomplete after a crash of the machine
  }
}

function ignoreCommandError(error: unknown): string {
  if (error instanceof CommandError) return ''
  throw error
}
