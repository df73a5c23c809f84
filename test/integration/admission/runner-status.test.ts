import t from 'tap'
import { accounts, apiKeys, pods, runnerPools, screenshots, secrets, webhooks } from '../../../crds/client/kinds.ts'
import type { KubeHttp } from '../../../crds/client/kube-http.ts'
import { type JsonPatchOperation, jsonPatch, mergePatch, Resource } from '../../../crds/client/resource.ts'
import { eventually } from '../../support/eventually.ts'
import { installRelease } from './release.ts'

// Tests what the token of a runner may do, on a real API server with the chart's roles and policies and tokens bound to pods.

const release = await installRelease(t)
const account = 'tintype-capture-runner'
const { pod, http } = await release.asPod(account, 'default-1')
const other = await release.asPod(account, 'default-2')
const mine = new Resource(http, screenshots)
const admin = new Resource(release.admin, screenshots)

const at = '2026-01-01T00:00:01Z'
const condition = (type: string, status: string) => ({ type, status, reason: 'Captured', message: 'captured', lastTransitionTime: at })
const result = { format: 'png', fileSizeBytes: 100, etag: 'x', width: 10, height: 10 }
const success = {
  phase: 'Completed',
  result,
  conditions: [condition('Succeeded', 'True'), condition('Finished', 'True')],
  completionTime: at,
}
const failure = {
  phase: 'Failed',
  result: { error: { code: 'TIMEOUT', message: 'too slow' } },
  conditions: [condition('Succeeded', 'False'), condition('Finished', 'True')],
  completionTime: at,
}

/** The report as the runner sends it, with `more` steps. */
function report(name: string, status: object = success, more: JsonPatchOperation[] = [], as: KubeHttp = http) {
  const steps = Object.entries(status).map(([field, value]): JsonPatchOperation => ({ op: 'add', path: `/status/${field}`, value }))
  const tests = { '/status/attempt': 1, '/status/phase': 'Running' }
  return new Resource(as, screenshots).patch(name, jsonPatch([...steps, ...more], tests), { subresource: 'status' })
}

// Messages of a role or of a rule. A rule that fails to evaluate also rejects requests, so the tests check the message.
const forbidden = { status: 403, message: /cannot \w+ resource|denied request: (a runner|this pod|status\.phase)/ }
const invalid = {
  status: 422,
  message: /denied request: (a report|status\.result|status\.conditions)|Invalid value|Unsupported value|Too long/,
}

// The API server applies a new policy only after a moment.
await admin.create({ metadata: { name: 'probe' }, spec: { url: 'https://example.com/' } })
await eventually('the policy is in force', async () => {
  const made = await mine
    .patch('probe', mergePatch({ status: { result: { width: 1 } } }), { subresource: 'status' })
    .catch((error) => error)
  return made instanceof Error && made.message.includes('does not hold the claim')
})

t.test('policy lets a runner report its own capture', async (t) => {
  await release.aClaimedScreenshot('own', pod)
  const { status } = await report('own')
  t.match(status, { phase: 'Completed', result, runner: pod, attempt: 1 })
})

t.test('policy lets a runner report the failure of its own capture', async (t) => {
  await release.aClaimedScreenshot('own-failure', pod)
  t.match((await report('own-failure', failure)).status, { phase: 'Failed' })
})

t.test('policy rejects the capture of another pod', async (t) => {
  await release.aClaimedScreenshot('foreign', other.pod)
  await t.rejects(report('foreign'), { ...forbidden, message: /does not hold the claim/ })
  t.match((await report('foreign', success, [], other.http)).status, { phase: 'Completed' }, 'its own pod may')
})

t.test('policy rejects a pod of the same name with another uid', async (t) => {
  await release.aClaimedScreenshot('recreated', { ...pod, uid: other.pod.uid })
  await t.rejects(report('recreated'), forbidden)
})

t.test('policy rejects a token of the account that is bound to no pod', async (t) => {
  await release.aClaimedScreenshot('unbound', pod)
  await t.rejects(report('unbound', success, [], await release.asAccount(account)), { ...forbidden, message: /does not hold the claim/ })
})

t.test('policy rejects a capture without a claim', async (t) => {
  await admin.create({ metadata: { name: 'unclaimed' }, spec: { url: 'https://example.com/' } })
  await t.rejects(mine.patch('unclaimed', mergePatch({ status: success }), { subresource: 'status' }), forbidden)
})

t.test('policy rejects a second report', async (t) => {
  await release.aClaimedScreenshot('finished', pod)
  await report('finished')
  const again = mine.patch('finished', mergePatch({ status: failure }), { subresource: 'status' })
  await t.rejects(again, { ...forbidden, message: /may only change Running to Completed or Failed, once/ })
  await t.rejects(mine.patch('finished', mergePatch({ status: { result: { width: 11 } } }), { subresource: 'status' }), forbidden)
})

t.test('policy rejects every phase except Completed and Failed', async (t) => {
  await release.aClaimedScreenshot('phases', pod)
  for (const phase of ['Pending', 'Running']) await t.rejects(report('phases', { ...success, phase }), forbidden, phase)
  await t.rejects(report('phases', { phase: 'Running', result }), forbidden, 'a result without an end')
})

