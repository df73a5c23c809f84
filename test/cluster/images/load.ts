/**
 * Loads an image from buildah's store into containerd's. Transfers only layers that containerd lacks, without compression: layers keep their
 * digests, and a change of code loads in one second instead of half a minute.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { run } from '../host/exec.ts'
import { imagesDirectory, paths } from '../host/state.ts'
import { chooseSnapshotter, ctr } from '../kubernetes/node.ts'
import { skopeo } from './store.ts'

interface Descriptor {
  mediaType: string
  digest: string
  size: number
  annotations?: Record<string, string>
}

interface Manifest {
  config: Descriptor
  layers: Descriptor[]
}

interface Index {
  manifests: Descriptor[]
}

const layout = path.join(imagesDirectory, 'oci')
const refName = 'org.opencontainers.image.ref.name'

/** References of all images in containerd. */
export async function loadedImages(): Promise<Set<string>> {
  return new Set((await ctr(['images', 'list', '-q'])).split('\n').filter(Boolean))
}

/** Loads the image that buildah stores as `reference`. */
export async function loadImage(name: string, reference: string): Promise<void> {
  await mkdir(layout, { recursive: true })
  const copy = ['copy', '--quiet', '--dest-oci-accept-uncompressed-layers', `containers-storage:${reference}`, `oci:${layout}:${name}`]
  await skopeo(copy)
  const index = await readJson<Index>(path.join(layout, 'index.json'))
  const descriptor = index.manifests.find((entry) => entry.annotations?.[refName] === name)!
  const held = new Set((await ctr(['content', 'list', '-q'])).split('\n'))
  const wanted = await blobsOf(descriptor)
  await importBlobs(
    reference,
    descriptor,
    wanted.filter((digest) => !held.has(digest)),
  )
  await removeUnused(index)
}

/** Adds a second name to a loaded image, for pods that users create. */
export async function tagImage(reference: string, name: string): Promise<void> {
  await ctr(['images', 'tag', '--force', reference, name])
}

/** Removes an image. Containers that run from it continue. */
export async function unloadImage(reference: string): Promise<void> {
  await ctr(['images', 'remove', reference])
}

/** An index of one image, which containerd imports under this name. */
function buildIndex(reference: string, { mediaType, digest, size }: Descriptor): string {
  return JSON.stringify({
    schemaVersion: 2,
    manifests: [{ mediaType, digest, size, annotations: { 'io.containerd.image.name': reference } }],
  })
}

/** The archive contains the index and the missing blobs. containerd has the others in its store. */
async function importBlobs(reference: string, descriptor: Descriptor, missing: readonly string[]): Promise<void> {
  const staging = path.join(imagesDirectory, 'staging')
  await mkdir(staging, { recursive: true })
  await writeFile(path.join(staging, 'index.json'), buildIndex(reference, descriptor))
  await writeFile(path.join(staging, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
  const files = missing.map((digest) => `blobs/${digest.replace(':', '/')}`)
  const importing = `ctr --address "$0" --namespace k8s.io images import --snapshotter ${await chooseSnapshotter()} -`
  const script = `set -o pipefail; tar --create "\${@}" | ${importing}`
  const blobs = files.length > 0 ? ['--directory', layout, ...files] : []
  await run('bash', ['-c', script, paths.containerdSocket, '--directory', staging, 'oci-layout', 'index.json', ...blobs])
}

async function blobsOf(descriptor: Descriptor): Promise<string[]> {
  const { config, layers } = await readJson<Manifest>(blobPath(descriptor.digest))
  return [...new Set([descriptor.digest, config.digest, ...layers.map((layer) => layer.digest)])]
}

/** Removes blobs of images that were rebuilt since. */
async function removeUnused(index: Index): Promise<void> {
  const used = new Set((await Promise.all(index.manifests.map(blobsOf))).flat())
  const directory = path.join(layout, 'blobs/sha256')
  const unused = (await readdir(directory)).filter((file) => !used.has(`sha256:${file}`))
  await Promise.all(unused.map((file) => rm(path.join(directory, file), { force: true })))
}

const blobPath = (digest: string): string => path.join(layout, 'blobs', digest.replace(':', '/'))

async function readJson<T>(file: string): Promise<T> {
  return JSON.parse(await readFile(file, 'utf8')) as T
}
