/** The images of Tintype and of its local test servers, and the digest that decides whether an image must be rebuilt. */
import { createHash } from 'node:crypto'
import { copyFile, link, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { repository } from '../host/state.ts'
import { buildMinio, ensureVersitygw, locateMinio } from '../programs/programs.ts'
import { type BundledPackage, bundleProgram, unbundled } from './bundle.ts'
import { placeLists } from './lists.ts'
import { ensureForeignPackages, hostPlatform, type Platform } from './platforms.ts'

export interface ImagePlan {
  /** `operator` is built as `localhost/tintype/operator`. */
  name: string
  /** Build context, relative to the repository. */
  context: string
  /** Files or directories of the context that go into the image, relative to the context. */
  contents: readonly string[]
  /** Build arguments of its Dockerfile. */
  arguments?: Readonly<Record<string, string>>
  /** Fills the context for a platform, by default this machine's. Resolves to the npm packages in it. */
  prepare?: (platform?: Platform) => Promise<BundledPackage[]>
  /** True if the local cluster does not need it: `npm start` does not build it. */
  isOptional?: boolean
  /** Path of a program from Go in the image, whose modules are in it. */
  goProgram?: string
}

const program = (name: string, more: readonly string[] = [], place?: (dist: string) => Promise<void>): ImagePlan => ({
  name,
  context: name,
  contents: ['dist', ...more],
  prepare: async (platform = hostPlatform) => {
    const dist = path.join(repository, name, 'dist')
    await ensureForeignPackages(unbundled, platform, () => {})
    const packages = await bundleProgram(name, dist, platform)
    await place?.(dist)
    return packages
  },
})

const runner = program('capture-runner', ['fonts', 'jail'], placeLists)

/** In the order in which they are built. */
export const images: readonly ImagePlan[] = [
  program('operator'),
  program('api-gateway'),
  runner,
  // The same program with ffmpeg, in the layers below it: a change of the program does not rebuild or ship ffmpeg again.
  { ...runner, name: 'capture-runner-video', arguments: { VIDEO: 'true' } },
  {
    name: 'minio',
    context: 'charts/images/minio',
    contents: ['dist'],
    prepare: placeMinio,
    goProgram: 'usr/local/bin/minio',
  },
  {
    name: 'versitygw',
    context: 'charts/images/versitygw',
    contents: ['dist'],
    prepare: placeVersitygw,
    isOptional: true,
    goProgram: 'usr/local/bin/versitygw',
  },
  { name: 'sites', context: 'test/sites', contents: ['.'] },
]

/** `localhost/tintype/operator:1a2b3c4d5e6f` */
export const imageReference = (name: string, tag: string): string => `localhost/tintype/${name}:${tag}`

/** The tag of pushed images: the version of the project. */
export async function releaseTag(): Promise<string> {
  const { version } = JSON.parse(await readFile(path.join(repository, 'package.json'), 'utf8')) as { version: string }
  return version
}

/** The tag of the image of a prepared context: a digest of its Dockerfile, its build arguments, its files and its base image. */
export async function digestImage(plan: ImagePlan, baseId: string): Promise<string> {
  const context = path.join(repository, plan.context)
  const files = (await Promise.all(plan.contents.map((entry) => listFiles(context, entry)))).flat().sort()
  const hash = createHash('sha256').update(await readFile(path.join(context, 'Dockerfile')))
  if (plan.arguments) hash.update(JSON.stringify(plan.arguments))
  if (await usesBase(context)) hash.update(baseId)
  for (const file of files) hash.update(`\0${file}\0`).update(await readFile(path.join(context, file)))
  return hash.digest('hex').slice(0, 12)
}

async function usesBase(context: string): Promise<boolean> {
  return (await readFile(path.join(context, 'Dockerfile'), 'utf8')).includes('ARG BASE')
}

async function listFiles(context: string, entry: string): Promise<string[]> {
  const found = await readdir(path.join(context, entry), { recursive: true, withFileTypes: true })
  return found.filter((file) => file.isFile()).map((file) => path.relative(context, path.join(file.parentPath, file.name)))
}

async function placeMinio(platform = hostPlatform): Promise<BundledPackage[]> {
  await buildMinio(() => {}, platform)
  return placeBuilt('minio', await locateMinio(platform))
}

async function placeVersitygw(platform = hostPlatform): Promise<BundledPackage[]> {
  return placeBuilt('versitygw', path.dirname(await ensureVersitygw(() => {}, platform)))
}

/** Adds the files of a program that is built outside of its image to the context, with hard links. */
async function placeBuilt(name: string, directory: string): Promise<BundledPackage[]> {
  const dist = path.join(repository, 'charts/images', name, 'dist')
  await rm(dist, { recursive: true, force: true })
  for (const file of await listFiles(directory, '.')) {
    const [from, to] = [path.join(directory, file), path.join(dist, file)]
    await mkdir(path.dirname(to), { recursive: true })
    await link(from, to).catch(() => copyFile(from, to)) // the cache may be on another file system
  }
  return []
}
