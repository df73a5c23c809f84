// Setup of the retention tests: a real API server, a real store, a gateway and operators as processes. Records can have any age, because an
// id contains its time.

import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { webhooks } from '../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { mergePatch, Resource } from '../../../crds/client/resource.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { toId, toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { Screenshot, ScreenshotSpec, ScreenshotStatus } from '../../../crds/src/kinds/screenshot.ts'
import type { Webhook } from '../../../crds/src/kinds/webhook.ts'
import { parseArchivedLine } from '../../../crds/src/records/archive.ts'
import { objectKey, recordKey } from '../../../crds/src/records/storage-keys.ts'
import { mapConcurrently } from '../../../crds/src/runtime/lists.ts'
import type { Whole } from '../../../crds/src/schema/custom-resource.ts'
import { eventually } from '../../support/eventually.ts'
import { aScreenshot, buildSegments, completedStatus } from '../../support/fakes/builders.ts'
import { accessPlane } from '../../support/processes/plane-access.ts'
import { type ApiResponse, call } from '../api-gateway/client.ts'
import { startWorld } from '../api-gateway/world.ts'
import { killLeader, type Program, shortLease, startProgram } from '../operator/program.ts'

const PARALLEL = 20
export const ACCOUNT = 'acme'
export const PICTURE = Buffer.from('the bytes of a picture')

/** Minutes, hours or days ago. */
export const ago = (milliseconds: number): Date => new Date(Date.now() - milliseconds)
export const DAY = 86_400_000

export interface NewRecord {
  account?: string
  createdAt?: Date
  spec?: Partial<ScreenshotSpec>
  status?: Partial<ScreenshotStatus>
  /** False: no file is stored. */
  hasFile?: boolean
}

export async function startStage(t: Test, gatewayEnv: Record<string, string> = {}) {
  const world = await startWorld()
  const http = new KubeHttp(await accessPlane(world.plane.kubeconfigPath))
  t.teardown(async () => {
    await http.close()
    await world.stop()
  })
  await world.createAccount('other')
  /** The account of records and requests. */
  let current = ''
  const keys = new Map<string, string>()
  /** From now on, records and requests are those of this account. An operator that runs would create the usage of a new one first. */
  async function switchAccount(name: string): Promise<void> {
    if (!keys.has(name)) {
      await world.createAccount(name)
      keys.set(name, await world.createKey({ accountName: name }))
    }
    current = name
  }
  const keyOf = () => keys.get(current) ?? ''
  await switchAccount(ACCOUNT)
  const gateway = await world.startGateway(gatewayEnv)
  let operators = 0

  /** Starts an operator that leads within seconds. By default, records are archived a second after their end. */
  const startOperator = (env: Record<string, string> = {}) =>
    startProgram(
      t,
      {
        TINTYPE_NAMESPACE: world.plane.namespace,
        TINTYPE_POD_NAME: `operator-${++operators}`,
        TINTYPE_POD_UID: `uid-of-operator-${operators}`,
        TINTYPE_LOG_LEVEL: 'info',
        TINTYPE_BOOTSTRAP_ENABLED: 'false',
        ...world.operatorStorage,
        ...shortLease,
        TINTYPE_RETENTION_LIVE_MINIMUM_SECONDS: '0',
        TINTYPE_RETENTION_LIVE_FOR_SECONDS: '1',
        ...env,
      },
      world.operatorAccount,
    )

  /** Creates a Screenshot as it is at the end of its capture. Returns its id. */
  async function addRecord({
    account = current,
    createdAt = new Date(),
    spec = {},
    status = {},
    hasFile = true,
  }: NewRecord = {}): Promise<string> {
    const id = newId('scr', createdAt)
    const name = toObjectName(id)
    if (hasFile) await world.bucket.putObject('tintype', objectKey(account, id, 'png'), PICTURE)
    const object = { metadata: { name }, spec: { url: `https://example.com/${id}`, accountName: account, ...spec } }
    await world.screenshots.create(object as unknown as Screenshot)
    const result = { ...completedStatus().result, fileSizeBytes: PICTURE.length }
    const ended = completedStatus({ completionTime: new Date().toISOString(), result, ...status })
    await world.screenshots.patch(name, mergePatch({ status: ended }), { subresource: 'status' })
    return id
  }

  /** Creates many. Returns their ids, newest first. */
  async function addRecords(count: number, record: (n: number) => NewRecord): Promise<string[]> {
    const ids = await mapConcurrently([...Array(count).keys()], PARALLEL, (n) => addRecord(record(n)))
    return ids.sort()
  }

  /** Creates a Webhook that receives events of completed Screenshots from now on. */
  async function subscribe(accountName: string, url: string): Promise<Webhook> {
    const hooks = new Resource(http, webhooks)
    await hooks.create({ metadata: { name: 'hook' }, spec: { accountName, url, events: ['screenshot.completed'] } })
    return eventually('the webhook is active', async () => {
      const hook = await hooks.get('hook')
      return hook.status?.activeSince !== undefined && hook
    })
  }

  /** Writes records to the archive, a tenth of them in each segment, as if archived long ago. Returns their ids. */
  async function addArchived(count: number, record: (n: number) => NewRecord): Promise<string[]> {
    const screenshots = Array.from({ length: count }, (_, n): Whole<Screenshot> => {
      const { createdAt = new Date(), spec = {} } = record(n)
      const id = newId('scr', createdAt)
      return aScreenshot({
        name: toObjectName(id),
        metadata: { creationTimestamp: createdAt.toISOString() },
        spec: { url: `https://example.com/${id}`, accountName: current, ...spec },
        status: completedStatus(),
      })
    })
    for (let part = 0; part < 10; part++) {
      const share = screenshots.filter((_, n) => n % 10 === part)
      for (const { key: name, text: lines } of buildSegments(current, share)) await world.bucket.putObject('tintype', name, lines)
    }
    return screenshots.map(({ metadata }) => toId(metadata.name))
  }

  const get = (path: string, headers: Record<string, string> = {}): Promise<ApiResponse> =>
    call(`${gateway.url}/v1${path}`, { key: keyOf(), headers })
  const remove = (id: string): Promise<ApiResponse> => call(`${gateway.url}/v1/screenshots/${id}`, { method: 'DELETE', key: keyOf() })
  const liveIds = async (): Promise<string[]> =>
    (await world.screenshots.listAll()).map(({ metadata }) => metadata.name.replace('-', '_')).sort()
  const hasFile = async (id: string, account = current): Promise<boolean> => hasObject(objectKey(account, id, 'png'))
  const hasObject = (name: string): Promise<boolean> =>
    world.bucket.statObject('tintype', name).then(
      () => true,
      () => false,
    )
  async function keysUnder(prefix: string): Promise<string[]> {
    const keys: string[] = []
    for await (const { name } of world.bucket.listObjectsV2('tintype', prefix, true)) if (name) keys.push(name)
    return keys
  }

  /** A record as it is stored in the archive. */
  async function archived(id: string): Promise<Whole<Screenshot>> {
    const stream = await world.bucket.getObject('tintype', recordKey(current, id))
    return parseArchivedLine(await text(stream))
  }

  /** All ids of the list, page by page. */
  async function listIds(query = '', limit = 100): Promise<string[]> {
    const ids: string[] = []
    for (let cursor = ''; ; ) {
      const { status, body } = await get(`/screenshots?limit=${limit}${query}${cursor}`)
      if (status !== 200) throw new Error(`the list request returned ${status}: ${JSON.stringify(body)}`)
      ids.push(...body.data.map(({ id }: { id: string }) => id))
      if (!body.pagination.has_more) return ids
      cursor = `&cursor=${body.pagination.next_cursor}`
    }
  }

  return {
    subscribe,
    archived,
    addArchived,
    world,
    get key() {
      return keyOf()
    },
    gateway,
    switchAccount,
    startOperator,
    /** Ends the leader as a crash does. */
    kill: (leader: Program) => killLeader(leader, http),
    addRecord,
    addRecords,
    get,
    remove,
    liveIds,
    hasFile,
    hasObject,
    keysUnder,
    listIds,
  }
}
