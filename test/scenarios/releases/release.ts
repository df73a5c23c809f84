import { createHash, randomUUID } from 'node:crypto'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { run } from '../../cluster/host/exec.ts'
import { withLock } from '../../cluster/host/lock.ts'
import { paths } from '../../cluster/host/state.ts'
import { formatDuration } from '../../cluster/host/steps.ts'
import { hostPlatform, type Platform, platforms } from '../../cluster/images/platforms.ts'
import { buildah, skopeo } from '../../cluster/images/store.ts'
import { chartReference, helm, plainFlags } from '../../release/chart.ts'
import { mounted, type ReleasedImage, releasedPlans } from '../../release/images.ts'
import { makeRelease, type Release } from '../../release/release.ts'
import { createKeyPair, verifyFile, verifyImage, verifySbom } from '../../release/sign.ts'
import { ensureTool } from '../../release/tools.ts'
import { createDirectory } from '../../support/directory.ts'
import { type Context, type Report, scenario } from '../harness/scenario.ts'
import { installFromRegistry } from './stage/local-release.ts'
import { compareImage, type Registry, startRegistry } from './stage/registry.ts'

/** A program of each image, and arguments with which it only says what it is. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  operator: ['/usr/local/bin/node', '--version'],
  'api-gateway': ['/usr/local/bin/node', '--version'],
  'capture-runner': ['/usr/lib/chromium/chromium-headless-shell', '--version'],
  'capture-runner-video': ['/usr/bin/ffmpeg', '-version'],
  minio: ['/usr/local/bin/minio', '--version'],
  versitygw: ['/usr/local/bin/versitygw', '--version'],
}
const PROGRAM_MILLISECONDS = 120_000

interface World {
  directory: string
  registry: Registry
  release: Release
  publicKey: string
  /** A key that did not sign anything. */
  otherKey: string
}

const options = { platforms: hostPlatform as string, only: undefined, cluster: false }

/** Makes a release, and checks what a user gets from its registry. */
export const release = scenario({
  name: 'release',
  shows: 'a release from a real registry: images of all platforms, chart, signatures, SBOMs, notices, archive',
  options,
  run: makeAndCheck,
})

async function makeAndCheck(context: Context<undefined, typeof options>): Promise<void> {
  const { settings, ends, progress } = context
  const chosen = settings.platforms.split(',').map((name) => {
    const platform = platforms.find((known) => known === name)
    if (!platform) throw new Error(`--platforms ${name} is unknown: choose from ${platforms.join(',')}`)
    return platform
  })
  const directory = await createDirectory(ends, 'release')
  const password = randomUUID()
  process.env.COSIGN_PASSWORD = password // cosign reads it from its environment
  await ensureTool('cosign')
  const registry = await startRegistry(path.join(directory, 'registry'))
  ends.teardown(registry.stop)
  const keys = { ours: path.join(directory, 'keys'), others: path.join(directory, 'other-keys') }
  for (const place of Object.values(keys)) {
    await mkdir(place)
    await createKeyPair(place, password)
  }
  const started = performance.now()
  const settingsOfRelease = {
    registry: `${registry.host}/tintype`,
    isPushed: true,
    platforms: chosen,
    output: path.join(directory, 'release'),
    key: path.join(keys.ours, 'cosign.key'),
    source: 'https://git.example/acme/tintype',
    isCached: true, // a fresh build differs only in the versions of Debian packages
    only: settings.only?.split(','),
  }
  const made = await withLock(
    paths.lock,
    () => makeRelease(settingsOfRelease),
    (pid) => progress(`waiting for another run to finish (process ${pid})`),
  )
  context.note('npm run release ends', `${made.images.length} images in ${formatDuration(performance.now() - started)}`)
  const publicKey = path.join(made.build.output, 'cosign.pub')
  const world = { directory, registry, release: made, publicKey, otherKey: path.join(keys.others, 'cosign.pub') }
  const checks: Record<string, (report: Report, world: World) => Promise<void>> = {
    'pull images and chart': checkPulls,
    'verify signatures': checkSignatures,
    'compare SBOMs and notices with the images': checkParts,
    'start programs': startPrograms,
    archive: checkArchive,
    plugin: checkPlugin,
  }
  for (const [what, check] of Object.entries(checks)) {
    progress(what)
    await check(context, world)
  }
  if (settings.cluster) await installFromRegistry(made, context)
}

