/** Installs the chart, and the pages to capture. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { CommandError } from '../host/exec.ts'
import { choices, network, releaseName, releaseNamespace, repository, sitesNamespace } from '../host/state.ts'
import { StepError } from '../host/steps.ts'
import type { ImageTags } from '../images/main.ts'
import { imageReference } from '../images/plan.ts'
import { apply, helm, kubectl } from '../kubernetes/kubectl.ts'
import type { ClusterFacts } from '../kubernetes/prerequisites.ts'
import { ensureWebhookAuthority } from './webhook-authority.ts'

const chart = path.join(repository, 'charts/tintype')
const values = path.join(import.meta.dirname, 'values.yaml')
/** Helm setting of end-to-end tests. */
export const SHORT_RETRIES = 'webhooks.retryDelaysMilliseconds={1000,2000}'
const sites = path.join(repository, 'test/sites')

/** Images of the chart's programs by their names in the values. */
const programs = {
  operator: 'operator',
  gateway: 'api-gateway',
  runner: 'capture-runner',
  'runner.video': 'capture-runner-video',
  minio: 'minio',
  versitygw: 'versitygw',
}

/** Creates the namespaces, and deploys the servers of test pages with the image of this build. */
export async function ensureNamespaces(tags: ImageTags): Promise<string> {
  await apply([buildNamespace(releaseNamespace), buildNamespace(sitesNamespace)].join('---\n'))
  const manifests = (await readdir(sites)).filter((file) => file.endsWith('.yaml')).sort()
  for (const file of manifests) await apply(withImage(await readFile(path.join(sites, file), 'utf8'), 'sites', tags))
  return manifests.length > 0 ? `${releaseNamespace}, ${sitesNamespace} with its pages` : `${releaseNamespace}, ${sitesNamespace}`
}

/** Installs or upgrades the release unless exactly this chart with these values is deployed. */
export async function ensureRelease(tags: ImageTags, facts: Partial<ClusterFacts>): Promise<string> {
  const trust = `webhooks.extraCaConfigMap=${await ensureWebhookAuthority()}`
  const settings = [...hostSettings(facts), ...imageSettings(tags), trust]
  const digest = await digestRelease(settings)
  if ((await deployedDigest()) === digest) return 'unchanged'
  await clearInterrupted()
  const args = ['upgrade', '--install', releaseName, chart, '--namespace', releaseNamespace, '--values', values]
  const options = ['--description', digest, '--timeout', '120s', '--history-max', '3']
  try {
    await helm([...args, ...settings.flatMap((setting) => ['--set', setting]), ...options])
  } catch (cause) {
    const remedy = `see the output of helm above, and kubectl get pods,events -n ${releaseNamespace}`
    throw new StepError('the chart could not be installed', { remedy, cause })
  }
  return 'installed'
}

/** Values that depend on this machine or on the kind of cluster. */
function hostSettings({ internet }: Partial<ClusterFacts>): string[] {
  const settings = [`gateway.publicUrl=http://127.0.0.1:${network.hostGatewayPort}`]
  if (internet === 'through a proxy') settings.push(`runner.egress.upstreamProxy=${choices.upstreamProxy?.replaceAll(',', '\\,')}`)
  if (choices.shortRetries) settings.push(SHORT_RETRIES)
  if (choices.cluster === 'embedded') return settings
  return [
    ...settings,
    'image.pullPolicy=IfNotPresent',
    'gateway.service.type=ClusterIP',
    'gateway.service.nodePort=null',
    'sandbox.localhostProfile=',
  ]
}

/** An interrupted helm leaves a pending revision that blocks all later ones. After its removal helm continues from the revision before it. */
async function clearInterrupted(): Promise<void> {
  const pending = `owner=helm,name=${releaseName},status in (pending-install,pending-upgrade,pending-rollback)`
  await kubectl(['delete', 'secrets', '-n', releaseNamespace, '-l', pending])
}

/** `name=tag` settings for helm, one per program. */
export function imageSettings(tags: ImageTags): string[] {
  const registry = choices.registry === undefined ? [] : [`image.registry=${choices.registry}`]
  const own = Object.entries(programs).flatMap(([value, image]) => (tags.has(image) ? [`${value}.image.tag=${tags.get(image)}`] : []))
  return [...registry, ...own]
}

/** Replaces the `dev` tag of manifests with the tag of the build, because pods are replaced only when the image name changes. */
function withImage(manifest: string, name: string, tags: ImageTags): string {
  const tag = tags.get(name)
  if (tag === undefined) return manifest
  const reference = choices.registry === undefined ? imageReference(name, tag) : `${choices.registry}/${name}:${tag}`
  return manifest.replaceAll(imageReference(name, 'dev'), reference)
}

const buildNamespace = (name: string): string => `apiVersion: v1
kind: Namespace
metadata:
  name: ${name}
  labels: { pod-security.kubernetes.io/enforce: restricted, pod-security.kubernetes.io/warn: restricted }
`

async function digestRelease(settings: readonly string[]): Promise<string> {
  const files = (await readdir(chart, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const hash = createHash('sha256')
    .update(settings.join())
    .update(await readFile(values))
  for (const file of files.map((entry) => path.join(entry.parentPath, entry.name)).sort())
    hash.update(`\0${file}\0`).update(await readFile(file))
  return hash.digest('hex').slice(0, 12)
}

/** The digest of the newest revision, which is stored as the revision's description. */
async function deployedDigest(): Promise<string | undefined> {
  try {
    const status = JSON.parse(await helm(['status', releaseName, '--namespace', releaseNamespace, '--output', 'json'])) as {
      info: { status: string; description: string }
    }
    return status.info.status === 'deployed' ? status.info.description : undefined
  } catch (error) {
    if (error instanceof CommandError) return undefined // there is no release yet
    throw error
  }
}
