/** A namespace that is deleted with its contents, and checks that the restore from the backup of docs/operations.md is complete. */

import { createHmac } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { run } from '../../../cluster/host/exec.ts'
import { paths } from '../../../cluster/host/state.ts'
import { apply, kubectl } from '../../../cluster/kubernetes/kubectl.ts'
import { ensureWebhookAuthority } from '../../../cluster/release/webhook-authority.ts'
import { type ClusterReceiver, startClusterReceiver } from '../../../support/cluster/receiver.ts'
import { eventually } from '../../../support/eventually.ts'
import type { Ends } from '../../../support/processes/own-plane.ts'
import type { ListedRequest } from '../../../support/servers/receiver-program.ts'
import { QUADRANTS } from '../../cluster/stage/cluster-objects.ts'
import type { Report } from '../../harness/scenario.ts'
import { freeVolumes, NAMESPACE, RELEASE, readSecret, type Trial, withGateway } from './trial-release.ts'

const CLAIM = `${RELEASE}-minio`
const BY_HAND = 'by-hand'
const EVENTS = ['screenshot.completed']
const SECOND_ACCOUNT = { name: 'second', plan: 'basic' }

interface KubeItem {
  kind: string
  metadata: { name: string; labels?: Record<string, string> }
  spec?: Record<string, unknown>
  status?: { used?: number; period?: string; statistics?: { total?: number } }
}

const readItems = async (kinds: string): Promise<KubeItem[]> =>
  JSON.parse(await kubectl(['get', kinds, '-n', NAMESPACE, '-o', 'json'])).items as KubeItem[]

/** Values that let the release post to receivers of the tests. */
export async function trustReceivers(): Promise<string[]> {
  const name = await ensureWebhookAuthority(NAMESPACE)
  return ['--set', `webhooks.extraCaConfigMap=${name}`, '--set-json', 'webhooks.allowedHosts=["*.sites.svc.cluster.local"]']
}

/** An endpoint that outlives the namespace. */
export const openReceiver = (ends: Ends): Promise<ClusterReceiver> => startClusterReceiver(ends)

const specsOf = (items: readonly KubeItem[]): Map<string, string> =>
  new Map(items.map(({ kind, metadata: { name, labels }, spec }) => [`${kind}/${name}`, JSON.stringify([spec, labels])]))

const KINDS = 'accounts,apikeys,webhooks,runnerpools'
const usedBy = async (): Promise<number> =>
  (await readItems('accountusages')).find(({ metadata }) => metadata.name === 'default')?.status?.used ?? Number.NaN

const readRecords = (ids: readonly string[]): Promise<Map<string, string>> =>
  withGateway(async ({ ask }) => {
    const read = async (id: string): Promise<[string, string]> => {
      const { download_url: _, ...record } = (await ask(`/screenshots/${id}`)).body
      return [id, JSON.stringify(record)]
    }
    return new Map(await Promise.all(ids.map(read)))
  })

/** Creates an object by REST. @throws when it is not created */
const createByRest = <T>(path: string, wanted: number, content: object): Promise<T> =>
  withGateway(async ({ ask }) => {
    const { status, body } = await ask<T>(path, content)
    if (status !== wanted) throw new Error(`POST ${path}: ${status} ${JSON.stringify(body)}`)
    return body
  })

/** Creates a second account and two webhooks, one with kubectl and one over REST, and causes an event for both. */
export async function fillRelease(trial: Trial, receiver: ClusterReceiver, ids: string[]) {
  const object = (kind: string, name: string, spec: object) =>
    JSON.stringify({ apiVersion: 'tintype.dev/v1alpha1', kind, metadata: { name, namespace: NAMESPACE }, spec })
  await apply(object('Account', SECOND_ACCOUNT.name, { plan: SECOND_ACCOUNT.plan }))
  await apply(object('Webhook', BY_HAND, { url: `${receiver.url}/by-hand`, events: EVENTS }))
  await kubectl(['wait', '--for=condition=Ready', `webhook/${BY_HAND}`, '-n', NAMESPACE, '--timeout=120s'])
  const hook = { name: 'by rest', url: `${receiver.url}/by-rest`, events: EVENTS }
  const byRest = await createByRest<{ data: { signing_secret: string } }>('/webhooks', 201, hook)
  /** Signing secrets by path. */
  const secrets = new Map([
    ['/by-hand', await readSecret(`${BY_HAND}-signing-secret`, 'signing-secret')],
    ['/by-rest', byRest.data.signing_secret],
  ])
  const { metadata } = await trial.create()
  await trial.whenAllFinished([metadata.name])
  await whenPosted(receiver, 1, [...secrets.keys()])
  return { objects: specsOf(await readItems(KINDS)), used: await usedBy(), records: await readRecords(ids), secrets }
}

