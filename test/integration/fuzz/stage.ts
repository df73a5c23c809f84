import { screenshotSchedules } from '../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { mergePatch, Resource } from '../../../crds/client/resource.ts'
import { toId, toObjectName } from '../../../crds/src/identifiers/names.ts'
import { accountOf } from '../../../crds/src/records/record.ts'
import { baselineKey } from '../../../crds/src/records/storage-keys.ts'
import { accessPlane } from '../../support/processes/plane-access.ts'
import { call } from '../api-gateway/client.ts'
import { complete, fail } from '../api-gateway/runner-role.ts'
import { startWorld, type World } from '../api-gateway/world.ts'

// A gateway with a real API server and store. Captures end without a runner: quickly, most of them successfully.

const EVERY_MILLISECONDS = 200
/** One of this many captures fails. */
const FAILING = 5
/** Content of each file. */
export const PICTURE = Buffer.from('bytes that stand for a picture')

const endsBadly = (id: string): boolean => (id.charCodeAt(id.length - 1) + id.charCodeAt(id.length - 2)) % FAILING === 0

/** Ends each pending capture once. A client may have deleted it meanwhile. */
function endCaptures(world: World): () => void {
  const seen = new Set<string>()
  const look = async () => {
    const { items } = await world.screenshots.list({ limit: 500 })
    const pending = items.filter(({ metadata: { name }, status }) => status?.phase === 'Pending' && !seen.has(name))
    for (const { metadata } of pending) {
      seen.add(metadata.name)
      const id = toId(metadata.name)
      const end = endsBadly(id) ? fail(id, { code: 'TIMEOUT', message: 'the page did not load' }, world) : complete(id, PICTURE, world)
      await end.catch(() => {})
    }
  }
  let next: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    next = next.then(look).catch(() => {})
  }, EVERY_MILLISECONDS)
  return () => clearInterval(timer)
}

async function makeFile(api: string, key: string): Promise<{ id: string; download_url: string }> {
  for (;;) {
    const { status, body } = await call(`${api}/screenshots?wait=25`, { method: 'POST', key, body: { url: 'https://example.com/' } })
    if (status === 200 && body.download_url) return body
  }
}

/** A batch, a key and a schedule. The run may delete other ones before it reaches these operations. */
async function makeIds(api: string, key: string, { plane }: World): Promise<Record<string, string>> {
  const [url, comparison] = ['https://example.com/', { baseline: 'approved' }]
  const batch = await call(`${api}/screenshots/batch`, { method: 'POST', key, body: { urls: [url] } })
  const rotated = await call(`${api}/keys`, { method: 'POST', key, body: { name: 'rotated' } })
  const { body } = await call(`${api}/schedules`, { method: 'POST', key, body: { url, schedule: '@yearly', comparison } })
  const { id } = body.data
  // As if an operator had compared and kept a run.
  const http = new KubeHttp(await accessPlane(plane.kubeconfigPath))
  const schedules = new Resource(http, screenshotSchedules)
  const { metadata, spec } = await schedules.get(toObjectName(id))
  const run = 'scr_7zxvp3mwk8c0qj2n5r8t1v4x6z'
  const baseline = { id: run, time: new Date().toISOString(), key: baselineKey(accountOf({ spec }), metadata.uid, run), etag: 'abc' }
  const approvals = [{ id: run, approvalTime: baseline.time }]
  await schedules.patch(metadata.name, mergePatch({ status: { baseline, approvals } }), { subresource: 'status' })
  await http.close()
  const keyId = rotated.body.data.id
  return {
    rotateKey: keyId,
    checkKeyUrl: keyId,
    getBatch: batch.body.batch_id,
    runSchedule: id,
    listScheduleRuns: id,
    approveRun: id,
    undoApproval: id,
  }
}

/**
 * Starts everything that a client needs: an account without limits, and a picture. `ids` are those of existing records by the operations that need one,
 * `file` is a signed link to a stored file.
 */
export async function startStage() {
  const world = await startWorld()
  const stopEnding = endCaptures(world)
  await world.createAccount('acme')
  // The scope admin:read is not part of `*`.
  const key = await world.createKey({ accountName: 'acme', scopes: ['*', 'admin:read'] })
  const many = '1000000'
  const gateway = await world.startGateway({
    TINTYPE_READS_PER_MINUTE: many,
    TINTYPE_CHANGES_PER_MINUTE: many,
    TINTYPE_LINK_REQUESTS_PER_MINUTE: many,
    TINTYPE_MAX_KEYS: many,
    TINTYPE_MAX_WEBHOOKS: '63', // the maximum
    TINTYPE_MAX_SCHEDULES: many,
    TINTYPE_MAX_QUEUED: many,
    TINTYPE_MAX_QUEUED_PER_ACCOUNT: many,
  })
  const api = `${gateway.url}/api/v1`
  const keys = await call(`${api}/keys`, { key })
  const [{ id, download_url: file }, others] = [await makeFile(api, key), await makeIds(api, key, world)]
  const stop = async () => {
    stopEnding()
    await world.stop()
  }
  return { world, gateway, key, keyId: String(keys.body.data[0].id), ids: { ...others, downloadScreenshot: id }, file, stop }
}
