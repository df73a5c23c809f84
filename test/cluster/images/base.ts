/** The base image of all programs: Node's official image, or a substitute with the same name, built from Debian, if no registry responds. */
import { copyFile, mkdir, realpath, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { run } from '../host/exec.ts'
import { imagesDirectory, repository } from '../host/state.ts'
import { type Report, StepError } from '../host/steps.ts'
import { digestOf } from '../programs/programs.ts'
import { ensureNode, hostPlatform, type Platform } from './platforms.ts'
import { buildah, findImageId, inspectImage, skopeo } from './store.ts'

/** The name in the Dockerfiles' `ARG BASE`. */
export const baseImage = 'docker.io/library/node:26-trixie-slim'

const registry = 'https://registry-1.docker.io/v2/'
const mirrors = ['trixie', 'trixie-updates'].map((suite) => `deb http://deb.debian.org/debian ${suite} main`)
const securityMirror = 'deb http://deb.debian.org/debian-security trixie-security main'

/** Paths that Debian's slim images leave out as well, and packages that Node needs. */
const slim = ['exclude=/usr/share/man/*', 'exclude=/usr/share/locale/*', 'exclude=/usr/share/doc/*', 'include=/usr/share/doc/*/copyright']
const packages = 'ca-certificates,libatomic1,libstdc++6'

/** Label with the digest of the recipe. Older substitutes have another digest, and the official image has no such label. */
const label = 'dev.tintype.stand-in'

/** Name of the base image in the store. The official name stays with this machine's platform. */
export const baseImageOf = (platform: Platform): string =>
  platform === hostPlatform ? baseImage : `localhost/tintype/base-${platform}:26-trixie-slim`

/** The id of the base image. Pulls or builds the image when it is missing, or with `isFresh` always. Another platform than this machine's needs emulation. */
export async function ensureBase(report: Report, platform: Platform = hostPlatform, isFresh = false): Promise<string> {
  const recipe = digestOf([slim, packages, mirrors, process.version])
  const name = baseImageOf(platform)
  const existing = await findImageId(name)
  if (existing && !isFresh && ['', recipe].includes(await readLabel(name))) return existing
  if ((!existing || isFresh) && (await isRegistryReachable())) await pull(report, platform)
  else await makeStandIn(recipe, report, platform)
  return (await findImageId(name))!
}

const readLabel = (reference: string): Promise<string> => inspectImage(reference, `{{index .OCIv1.Config.Labels "${label}"}}`)

async function isRegistryReachable(): Promise<boolean> {
  try {
    await fetch(registry, { signal: AbortSignal.timeout(5_000) })
    return true // also when the registry requires a login
  } catch {
    return false
  }
}

async function pull(report: Report, platform: Platform): Promise<void> {
  report(`pulling ${baseImage} for ${platform}`)
  try {
    await skopeo(['copy', '--quiet', '--override-arch', platform, `docker://${baseImage}`, `containers-storage:${baseImageOf(platform)}`])
  } catch (cause) {
    throw new StepError(`${baseImage} could not be pulled`, {
      remedy: `run this command and fix its errors: skopeo inspect docker://${baseImage}`,
      cause,
    })
  }
}

/** A minimal Debian system with the Node of the npm package, which is the same program as in the official image. */
async function makeStandIn(recipe: string, report: Report, platform: Platform): Promise<void> {
  const directory = path.join(imagesDirectory, 'base')
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true })
  report('no registry responds: building a substitute from Debian')
  const options = [
    `--architectures=${platform}`,
    '--variant=minbase',
    `--include=${packages}`,
    ...slim.map((rule) => `--dpkgopt=path-${rule}`),
  ]
  try {
    await run('nice', ['mmdebstrap', '--quiet', ...options, 'trixie', path.join(directory, 'rootfs.tar'), ...mirrors, securityMirror])
  } catch (cause) {
    throw new StepError('the base image could not be built', {
      remedy: 'make deb.debian.org reachable, or a registry with the official image',
      cause,
    })
  }
  const node = platform === hostPlatform ? path.join(repository, 'node_modules/node/bin/node') : await ensureNode(platform)
  await copyFile(await realpath(node), path.join(directory, 'node'))
  const lines = [
    'FROM scratch',
    'ADD rootfs.tar /',
    'COPY --chmod=755 node /usr/local/bin/node',
    `LABEL ${label}=${recipe}`,
    'CMD ["node"]',
  ]
  await writeFile(path.join(directory, 'Dockerfile'), `${lines.join('\n')}\n`)
  report('storing the substitute')
  await buildah(['bud', '--quiet', '--isolation', 'chroot', '--platform', `linux/${platform}`, '--tag', baseImageOf(platform), directory])
  await rm(directory, { recursive: true, force: true })
}