const referenceOf = ({ build }: Release, { name, digest }: Pick<ReleasedImage, 'name' | 'digest'>): string =>
  `${build.registry}/${name}@${digest}`

const copy = (from: string, to: string, ...options: string[]): Promise<string> =>
  skopeo(['copy', '--quiet', '--src-tls-verify=false', '--dest-tls-verify=false', ...options, from, to])

/** True if the call rejects, and why. */
async function isRefused(call: Promise<unknown>): Promise<{ refused: boolean; reason: string }> {
  return call.then(
    () => ({ refused: false, reason: 'accepted' }),
    (error: Error) => ({
      refused: true,
      reason: error.message
        .split('\n')
        .at(-1)!
        .replace(/^\S*\//, '')
        .slice(0, 160),
    }),
  )
}

async function checkPulls({ holds }: Report, { directory, registry, release: made }: World): Promise<void> {
  const { build, images } = made
  const pulled = path.join(directory, 'pulled')
  let bytes = 0
  for (const image of images) {
    // skopeo verifies the digest of everything that it copies.
    await copy(`docker://${referenceOf(made, image)}`, `oci:${pulled}:${image.name}`, '--all', '--preserve-digests')
    bytes += image.platforms.reduce((sum, { compressedBytes }) => sum + compressedBytes, 0)
  }
  const wanted = [...build.platforms].sort().join(', ')
  const have = images.filter(
    ({ platforms: all }) =>
      all
        .map(({ platform }) => platform)
        .sort()
        .join(', ') === wanted,
  )
  await rm(pulled, { recursive: true, force: true })

  const flags = ['--version', build.version, ...plainFlags(build.registry)]
  await helm(['pull', chartReference(build.registry), ...flags, '--destination', directory])
  const rendered = await helm(['template', 'tintype', path.join(directory, `tintype-${build.version}.tgz`), '--namespace', 'tintype'])
  const references = [...new Set([...rendered.matchAll(/image: "?([^"\s]+)"?/g)].map(([, reference]) => reference!))]
  const published = new Set(releasedPlans().map(({ name }) => `${build.registry}/${name}:${build.version}`))
  const unknown = references.filter((reference) => !published.has(reference))
  holds('every image has every platform', have.length === images.length, `${have.length} of ${images.length} with ${wanted}`)
  const pulledBytes = `${(bytes / 2 ** 20).toFixed(0)} MiB from ${registry.host.split(':')[0]}`
  holds('all layers can be pulled from the registry', bytes > 0, pulledBytes)
  const claim = 'helm pull oci://… renders without a value, with images of this registry'
  const isOwn = references.length > 0 && unknown.length === 0
  holds(claim, isOwn, `${references.length} images, ${unknown.join(', ') || 'none'} unknown`)
}

async function checkSignatures({ holds }: Report, world: World): Promise<void> {
  const { release: made, publicKey, otherKey, registry, directory } = world
  const { build, images, chartDigest } = made
  const singles = images.flatMap(({ name, platforms }) => platforms.map(({ digest }) => ({ name, digest })))
  const all = [...images, ...singles, { name: 'charts/tintype', digest: chartDigest }]
  for (const one of all) await verifyImage(referenceOf(made, one), publicKey)
  const first = images[0]!
  const byOther = await isRefused(verifyImage(referenceOf(made, first), otherKey))
  const changed = await isRefused(verifyImage(await pushChangedImage(world, first), publicKey))
  const layer = await isRefused(pullWithChangedLayer(world, first))

  const sums = path.join(build.output, 'SHA256SUMS')
  await verifyFile(sums, publicKey)
  await run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { directory: build.output })
  const original = await readFile(sums)
  await writeFile(sums, changeByte(original))
  const file = await isRefused(verifyFile(sums, publicKey))
  await writeFile(sums, original)
  await rm(path.join(directory, 'changed'), { recursive: true, force: true })
  holds('cosign verifies images, each platform, and the chart', true, `${all.length} signatures at ${registry.host.split(':')[0]}`)
  holds('another key is refused', byOther.refused, byOther.reason)
  holds('an image with one changed byte is refused', changed.refused, changed.reason)
  holds('a layer with one changed byte in the registry is refused by the client', layer.refused, layer.reason)
  holds('checksums with one changed byte are refused', file.refused, file.reason)
}

function changeByte(bytes: Buffer, at = Math.floor(bytes.length / 2)): Buffer {
  const changed = Buffer.from(bytes)
  changed[at] = changed[at]! ^ 1
  return changed
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Pushes an image that differs from a released one in one byte of its configuration, under its own tag. Resolves to its reference. */
async function pushChangedImage({ release: made, directory }: World, image: ReleasedImage): Promise<string> {
  const place = path.join(directory, 'changed')
  await copy(`docker://${made.build.registry}/${image.name}@${image.platforms[0]!.digest}`, `dir:${place}`)
  const manifestFile = path.join(place, 'manifest.json')
  const manifest = await readFile(manifestFile, 'utf8')
  const { config } = JSON.parse(manifest) as { config: { digest: string } }
  const old = config.digest.replace('sha256:', '')
  const text = await readFile(path.join(place, old), 'latin1')
  // One digit of the second in which the image was created.
  const at = text.indexOf('"created":"') + '"created":"2026-01-01T00:00:0'.length
  const changed = changeByte(Buffer.from(text, 'latin1'), at)
  await writeFile(path.join(place, sha256(changed)), changed)
  await writeFile(manifestFile, manifest.replace(old, sha256(changed)))
  const target = `${made.build.registry}/${image.name}:changed`
  await copy(`dir:${place}`, `docker://${target}`)
  return target
}

/** Changes one byte of a layer in the registry's files, pulls, and restores the layer. */
async function pullWithChangedLayer({ registry, release: made, directory }: World, image: ReleasedImage): Promise<void> {
  const single = image.platforms[0]!
  const manifest = JSON.parse(await readFile(registry.blobFile(single.digest), 'utf8')) as { layers: { digest: string }[] }
  const file = registry.blobFile(manifest.layers.at(-1)!.digest)
  const original = await readFile(file)
  await writeFile(file, changeByte(original))
  try {
    await copy(`docker://${made.build.registry}/${image.name}@${single.digest}`, `dir:${path.join(directory, 'changed')}`)
  } finally {
    await writeFile(file, original)
  }
}

/** Calls `act` with the files of each image and platform, as pulled from the registry. */
async function forEachPulled(
  { release: made }: World,
  act: (root: string, image: ReleasedImage, single: ReleasedImage['platforms'][number]) => Promise<void>,
): Promise<void> {
  for (const image of made.images) {
    for (const single of image.platforms) {
      const reference = `localhost/tintype/soak-${image.name}:${single.platform}`
      await copy(`docker://${made.build.registry}/${image.name}@${single.digest}`, `containers-storage:${reference}`)
      await mounted(reference, (root) => act(root, image, single))
      await buildah(['rmi', reference])
    }
  }
}

async function checkParts({ holds, table }: Report, world: World): Promise<void> {
  const { build } = world.release
  const rows: string[][] = []
  const faults: Record<'missing' | 'surplus' | 'withoutNotice', string[]> = { missing: [], surplus: [], withoutNotice: [] }
  await forEachPulled(world, async (root, { name }, { platform, digest }) => {
    const sbom = await verifySbom(`${build.registry}/${name}@${digest}`, world.publicKey)
    const notices = await readFile(path.join(build.output, 'notices', `${name}-${platform}.txt`), 'utf8')
    const [plan] = releasedPlans([name])
    const found = await compareImage(root, plan!, sbom, notices)
    rows.push([name, platform, String(found.npm), String(found.debian), String(found.go), `${(notices.length / 2 ** 10).toFixed(0)} KiB`])
    for (const fault of ['missing', 'surplus', 'withoutNotice'] as const)
      faults[fault].push(...found[fault].map((entry) => `${name}-${platform}: ${entry}`))
  })
  table({ title: 'Parts of the images', head: ['image', 'platform', 'npm', 'Debian', 'Go', 'notices'], rows })
  for (const [fault, claim] of [
    ['missing', 'signed SBOMs list every npm and Debian package and Go module of the images'],
    ['surplus', 'SBOMs list nothing else'],
    ['withoutNotice', 'notices have the license of every npm and Debian package'],
  ] as const) {
    const list = faults[fault]
    holds(claim, list.length === 0, list.length === 0 ? 'none' : `${list.length}: ${list.slice(0, 5).join(', ')}`)
  }
}

/** Starts one program of each image. Emulation cannot run every program, so only those of this machine's platform must start. */
async function startPrograms({ holds, table }: Report, world: World): Promise<void> {
  const rows: string[][] = []
  const failed: string[] = []
  await forEachPulled(world, async (root, { name }, { platform }) => {
    const [program = '', ...args] = PROGRAMS[name] ?? []
    const result = await run('chroot', [root, program, ...args], { timeoutMilliseconds: PROGRAM_MILLISECONDS }).then(
      (output) => output.trim().split('\n')[0]!.slice(0, 80),
      (error: Error) => {
        if (platform === hostPlatform) failed.push(name)
        return `did not start: ${error.message.slice(0, 80)}`
      },
    )
    rows.push([name, describePlatform(platform), path.basename(program), result])
  })
  table({ title: 'Programs that were started', head: ['image', 'platform', 'program', 'result'], rows })
  holds(`the programs for ${hostPlatform} start`, failed.length === 0, failed.join(', ') || 'all')
}

const describePlatform = (platform: Platform): string => (platform === hostPlatform ? platform : `${platform}, emulated`)

/** Unpacks the archive and loads it into another place of the registry, as on a machine without internet. */
async function checkArchive({ holds }: Report, { directory, registry, release: made }: World): Promise<void> {
  const { build, images } = made
  const place = path.join(directory, 'airgap')
  await mkdir(place)
  await run('tar', ['--extract', '--file', path.join(build.output, `tintype-${build.version}-airgap.tar`), '--directory', place])
  const target = `${registry.host}/inside/tintype`
  await run('./load.sh', [target, '--dest-tls-verify=false'], { directory: place })
  const digests = await Promise.all(
    images.map(async ({ name }) =>
      (await skopeo(['inspect', '--tls-verify=false', '--format', '{{.Digest}}', `docker://${target}/${name}:${build.version}`])).trim(),
    ),
  )
  const same = images.filter(({ digest }, index) => digest === digests[index]).length
  const chart = path.join(place, `tintype-${build.version}.tgz`)
  const rendered = await helm(['template', 'tintype', chart, '--set', `image.registry=${target}`])
  const isInside = [...rendered.matchAll(/image: "?([^"\s]+)"?/g)].every(([, reference]) => reference!.startsWith(`${target}/`))
  await rm(place, { recursive: true, force: true })
  holds('the archive fills a registry with the same images', same === images.length, `${same} of ${images.length} digests equal`)
  holds('the chart of the archive names only images of that registry', isInside, target.replace(/:\d+/, ''))
}

/** Unpacks the plugin by its krew manifest, and runs it. */
async function checkPlugin({ holds }: Report, { directory, release: made }: World): Promise<void> {
  const { build } = made
  const manifest = await readFile(path.join(build.output, 'tintype.yaml'), 'utf8')
  const archive = /uri: \S+\/(\S+\.tar\.gz)/.exec(manifest)?.[1] ?? ''
  const isListed = manifest.includes(sha256(await readFile(path.join(build.output, archive))))
  const place = path.join(directory, 'plugin')
  await cp(path.join(build.output, archive), path.join(place, archive))
  await run('tar', ['--extract', '--file', archive], { directory: place })
  const version = (await run(process.execPath, ['tintype.mjs', '--version'], { directory: place })).trim()
  holds('the krew manifest names the archive, whose program runs', isListed && version.includes(build.version), version)
}
