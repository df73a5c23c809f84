/** Separate releases on the running cluster, each in its own namespace, with helpers to run Helm and to send requests. */

import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { accessFromKubeconfig } from '../../../crds/client/cluster-access.ts'
import { namespaces } from '../../../crds/client/core-resources.ts'
import { runnerPools, screenshots } from '../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { isFinished, type Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import type { CaptureOptions } from '../../../crds/src/options/catalog.ts'
import { undoing } from '../../bench/report/undo.ts'
import { findFreePorts } from '../../cluster/host/ports.ts'
import { paths } from '../../cluster/host/state.ts'
import { helm, kubectl } from '../../cluster/kubernetes/kubectl.ts'
import { locatePrograms } from '../../cluster/programs/programs.ts'
import { eventually } from '../../support/eventually.ts'
import { QUADRANTS } from './cluster-objects.ts'

export const RELEASE = 'trial'
export const NAMESPACE = 'tintype-trial'

/** Name of a release and its namespace. */
export interface TrialPlace {
  release: string
  namespace: string
}

/** The release of parts that need only one. */
const TRIAL: TrialPlace = { release: RELEASE, namespace: NAMESPACE }
/** Kinds of the objects outside of namespaces that `helm uninstall` removes. */
export const CLUSTER_KINDS = [
  'clusterroles',
  'clusterrolebindings',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'flowschemas',
  'prioritylevelconfigurations',
]
/** Kinds whose objects get finalizers, which would keep the namespace. */
export const HELD_KINDS = 'accounts,apikeys,webhooks,screenshotschedules'
const GENEROUS_MILLISECONDS = 300_000
/** Timeout for two runners on a busy machine to finish all Screenshots that were created while Helm was slow. */
const LONG_MILLISECONDS = 1_200_000

/** Runs helm on the release. */
export const helmOn = (...args: string[]): Promise<string> => helm([...args, '--namespace', NAMESPACE])

/** API client with the rights of the cluster's administrator, in the release's namespace. */
async function openTrial({ release, namespace }: TrialPlace) {
  const http = new KubeHttp({ ...(await accessFromKubeconfig(paths.kubeconfig)), namespace })
  const all = new Resource(http, namespaces)
  const shots = new Resource(http, screenshots)
  const create = (options: CaptureOptions = {}) =>
    shots.create({ metadata: { name: `trial-${randomUUID()}` }, spec: { url: QUADRANTS, options } })

  const clear = async () => {
    await removeFinalizers(namespace)
    await helm(['uninstall', release, '--namespace', namespace, '--ignore-not-found', '--wait'])
    await kubectl(['delete', 'namespace', namespace, '--ignore-not-found', '--timeout=120s'])
    await freeVolumes(namespace)
  }
  const makeNamespace = () => all.create({ metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } })
  const whenReady = () =>
    eventually(
      'the pool is ready',
      async () =>
        (await new Resource(http, runnerPools).get('default')).status?.conditions?.some(
          ({ type, status }) => type === 'Ready' && status === 'True',
        ),
      GENEROUS_MILLISECONDS,
    )
  const whenAllFinished = (names: readonly string[]) =>
    eventually(
      'all Screenshots have finished',
      async () => {
        const byName = new Map((await shots.listAll()).map((shot) => [shot.metadata.name, shot]))
        return names.every((name) => isFinished(byName.get(name) ?? ({ status: {} } as Screenshot)))
      },
      LONG_MILLISECONDS,
    )
  return { release, namespace, http, shots, create, clear, makeNamespace, whenReady, whenAllFinished, close: () => http.close() }
}

export type Trial = Awaited<ReturnType<typeof openTrial>>

/** Removes the finalizers of all objects of {@link HELD_KINDS}. */
export async function removeFinalizers(namespace: string): Promise<void> {
  for (const name of (await kubectl(['get', HELD_KINDS, '-n', namespace, '-o', 'name'])).split('\n').filter(Boolean))
    await kubectl(['patch', name, '-n', namespace, '--type=merge', '-p', '{"metadata":{"finalizers":null}}'])
}

/** Calls `act` with an empty namespace for a release, and cleans up afterwards, also after an interruption. */
export async function withTrial<T>(act: (trial: Trial) => Promise<T>, place = TRIAL): Promise<T> {
  const trial = await openTrial(place)
  const undo = async () => {
    await trial.clear()
    await trial.close()
  }
  return undoing(undo, async () => {
    await trial.clear()
    return act(trial)
  })
}

/** Creates Screenshots at a steady rate during all changes of the release. */
export function startLoad(trial: Pick<Trial, 'create'>, everyMilliseconds: number) {
  const names: string[] = []
  const refusals: string[] = []
  const pending = new Set<Promise<void>>()
  const timer = setInterval(() => {
    const one = trial.create().then(
      ({ metadata }) => void names.push(metadata.name),
      (error: unknown) => void refusals.push(String(error)),
    )
    pending.add(one)
    void one.finally(() => pending.delete(one))
  }, everyMilliseconds)
  const stop = async () => {
    clearInterval(timer)
    await Promise.all(pending)
  }
  return { names, refusals, stop }
}

/** The text of the first API key of a release. */
export async function readFirstKey({ release, namespace }: TrialPlace = TRIAL): Promise<string> {
  const secret = await kubectl(['get', 'secret', `${release}-initial-api-key`, '-n', namespace, '-o', 'jsonpath={.data.api-key}'])
  return Buffer.from(secret, 'base64').toString()
}

