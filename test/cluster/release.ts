/** Installs the chart and the pages to capture, and waits until all runs, telling what is missing. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { CommandError } from './exec.ts'
import type { ClusterFacts } from './ground.ts'
import { imageReference } from './image-plan.ts'
import type { ImageTags } from './images.ts'
import { apply, helm, kubectl } from './kubectl.ts'
import { ctr } from './node.ts'
import { findTrouble, type PodList, staleOf } from './pod-trouble.ts'
import { choices, network, releaseName, releaseNamespace, repository, sitesNamespace } from './state.ts'
import { type Report, StepError } from './steps.ts'
import { waitFor } from './wait.ts'

const chart = path.join(repository, 'charts/tintype')
const values = path.join(import.meta.dirname, 'values.yaml')
const sites = path.join(repository, 'test/sites')
const rolloutMilliseconds = 240_000

/** Programs of the chart, as their values and their images are called. */
const programs = { operator: 'operator', gateway: 'api-gateway', runner: 'capture-runner', minio: 'minio' }

/** Makes the namespaces and applies the pages to capture, with the image of this build. */
export async function ensureNamespaces(tags: ImageTags): Promise<string> {
  await apply([buildNamespace(releaseNamespace), buildNamespace(sitesNamespace)].join('---\n'))
  const manifests = (await readdir(sites)).filter((file) => file.endsWith('.yaml')).sort()
  for (const file of manifests) await apply(withImage(await readFile(path.join(sites, file), 'utf8'), 'sites', tags))
  return manifests.length > 0 ? `${releaseNamespace}, ${sitesNamespace} with its pages` : `${releaseNamespace}, ${sitesNamespace}`
}

/** Installs or upgrades the release unless just this chart with these values is deployed. */
export async function ensureRelease(tags: ImageTags, facts: Partial<ClusterFacts>): Promise<string> {
  const settings = [...hostSettings(facts), ...imageSettings(tags)]
  const digest = await digestRelease(settings)
  if ((await deployedDigest()) === digest) return 'unchanged'
  await clearInterrupted()
  const args = ['upgrade', '--install', releaseName, chart, '--namespace', releaseNamespace, '--values', values]
  try {
    await helm([
      ...args,
      ...settings.flatMap((setting) => ['--set', setting]),
      '--description',
      digest,
      '--timeout',
      '120s',
      '--history-max',
      '3',
    ])
  } catch (cause) {
    const remedy = `helm's words are above; kubectl get pods,events -n ${releaseNamespace} may tell more`
    throw new StepError('the chart could not be installed', { remedy, cause })
  }
  return 'installed'
}

/** Waits until every Deployment and StatefulSet has its pods, and the pool an idle runner. */
export async function awaitRollout(report: Report): Promise<string> {
  let missing: string[] = []
  try {
    await waitFor(
      'rollout',
      async () => {
        missing = await findMissing()
        report(`waiting for ${missing.join(', ')}`)
        return missing.length === 0
      },
      { timeoutMilliseconds: rolloutMilliseconds, intervalMilliseconds: 500, givenUp: findFinalTrouble },
    )
  } catch (cause) {
    const trouble = (await findFinalTrouble()) ?? `still missing: ${missing.join(', ')}`
    throw new StepError(trouble, {
      remedy: `kubectl describe pods -n ${releaseNamespace}; kubectl logs -n ${releaseNamespace} <pod>`,
      cause,
    })
  }
  return 'all ready'
}

/** What of the values depends on this machine, or on the cluster being another one than values.yaml is made for. */
function hostSettings({ internet }: Partial<ClusterFacts>): string[] {
  const settings = [`gateway.publicUrl=http://127.0.0.1:${network.hostGatewayPort}`]
  if (internet === 'through a proxy') settings.push(`runner.egress.upstreamProxy=${choices.upstreamProxy}`)
  if (choices.cluster === 'embedded') return settings
  return [
    ...settings,
    'image.pullPolicy=IfNotPresent',
    'gateway.service.type=ClusterIP',
    'gateway.service.nodePort=null',
    'sandbox.localhostProfile=',
  ]
}

/** A helm that was interrupted leaves a revision that is pending for ever and forbids the next; without it, helm goes on from the one before. */
async function clearInterrupted(): Promise<void> {
  const pending = `owner=helm,name=${releaseName},status in (pending-install,pending-upgrade,pending-rollback)`
  await kubectl(['delete', 'secrets', '-n', releaseNamespace, '-l', pending])
}

/** `name=tag` settings for helm, one a program. */
export function imageSettings(tags: ImageTags): string[] {
  const registry = choices.registry === undefined ? [] : [`image.registry=${choices.registry}`]
  const own = Object.entries(programs).flatMap(([value, image]) => (tags.has(image) ? [`${value}.image.tag=${tags.get(image)}`] : []))
  return [...registry, ...own]
}

/** Manifests name an image by its `dev` tag; a pod is replaced only when the name changes. */
export function withImage(manifest: string, name: string, tags: ImageTags): string {
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

/** The digest that the newest revision was installed with; helm keeps it as the revision's description. */
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

interface Workload {
  kind: string
  metadata: { name: string; namespace: string; generation: number }
  spec: { replicas?: number }
  status: { observedGeneration?: number; readyReplicas?: number; updatedReplicas?: number; replicas?: number }
}

/** `operator 1/2` for each workload that is not all there yet. */
export function missingOf(workloads: readonly Workload[]): string[] {
  return workloads.flatMap(({ metadata, spec, status }) => {
    const wanted = spec.replicas ?? 1
    const ready = Math.min(status.readyReplicas ?? 0, status.updatedReplicas ?? 0)
    const isCurrent = (status.observedGeneration ?? 0) >= metadata.generation && (status.replicas ?? 0) <= wanted
    return isCurrent && ready >= wanted ? [] : [`${metadata.name} ${ready}/${wanted}`]
  })
}

async function findMissing(): Promise<string[]> {
  const found = await Promise.all(
    [releaseNamespace, sitesNamespace].map((namespace) => kubectl(['get', 'deployments,statefulsets', '-n', namespace, '-o', 'json'])),
  )
  const missing = missingOf(found.flatMap((text) => (JSON.parse(text) as { items: Workload[] }).items))
  if (missing.length > 0) return missing
  const stale = await findStale()
  if (stale.length > 0) return stale
  const pools = JSON.parse(await kubectl(['get', 'runnerpools', '-n', releaseNamespace, '-o', 'json'])) as {
    items: { metadata: { name: string }; status?: { idle?: number; busy?: number } }[]
  }
  return pools.items.flatMap(({ metadata, status }) =>
    (status?.idle ?? 0) + (status?.busy ?? 0) > 0 ? [] : [`a warm runner of pool ${metadata.name}`],
  )
}

/** After a restart of the node the API server tells for a moment of containers that are gone. */
async function findStale(): Promise<string[]> {
  if (choices.cluster === 'current') return []
  const running = new Set((await ctr(['tasks', 'list', '-q'])).split('\n'))
  const lists = await Promise.all(
    [releaseNamespace, sitesNamespace].map((namespace) =>
      kubectl(['get', 'pods', '-n', namespace, '--field-selector=status.phase=Running', '-o', 'json']),
    ),
  )
  return lists.flatMap((text) => staleOf(JSON.parse(text) as PodList, running))
}

/** A pod whose trouble no waiting mends, such as an image that is not there. */
async function findFinalTrouble(): Promise<string | undefined> {
  const pods = JSON.parse(await kubectl(['get', 'pods', '-n', releaseNamespace, '-o', 'json'])) as PodList
  return findTrouble(pods)
}
