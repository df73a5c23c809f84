/**
 * `npm run images`: builds the images and loads them into the embedded cluster when it runs.
 *   -- --only operator,minio     only these; others, such as versitygw, are built only by name and for releases
 *   -- --push registry.example/x pushes them there, tagged with the version of package.json
 *   -- --bundle                  only fills the build contexts, for another image builder
 */
import { parseArgs } from 'node:util'
import { runCommand } from '../host/command.ts'
import { isDaemonRunning } from '../host/daemons.ts'
import { ensurePackages } from '../host/packages.ts'
import { choices } from '../host/state.ts'
import { type Report, runSteps, type Step } from '../host/steps.ts'
import { place } from '../kubernetes/network.ts'
import { buildMinio } from '../programs/programs.ts'
import { baseImage, ensureBase } from './base.ts'
import { ensureImage } from './build.ts'
import { type ImagePlan, imageReference, images, releaseTag } from './plan.ts'
import { buildah } from './store.ts'

/** Tags of the images by name. The steps fill it. */
export type ImageTags = Map<string, string>

export interface ImageSteps {
  /** While Go compiles Kubernetes, begins to build the images without a program from Go, and then to compile MinIO. Later steps try again what failed. */
  begin: Step
  /** The first builds the base image, after the early builds. Then there is one for each image. */
  steps: [Step, ...Step[]]
  tags: ImageTags
}

/** Steps that build the images and optionally load them. */
export function imageSteps(load: boolean, only?: readonly string[]): ImageSteps {
  const tags: ImageTags = new Map()
  const chosen = chooseImages(only)
  let baseId = ''
  let early: Promise<unknown> | undefined
  const buildEarly = async (): Promise<void> => {
    const report = (): void => {}
    const id = await ensureBase(report)
    for (const plan of chosen.filter(({ goProgram }) => goProgram === undefined)) await ensureImage(plan, id, { load: false, report })
  }
  const begin: Step = {
    name: 'Images',
    run: async () => {
      early = buildEarly().catch(() => {})
      // Meanwhile, Go has compiled what MinIO and Kubernetes have in common, and does not compile it twice.
      early.then(() => buildMinio()).catch(() => {})
      return 'being built during the next steps'
    },
  }
  const base: Step = {
    name: 'Base image',
    run: async (report) => {
      await early
      baseId = await ensureBase(report)
      return baseImage
    },
  }
  const steps = chosen.map((plan) => ({
    name: `Image ${plan.name}`,
    run: async (report: Report) => {
      const { tag, outcome } = await ensureImage(plan, baseId, { load, report })
      tags.set(plan.name, tag)
      return outcome
    },
  }))
  return { begin, steps: [base, ...steps], tags }
}

function chooseImages(only?: readonly string[]): ImagePlan[] {
  const unknown = only?.filter((name) => !images.some((plan) => plan.name === name)) ?? []
  if (unknown.length > 0)
    throw new Error(`unknown image: ${unknown.join(', ')}; known images are ${images.map((plan) => plan.name).join(', ')}`)
  return images.filter((plan) => only?.includes(plan.name) ?? !plan.isOptional)
}

/** Tags the images with the project's version and pushes them. */
async function push(registry: string, tags: ImageTags): Promise<void> {
  const version = await releaseTag()
  for (const [name, tag] of tags) {
    const target = `${registry.replace(/\/$/, '')}/${name}:${version}`
    await buildah(['push', '--quiet', imageReference(name, tag), `docker://${target}`])
    process.stdout.write(`pushed ${target}\n`)
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { only: { type: 'string' }, push: { type: 'string' }, bundle: { type: 'boolean' } } })
  const only = values.only?.split(',')
  if (values.bundle) {
    for (const plan of chooseImages(only)) await plan.prepare?.()
    return
  }
  const load = choices.cluster === 'embedded' && (await isDaemonRunning(place, 'containerd'))
  const { steps, tags } = imageSteps(load, only)
  await runSteps([{ name: 'Debian packages', run: ensurePackages }, ...steps])
  if (values.push) await push(values.push, tags)
  else if (!load)
    process.stdout.write('The images were built but not loaded, because the embedded cluster does not run. Run npm start to load them.\n')
}

if (import.meta.main) await runCommand(main)
