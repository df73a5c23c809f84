import { request as httpRequest } from 'node:http'
import t from 'tap'
import { accounts, apiKeys, events as eventKind, screenshotSchedules, webhooks } from '../../../crds/client/kinds.ts'
import type { KubeHttp, KubeRequest } from '../../../crds/client/kube-http.ts'
import { mergePatch, Resource } from '../../../crds/client/resource.ts'
import { screenshotIdOf } from '../../../crds/src/identifiers/ids.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { objectKey } from '../../../crds/src/records/storage-keys.ts'
import { createAccountControllers } from '../../../operator/src/controllers/account/controller.ts'
import { createCaptureControllers } from '../../../operator/src/controllers/all.ts'
import { createApiKeyController } from '../../../operator/src/controllers/api-key/controller.ts'
import { createDeliveryControllers } from '../../../operator/src/controllers/delivery/term.ts'
import { createPendingController } from '../../../operator/src/controllers/pending/controller.ts'
import { createQuotaController } from '../../../operator/src/controllers/quota/controller.ts'
import { createRetentionController } from '../../../operator/src/controllers/retention/controller.ts'
import { createScheduleController } from '../../../operator/src/controllers/schedule/controller.ts'
import { createEventRecorder } from '../../../operator/src/kube/event-recorder.ts'
import { openStorage } from '../../../operator/src/storage/storage.ts'
import { eventually } from '../../support/eventually.ts'
import { aTerm } from '../../support/fakes/term.ts'
import { serve } from '../../support/servers/serve.ts'
import { startStage } from './stage.ts'

// All controllers of an operator on a real API server, a real store and runners. A leader loses its lease before its first write of each kind.
// Another one leads then, and the first one goes on with what it had begun.

/** Every kind of write of an operator, except the deletion of Leases of gateways, which are ten minutes old. */
const KINDS = [
  'POST accountusages',
  'PUT accountusages/status',
  'PATCH accounts/status',
  'PATCH apikeys',
  'PATCH apikeys/status',
  'POST events',
  'POST pods',
  'DELETE pods',
  'PATCH runnerpools/status',
  'POST screenshots',
  'PATCH screenshots/status',
  'DELETE screenshots',
  'PATCH screenshotschedules/status',
  'POST secrets',
  'POST tokenreviews',
  'PATCH webhooks/status',
  'bucket removePrefix',
  'bucket write',
  'runner',
]

class Tally extends Map<string, number> {
  add(key: string): void {
    this.set(key, (this.get(key) ?? 0) + 1)
  }
}

/** `PATCH screenshots/status` of a path such as /apis/tintype.dev/v1alpha1/namespaces/x/screenshots/y/status. */
function kindOf({ method, path }: Pick<KubeRequest, 'method' | 'path'>): string {
  const [plural = '', , subresource] = path.replace(/^\/api(s\/[^/]+)?\/[^/]+\/(namespaces\/[^/]+\/)?/, '').split('/')
  return `${method} ${plural}${subresource === undefined ? '' : `/${subresource}`}`
}

const stage = await startStage(t, {
  environment: {
    TINTYPE_RETENTION_LIVE_MINIMUM_SECONDS: '0',
    TINTYPE_RETENTION_LIVE_FOR_SECONDS: '5',
    TINTYPE_WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
  },
})
const { admin } = stage.release
const arrivedAtServer = new Tally()
const { deps, metrics, http, sign } = await stage.prepare({
  onRequest: ({ method, resource, code }) => method !== 'GET' && code !== '<error>' && arrivedAtServer.add(`${method} ${resource}`),
})

/** Counts the writes that arrive at the store. The signature of a request covers the host that the client called, which stays. */
const arrivedAtStore = new Tally()
const endpoint = await serve(t, (request, response) => {
  if (request.method !== 'GET' && request.method !== 'HEAD') arrivedAtStore.add('writes')
  const { hostname, port } = new URL(stage.minio.endpoint)
  const forwarded = { hostname, port, method: request.method ?? '', path: request.url ?? '', headers: request.headers }
  const upstream = httpRequest(forwarded, (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers)))
  upstream.on('error', () => response.destroy())
  request.pipe(upstream)
})
const access = { ...stage.config.storage, endpoint }

const granted = new Tally()
const refused = new Tally()
/** Kinds that some leader has tried: it lost its lease there. */
const tried = new Set<string>()

/** Opens a term whose lease is lost at the first write of a kind that no leader has tried. */
function openTerm(onLost: () => void) {
  const ending = new AbortController()
  let isHeld = true
  const asks = (kind: string) => () => {
    if (isHeld && !tried.has(kind)) {
      tried.add(kind)
      isHeld = false
      setImmediate(onLost)
    }
    const tally = isHeld ? granted : refused
    tally.add(kind)
    return isHeld
  }
  const request = (given: KubeRequest) => http.fenced(asks(kindOf(given))).request(given)
  const fenced = { namespace: http.namespace, request } as unknown as KubeHttp
  const bucketAs = (kind: string) => openStorage(access, { uploads: stage.config.uploads, mayWrite: asks(`bucket ${kind}`) })
  // Presigned URLs name the store itself: runners upload there.
  const { presignPut, presignGet } = stage.storage
  const { remove, removePrefix, copy } = {
    ...bucketAs('remove'),
    removePrefix: bucketAs('removePrefix').removePrefix,
    copy: bucketAs('copy').copy,
  }
  const storage = { ...bucketAs('write'), remove, removePrefix, copy, presignPut, presignGet }
  const events = createEventRecorder({ events: new Resource(fenced, eventKind), instance: 'operator', log: deps.log, now: Date.now })
  const term = { ...aTerm({ http, storage, events, signal: ending.signal, mayWrite: asks('runner') }), http: fenced }
  return { term, forReceivers: { ...term, mayWrite: asks('receiver') }, end: () => ending.abort() }
}