const foreignFields: Record<string, unknown> = {
  id: 'scr_00000000000000000000000000',
  storagePath: 'users/other/scr_00000000000000000000000000.png',
  url: 'https://other.example/',
  runner: other.pod,
  attempt: 2,
  lostRunners: 1,
  startTime: '2020-01-01T00:00:00Z',
  deliveries: { 'screenshot.completed': { hook: { attempts: 1, at, state: 'ok' } } },
}
t.test('policy rejects a report that changes or removes a field of the operator', async (t) => {
  await release.aClaimedScreenshot('fields', pod)
  const message = /may only change status.phase, status.result, status.conditions and status.completionTime/
  for (const [field, value] of Object.entries(foreignFields))
    await t.rejects(report('fields', { ...success, [field]: value }), { ...forbidden, message }, field)
  for (const field of ['runner', 'attempt', 'lostRunners', 'startTime'])
    await t.rejects(report('fields', success, [{ op: 'remove', path: `/status/${field}` }]), forbidden, `without ${field}`)
  t.match((await report('fields')).status, { phase: 'Completed' }, 'the control')
})

t.test('policy keeps existing deliveries unchanged', async (t) => {
  const deliveries = { 'screenshot.queued': { hook: { attempts: 1, at, state: 'ok' as const } } }
  await release.aClaimedScreenshot('delivered', pod, { deliveries })
  await t.rejects(report('delivered', success, [{ op: 'remove', path: '/status/deliveries' }]), forbidden)
  t.match((await report('delivered')).status, { deliveries })
})

t.test('API server ignores metadata and spec in a report', async (t) => {
  const before = await release.aClaimedScreenshot('metadata', pod)
  await report('metadata', success, [
    { op: 'add', path: '/metadata/labels', value: { forged: 'true' } },
    { op: 'add', path: '/metadata/finalizers', value: ['tintype.dev/forged'] },
    { op: 'add', path: '/metadata/annotations', value: { 'tintype.dev/delete-requested': 'true' } },
    { op: 'replace', path: '/spec/url', value: 'https://example.org/' },
  ])
  const { metadata, spec } = await admin.get('metadata')
  t.strictSame([metadata.labels, metadata.finalizers, metadata.annotations, spec], [undefined, undefined, undefined, before.spec])
})

const malformed: Record<string, object> = {
  'without a result': { ...success, result: undefined },
  'without a completion time': { ...success, completionTime: undefined },
  'of a picture without a size': { ...success, result: { format: 'png' } },
  'of a picture with an error': { ...success, result: { ...result, ...failure.result } },
  'of a failure without an error': { ...failure, result },
  'of a file above the size limit': { ...success, result: { ...result, fileSizeBytes: 104_857_601 } },
  'of a picture above the maximum dimensions': { ...success, result: { ...result, width: 1_000_001 } },
  'of an artifact above the size limit': {
    ...success,
    result: { ...result, artifacts: [{ type: 'html', fileSizeBytes: 104_857_601, etag: 'x' }] },
  },
  'with an unknown error code': { ...failure, result: { error: { code: 'NONE', message: '' } } },
  'with a title of 513 letters': { ...success, result: { ...result, pageTitle: 'x'.repeat(513) } },
  'whose conditions contradict its phase': { ...success, conditions: failure.conditions },
  'that does not say Finished': { ...success, conditions: [condition('Succeeded', 'True')] },
  'with a condition of its own': { ...success, conditions: [...success.conditions, condition('Trusted', 'True')] },
}
t.test('policy rejects a malformed report', async (t) => {
  await release.aClaimedScreenshot('malformed', pod)
  for (const [what, status] of Object.entries(malformed)) {
    const defined = Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined))
    await t.rejects(report('malformed', defined), invalid, what)
  }
  t.match((await report('malformed')).status, { phase: 'Completed' }, 'the control')
})

t.test('role lets a runner only patch a status', async (t) => {
  await release.aClaimedScreenshot('fenced', pod)
  await t.rejects(mine.get('fenced'), forbidden, 'get')
  await t.rejects(mine.list(), forbidden, 'list')
  await t.rejects(mine.create({ metadata: { name: 'new' }, spec: { url: 'https://example.com/' } }), forbidden, 'create')
  await t.rejects(mine.patch('fenced', mergePatch({ metadata: { labels: { a: 'b' } } })), forbidden, 'patch')
  await t.rejects(mine.replaceStatus({ ...(await admin.get('fenced')), status: { phase: 'Failed' } }), forbidden, 'replace the status')
  await t.rejects(mine.delete('fenced'), forbidden, 'delete')
  await t.rejects(new Resource(http, secrets).get('tintype-minio-root'), forbidden, 'read a Secret')
  await t.rejects(new Resource(http, secrets).list(), forbidden, 'list Secrets')
  await t.rejects(new Resource(http, pods).get(pod.pod), forbidden, 'read its pod')
  const lists = [webhooks, accounts, apiKeys, runnerPools].map(({ plural }) => plural)
  for (const plural of lists)
    await t.rejects(http.request({ method: 'GET', path: mine.pathOf().replace('screenshots', plural) }), forbidden, plural)
})

t.test('policy rejects the same for a runner whose role was widened by mistake', async (t) => {
  await release.grantEverything(account)
  await release.aClaimedScreenshot('widened', pod)
  const words = { ...forbidden, message: /may only update the status of a Screenshot/ }
  await t.rejects(mine.create({ metadata: { name: 'new' }, spec: { url: 'https://example.com/' } }), words, 'create')
  await t.rejects(mine.patch('widened', mergePatch({ metadata: { labels: { a: 'b' } } })), words, 'patch')
  await t.rejects(mine.delete('widened'), words, 'delete')
  await t.rejects(new Resource(http, accounts).create({ metadata: { name: 'own' }, spec: { plan: 'scale' } }), words, 'create an Account')
  await t.rejects(mine.replaceStatus({ ...(await admin.get('widened')), status: { phase: 'Pending' } }), forbidden, 'replace the status')
  t.ok(await mine.get('widened'), 'the role was widened')
})