/** Calls `act` with the URL of the release's gateway and headers with its first key. */
export async function withGateway<T>(act: (base: string, headers: Record<string, string>) => Promise<T>): Promise<T> {
  const [port = 0] = await findFreePorts(1)
  const { kubernetes } = await locatePrograms()
  const args = ['port-forward', '-n', NAMESPACE, `service/${RELEASE}-api-gateway`, `${port}:8080`]
  const env = { ...process.env, KUBECONFIG: paths.kubeconfig }
  const start = () => spawn(path.join(kubernetes, 'kubectl'), args, { env, stdio: 'ignore' })
  let forward = start()
  try {
    const base = `http://127.0.0.1:${port}`
    await eventually('the gateway responds', async () => {
      // kubectl ends with the pod that it chose.
      if (forward.exitCode !== null) forward = start()
      return (await fetch(`${base}/api/v1/status`)).ok
    })
    return await act(base, { authorization: `Bearer ${await readFirstKey()}` })
  } finally {
    forward.kill()
  }
}

/** State that a client of the release stored: its API key, and links to pictures. */
export interface Noted {
  headers: Record<string, string>
  /** Links by id. */
  links: Map<string, string>
}

/** Stores the first API key and the links of these pictures. */
export const noteLinks = (ids: readonly string[]): Promise<Noted> =>
  withGateway(async (base, headers) => {
    const links = new Map<string, string>()
    for (const id of ids) {
      const { download_url: link } = (await (await fetch(`${base}/api/v1/screenshots/${id}`, { headers })).json()) as {
        download_url: string
      }
      // Links are absolute if the request's host is known, and the next port forward has another port.
      const { pathname, search } = new URL(link, base)
      links.set(id, pathname + search)
    }
    return { headers, links }
  })

/** Uses the stored key and links. Resolves to the ids of records or links that no longer work. */
export const findBroken = ({ headers, links }: Noted): Promise<string[]> =>
  withGateway(async (base) => {
    const broken: string[] = []
    for (const [id, link] of links) {
      const [record, file] = [await fetch(`${base}/api/v1/screenshots/${id}`, { headers }), await fetch(new URL(link, base))]
      const isPicture =
        file.ok &&
        Buffer.from(await file.arrayBuffer())
          .subarray(1, 4)
          .toString() === 'PNG'
      if (!record.ok || !isPicture) broken.push(`${id} (record ${record.status}, link ${file.status})`)
    }
    return broken
  })

/** Downloads pictures through the gateway of the release. Resolves to the ids of failed downloads. */
export const findMissingPictures = (ids: readonly string[]): Promise<string[]> =>
  withGateway(async (base, headers) => {
    const missing: string[] = []
    for (const id of ids) {
      const record = (await (await fetch(`${base}/api/v1/screenshots/${id}`, { headers })).json()) as { download_url?: string }
      const file = record.download_url === undefined ? undefined : await fetch(new URL(record.download_url, base))
      const bytes = file?.ok ? Buffer.from(await file.arrayBuffer()) : Buffer.alloc(0)
      if (bytes.subarray(1, 4).toString() !== 'PNG') missing.push(id)
    }
    return missing
  })

/** Empties the volumes of uninstalled releases. Otherwise the next release would find data that its passwords do not open. */
export async function freeVolumes(namespace = NAMESPACE): Promise<void> {
  const query = `{range .items[?(@.spec.claimRef.namespace=="${namespace}")]}{.metadata.name} {end}`
  const volumes = (await kubectl(['get', 'persistentvolumes', '-o', `jsonpath=${query}`])).split(' ').filter(Boolean)
  for (const volume of volumes) {
    const directory = path.join(paths.volumes, volume)
    for (const entry of await readdir(directory)) await rm(path.join(directory, entry), { recursive: true, force: true })
    await kubectl(['patch', 'persistentvolume', volume, '--type=merge', '-p', '{"spec":{"claimRef":null}}'])
  }
}

/** Objects that remain of an uninstalled release in the namespace and the cluster, as `Kind/name`. */
export async function findLeftovers(): Promise<string[]> {
  const kinds = [
    'pods',
    'services',
    'deployments',
    'statefulsets',
    'jobs',
    'configmaps',
    'secrets',
    'persistentvolumeclaims',
    'serviceaccounts',
  ]
  const more = [
    'roles',
    'rolebindings',
    'networkpolicies',
    'poddisruptionbudgets',
    'runnerpools',
    'leases',
    'accounts',
    'apikeys',
    'accountusages',
  ]
  const local = await kubectl(['get', [...kinds, ...more].join(), '-n', NAMESPACE, '-o', 'name'])
  const wide = await kubectl(['get', CLUSTER_KINDS.join(), '-o', 'name'])
  const isOurs = (line: string) => line.includes(`${NAMESPACE}-${RELEASE}`)
  // Kubernetes creates these objects in each namespace.
  const isEverywhere = (line: string) => /^(configmap\/kube-root-ca\.crt|serviceaccount\/default)$/.test(line)
  return [...local.split('\n').filter((line) => line !== '' && !isEverywhere(line)), ...wide.split('\n').filter(isOurs)].sort()
}