async function whenPosted(receiver: ClusterReceiver, count: number, pathsOfHooks: readonly string[]): Promise<ListedRequest[]> {
  return eventually('the events are posted', async () => {
    const requests = await receiver.received()
    return pathsOfHooks.every((path) => requests.filter((request) => request.path === path).length >= count) && requests
  })
}

/** The copy keeps file owners, because the store runs as its own user. */
const copyAll = (from: string, to: string): Promise<string> => run('cp', ['-a', `${from}/.`, to])

/** Takes a snapshot of the volume of the store. */
export async function saveVolume() {
  const claim = JSON.parse(await kubectl(['get', 'pvc', CLAIM, '-n', NAMESPACE, '-o', 'json'])) as KubeItem
  const volume = String(claim.spec?.volumeName)
  const directory = await mkdtemp(path.join(tmpdir(), 'tintype-volume-'))
  await copyAll(path.join(paths.volumes, volume), directory)
  return { directory, volume, claim }
}

/** Deletes the namespace and the contents of its volume. */
export async function loseNamespace(): Promise<void> {
  await kubectl(['delete', 'namespace', NAMESPACE, '--timeout=300s'])
  await freeVolumes()
}

/** Creates a claim with the saved volume. */
export async function restoreVolume({ directory, volume, claim }: Awaited<ReturnType<typeof saveVolume>>): Promise<void> {
  await copyAll(directory, path.join(paths.volumes, volume))
  await rm(directory, { recursive: true, force: true })
  const metadata = { name: CLAIM, namespace: NAMESPACE }
  await apply(JSON.stringify({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec: claim.spec }))
}

/** Checks the restored release against the state before the loss. @param waiting Screenshots that were unfinished */
export async function compareRelease(
  { holds }: Report,
  before: Awaited<ReturnType<typeof fillRelease>>,
  receiver: ClusterReceiver,
  waiting: number,
): Promise<void> {
  const after = specsOf(await readItems(KINDS))
  const lost = [...before.objects].filter(([name, spec]) => after.get(name) !== spec).map(([name]) => name)
  const { plan } = (await readItems('accounts')).find(({ metadata }) => metadata.name === SECOND_ACCOUNT.name)?.spec ?? {}
  const areSame = lost.length === 0 && plan === SECOND_ACCOUNT.plan
  holds('accounts, plans, keys, webhooks and pools are as before', areSame, lost.join(' ') || `${after.size} objects`)
  const used = await usedBy()
  const continues = used >= before.used && used <= before.used + 2 * waiting
  holds('the count of the month continues', continues, `${before.used} before, ${used} after, ${waiting} were under way`)
  const records = await readRecords([...before.records.keys()])
  const changed = [...before.records].filter(([id, record]) => records.get(id) !== record).map(([id]) => id)
  holds('archived records are served as before', changed.length === 0, changed.join(' ') || `${records.size} records`)
  const seen = (await receiver.received()).length
  const { id } = await createByRest<{ id: string }>('/screenshots', 202, { url: QUADRANTS })
  const requests = await whenEventOf(receiver, id, [...before.secrets.keys()], seen)
  const unsigned = requests.filter((request) => !isSigned(request, before.secrets.get(request.path) ?? ''))
  const claim = 'the first key works, and webhooks by kubectl and by REST sign with their old secrets'
  holds(claim, unsigned.length === 0, `${requests.length} posts checked`)
}

const whenEventOf = (receiver: ClusterReceiver, id: string, pathsOfHooks: readonly string[], seen: number): Promise<ListedRequest[]> =>
  eventually('both webhooks have the event', async () => {
    const requests = (await receiver.received()).slice(seen)
    const ofIt = requests.filter(({ body }) => JSON.parse(Buffer.from(body, 'base64').toString()).data.screenshot.id === id)
    return pathsOfHooks.every((path) => ofIt.some((request) => request.path === path)) && requests
  })

/** Whether the signature of a post is of this secret. */
export const isSigned = ({ body, headers }: ListedRequest, secret: string): boolean =>
  createHmac('sha256', secret).update(Buffer.from(body, 'base64')).digest('hex') === headers['x-webhook-signature']