const quota = createQuotaController(deps)
const deliveries = createDeliveryControllers(deps)
const works = [
  createCaptureControllers({ deps, metrics, sign, charge: quota.charge, runnerPort: stage.runnerPort }),
  createApiKeyController(deps),
  createAccountControllers(deps),
  quota,
  createPendingController(deps, { charges: true }),
  createScheduleController(deps),
  createRetentionController(deps, { archive: 500, rewrite: 3_600_000, expire: 3_600_000 }),
]
const ended: Promise<unknown>[] = []
let leaders = 0
let stop = () => {}
let isOver = false

t.teardown(async () => {
  // The last leader may lose its lease at a write that it had begun, and a successor would run forever.
  isOver = true
  stop()
  await Promise.all(ended)
  await Promise.all(Object.values(deps.reflectors).map((reflector) => reflector.stop()))
})

/** Starts the next leader. The one before goes on with what it had begun, and then stops. */
function lead(): void {
  if (isOver) return
  leaders += 1
  const stopBefore = stop
  const { term, forReceivers, end } = openTerm(lead)
  const started = [...works.map((work) => work.start(term)), deliveries.start(forReceivers)]
  stop = () => {
    end()
    ended.push(...started.map((work) => work.stop()))
  }
  stopBefore()
}

t.test('a leader that goes on after another one leads writes nothing, of whichever kind', async (t) => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  // Also after a failure: the leaders stop only when the captures have ended.
  t.teardown(() => release())
  stage.node.capture = async ({ url }) => (url.includes('slow') ? released : undefined)
  await stage.setPool({ minIdle: 1, maxPods: 3, scaleDownDelaySeconds: 0 })
  await new Resource(admin, accounts).create({ metadata: { name: 'acme' }, spec: { plan: 'scale' } })
  lead()
  await new Resource(admin, apiKeys).create({ metadata: { name: 'ci' }, spec: { accountName: 'acme', secretName: 'ci-key' } })
  const hook = { accountName: 'acme', url: 'https://127.0.0.1:9/', events: ['screenshot.completed'] as const }
  await new Resource(admin, webhooks).create({ metadata: { name: 'hook' }, spec: { ...hook, events: [...hook.events] } })
  const schedules = new Resource(admin, screenshotSchedules)
  const template = { url: 'https://example.com/' }
  await schedules.create({ metadata: { name: 'yearly' }, spec: { accountName: 'acme', schedule: '0 0 1 1 *', template } })
  const status = { lastScheduleTime: '2020-06-01T00:00:00Z' }
  await schedules.patch('yearly', mergePatch({ status }), { subresource: 'status' })
  const spec = { accountName: 'acme' }
  const shots = [await stage.createNamed('one', spec), await stage.createNamed('two', spec)]
  await stage.createNamed('homeless', { ...spec, poolName: 'missing' })
  // A leader keeps deleted Screenshots in memory, so one that stops before it has removed the files forgets them.
  for (let n = 0; !tried.has('bucket removePrefix'); n++) {
    const slow = await stage.createNamed(`slow-${n}`, { ...spec, url: 'https://slow.example.com/' })
    await stage.whenRunning(slow)
    await stage.storage.write(objectKey('acme', screenshotIdOf(slow.metadata), 'png'), 'a file to remove')
    await stage.shots.delete(slow.metadata.name)
    await eventually('its deletion was seen', async () => tried.has('bucket removePrefix'), 5_000).catch(() => undefined)
  }
  const isArchived = async (shot: Screenshot) => (await stage.shots.find(shot.metadata.name)) === undefined
  for (const shot of shots) await eventually(`${shot.metadata.name} is archived`, () => isArchived(shot))
  release()
  await stage.setPool({ minIdle: 0, maxPods: 1, scaleDownDelaySeconds: 0 })
  const isTried = async () => KINDS.every((kind) => tried.has(kind))
  await eventually('every kind was tried', isTried, 60_000).catch(() => undefined)
  t.comment(`${leaders} leaders; refused: ${JSON.stringify(Object.fromEntries(refused))}`)
  for (const kind of KINDS) t.ok(refused.has(kind), `${kind} was refused`)
  const sumOf = (tally: Tally, start: string) =>
    [...tally].reduce((sum, [kind, count]) => sum + (kind === start || kind.startsWith(`${start}/`) ? count : 0), 0)
  for (const [kind, count] of arrivedAtServer) t.ok(count <= sumOf(granted, kind), `${kind}: ${count} of ${sumOf(granted, kind)} arrived`)
  const ofStore = [...granted].reduce((sum, [kind, count]) => sum + (kind.startsWith('bucket ') ? count : 0), 0)
  t.ok((arrivedAtStore.get('writes') ?? 0) <= ofStore, `store: ${arrivedAtStore.get('writes')} of ${ofStore} arrived`)
  t.ok(stage.node.orders.length <= (granted.get('runner') ?? 0), `runners: ${stage.node.orders.length} orders of ${granted.get('runner')}`)
})
