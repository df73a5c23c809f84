/** Separate releases on the running cluster, each in its own namespace, with helpers to run Helm and to send requests. */

import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { accessFromKubeconfig } from '../../../../crds/client/cluster-access.ts'
import { namespaces, runnerPools, screenshots } from '../../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../../crds/client/kube-http.ts'
import { Resource } from '../../../../crds/client/resource.ts'
import { isFinished, type Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import type { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import { findCondition } from '../../../../crds/src/schema/conditions.ts'
import { findFreePorts } from '../../../cluster/host/ports.ts'
import { paths } from '../../../cluster/host/state.ts'
import { helm, kubectl } from '../../../cluster/kubernetes/kubectl.ts'
import { locatePrograms } from '../../../cluster/programs/programs.ts'
import { eventually } from '../../../support/eventually.ts'
import type { Ends } from '../../../support/processes/own-plane.ts'
import { QUADRANTS } from '../../cluster/stage/cluster-objects.ts'

export const RELEASE = 'trial'
export const NAMESPACE = 'tintype-trial'

/** Name of a release and its namespace. */
interface TrialPlace {
  release: string
  namespace: string
}

/** The release of scenarios that need only one. */
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
/** Kinds in a namespace whose objects an uninstallation may leave. */
const LOCAL_KINDS =
  `pods,services,deployments,statefulsets,jobs,configmaps,secrets,persistentvolumeclaims,serviceaccounts,roles,rolebindings,
  networkpolicies,poddisruptionbudgets,runnerpools,leases,accounts,apikeys,accountusages`.replaceAll(/\s/g, '')
/** Kinds whose objects get finalizers, which would keep the namespace. */
export const HELD_KINDS = 'accounts,apikeys,webhooks,screenshotschedules'
const GENEROUS_MILLISECONDS = 300_000
/** Timeout for two runners on a busy machine to finish all Screenshots that were created while Helm was slow. */
const LONG_MILLISECONDS = 1_200_000

/** Runs helm on the release. */
export const helmOn = (...args: string[]): Promise<string> => helm([...args, '--namespace', NAMESPACE])

/**
 * Clears the namespace for a release, at the end too, and opens a client with the rights of the cluster's administrator.
 */
export async function openTrial(ends: Ends, { release, namespace } = TRIAL) {
  const http = new KubeHttp({ ...(await accessFromKubeconfig(paths.kubeconfig)), namespace })
  const shots = new Resource(http, screenshots)
  const create = (options: CaptureOptions = {}) =>
    shots.create({ metadata: { name: `trial-${randomUUID()}` }, spec: { url: QUADRANTS, options } })
  const clear = async () => {
    await removeFinalizers(namespace)
    await helm(['uninstall', release, '--namespace', namespace, '--ignore-not-found', '--wait'])
    await kubectl(['delete', 'namespace', namespace, '--ignore-not-found', '--timeout=120s'])
    await freeVolumes(namespace)
  }
  const makeNamespace = () =>
    new Resource(http, namespaces).create({
      metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    })
  const isReady = async () => {
    const { status } = await new Resource(http, runnerPools).get('default')
    return findCondition(status?.conditions, 'Ready')?.status === 'True'
  }
  const whenReady = () => eventually('the pool is ready', isReady, GENEROUS_MILLISECONDS)
  ends.teardown(() => http.close())
  ends.teardown(clear)
  await clear()
  return {
    release,
    namespace,
    http,
    shots,
    create,
    makeNamespace,
    whenReady,
    whenAllFinished: (names: readonly string[]) => whenAllFinished(shots, names),
  }
}

export type Trial = Awaited<ReturnType<typeof openTrial>>

/** Waits until the Screenshots with these names have finished, and returns them. */
export const whenAllFinished = (shots: Resource<Screenshot>, names: readonly string[]): Promise<Screenshot[]> =>
  eventually(
    'all Screenshots have finished',
    async () => {
      const byName = new Map((await shots.listAll()).map((shot) => [shot.metadata.name, shot]))
      const all = names.flatMap((name) => byName.get(name) ?? [])
      return all.length === names.length && all.every(isFinished) && all
    },
    LONG_MILLISECONDS,
  )

/** Removes the finalizers of all objects of {@link HELD_KINDS}. */
export async function removeFinalizers(namespace: string): Promise<void> {
  for (const name of (await kubectl(['get', HELD_KINDS, '-n', namespace, '-o', 'name'])).split('\n').filter(Boolean))
    await kubectl(['patch', name, '-n', namespace, '--type=merge', '-p', '{"metadata":{"finalizers":null}}'])
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

/** A field of a Secret in a namespace. */
export async function readSecret(name: string, field: string, namespace = NAMESPACE): Promise<string> {
  const text = await kubectl(['get', 'secret', name, '-n', namespace, '-o', `jsonpath={.data.${field}}`])
  return Buffer.from(text, 'base64').toString()
}

/** The text of the first API key of a release. */
export const readFirstKey = ({ release, namespace }: TrialPlace = TRIAL): Promise<string> =>
  readSecret(`${release}-initial-api-key`, 'api-key', namespace)

/** Sends requests to the API of a release with one key. */
interface ApiClient {
  /** Requests a path of the API, by POST if there is a body. */
  ask: <T = Record<string, unknown>>(path: string, body?: object) => Promise<{ status: number; body: T }>
  /** The file of a link; undefined if it cannot be downloaded. */
  download: (link: string) => Promise<Buffer | undefined>
}

export const clientOf = (base: string, key: string): ApiClient => ({
  ask: async <T>(path: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(`${base}/api/v1${path}`, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
    return { status: response.status, body: (await response.json()) as T }
  },
  download: async (link) => {
    // Links are absolute if the request's host is known, and the next port forward has another port.
    const { pathname, search } = new URL(link, base)
    const response = await fetch(new URL(pathname + search, base))
    return response.ok ? Buffer.from(await response.arrayBuffer()) : undefined
  },
})

export const isPng = (bytes?: Buffer): boolean => bytes?.subarray(1, 4).toString() === 'PNG'

/** Calls `act` with clients of the release's gateway. @param key default: the first key of the release */
export async function withGateway<T>(act: (client: ApiClient) => Promise<T>, key?: string): Promise<T> {
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
    return await act(clientOf(base, key ?? (await readFirstKey())))
  } finally {
    forward.kill()
  }
}

/** Stores the first API key and the links of these pictures. */
export async function noteLinks(ids: readonly string[]) {
  const key = await readFirstKey()
  return withGateway(async ({ ask }) => {
    const links = new Map<string, string>()
    for (const id of ids) links.set(id, (await ask<{ download_url: string }>(`/screenshots/${id}`)).body.download_url)
    return { key, links }
  }, key)
}

/** Uses the stored key and links. Resolves to the ids of records or links that no longer work. */
export const findBroken = ({ key, links }: Awaited<ReturnType<typeof noteLinks>>): Promise<string[]> =>
  withGateway(async ({ ask, download }) => {
    const broken: string[] = []
    for (const [id, link] of links) {
      const [{ status }, file] = [await ask(`/screenshots/${id}`), await download(link)]
      if (status !== 200 || !isPng(file)) broken.push(`${id} (record ${status}, ${file?.length ?? 'no'} bytes)`)
    }
    return broken
  }, key)

/** Downloads pictures through the gateway of the release. Resolves to the ids of failed downloads. */
export const findMissingPictures = (ids: readonly string[]): Promise<string[]> =>
  withGateway(async ({ ask, download }) => {
    const missing: string[] = []
    for (const id of ids) {
      const { download_url: link } = (await ask<{ download_url?: string }>(`/screenshots/${id}`)).body
      if (link === undefined || !isPng(await download(link))) missing.push(id)
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
  const local = await kubectl(['get', LOCAL_KINDS, '-n', NAMESPACE, '-o', 'name'])
  const wide = await kubectl(['get', CLUSTER_KINDS.join(), '-o', 'name'])
  const isOurs = (line: string) => line.includes(`${NAMESPACE}-${RELEASE}`)
  // Kubernetes creates these objects in each namespace.
  const isEverywhere = (line: string) => /^(configmap\/kube-root-ca\.crt|serviceaccount\/default)$/.test(line)
  return [...local.split('\n').filter((line) => line !== '' && !isEverywhere(line)), ...wide.split('\n').filter(isOurs)].sort()
}
