/** The steps of `npm run release`. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { run } from '../cluster/host/exec.ts'
import { ensurePackages } from '../cluster/host/packages.ts'
import { repository } from '../cluster/host/state.ts'
import { runSteps, type Step } from '../cluster/host/steps.ts'
import { releaseTag } from '../cluster/images/plan.ts'
import { buildKubernetes } from '../cluster/programs/programs.ts'
import { packAirgap } from './airgap.ts'
import { packageChart } from './chart.ts'
import { imageSteps, listFiles, packagesFor, type ReleaseBuild, type ReleasedImage, releasedPlans } from './images.ts'
import { packPlugin } from './krew.ts'
import { buildPage } from './page.ts'
import { pushChart, pushImages, signRelease } from './publish.ts'
import type { ReleaseSettings } from './settings.ts'
import { readPublicKey, signFile } from './sign.ts'
import { toolStep } from './tools.ts'

/** What was released. */
export interface Release {
  build: ReleaseBuild
  images: readonly ReleasedImage[]
  /** Digest of the chart in the registry. Empty if it was not pushed. */
  chartDigest: string
}

/** Builds a release, and pushes and signs it if the settings say so. */
export async function makeRelease(settings: ReleaseSettings): Promise<Release> {
  const plans = releasedPlans(settings.only)
  const build = await describeBuild(settings)
  await rm(build.output, { recursive: true, force: true })
  await mkdir(build.output, { recursive: true })
  const { steps, released } = imageSteps(build, plans)
  let chart = ''
  let chartDigest = ''
  const { key } = settings
  const all: Step[] = [
    { name: 'Debian packages', run: (report) => ensurePackages(report, packagesFor(build.platforms)) },
    { name: 'helm', run: async (report) => ((await buildKubernetes(report)) ? 'built' : 'already built') },
    ...(key === undefined ? [] : [toolStep('cosign')]),
    ...steps,
    {
      name: 'Chart',
      run: async () => {
        chart = await packageChart(build, released)
        return path.basename(chart)
      },
    },
    { name: 'Plugin of kubectl', run: () => packPlugin(build) },
    { name: 'Archive without internet', run: () => packAirgap(build, released) },
  ]
  if (settings.isPushed) {
    all.push(
      { name: 'Push images', run: (report) => pushImages(build, released, report) },
      {
        name: 'Push chart',
        run: async () => {
          chartDigest = await pushChart(build, chart)
          return chartDigest
        },
      },
    )
    if (key !== undefined) all.push({ name: 'Sign', run: (report) => signRelease(build, released, { key, chartDigest, report }) })
  }
  all.push({ name: 'Page and checksums', run: () => finish(build, released, key) })
  await runSteps(all)
  return { build, images: released, chartDigest }
}

async function describeBuild({ registry, platforms, output, source, isCached }: ReleaseSettings): Promise<ReleaseBuild> {
  const git = async (...args: string[]) => (await run('git', args, { directory: repository })).trim()
  const [revision = '', created = ''] = (await git('log', '-1', '--format=%H %cI')).split(' ')
  return { version: await releaseTag(), revision, created, registry, source, platforms, output, isCached }
}

/** Writes the page, the public key, and the checksums of all files outside of the layout, which the archive contains. */
async function finish(build: ReleaseBuild, images: readonly ReleasedImage[], key: string | undefined): Promise<string> {
  const { output } = build
  const publicKey = key === undefined ? undefined : await readPublicKey(key)
  if (publicKey !== undefined) await writeFile(path.join(output, 'cosign.pub'), publicKey)
  await writeFile(path.join(output, 'RELEASE.md'), await buildPage(build, images, publicKey))
  const files = (await listFiles(output)).filter((file) => !file.startsWith(`images${path.sep}`))
  const lines = await Promise.all(files.map(async (file) => `${await digestFile(path.join(output, file))}  ${file}\n`))
  const sums = path.join(output, 'SHA256SUMS')
  await writeFile(sums, lines.join(''))
  if (key !== undefined) await signFile(sums, key)
  return `${files.length} files in ${path.relative(process.cwd(), output)}`
}

async function digestFile(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
