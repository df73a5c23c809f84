import t, { type Test } from 'tap'
import { buildReport } from '../../capture-runner/src/server/report.ts'
import type { JsonPatchOperation } from '../../crds/client/patch.ts'
import { API_VERSION } from '../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../crds/src/kinds/screenshot.ts'
import { kubectl } from '../support/cluster/environment.ts'
import { createPool, idleRunners } from '../support/cluster/pools.ts'
import { type ApiRequest, callAsPod } from '../support/cluster/runner-exec.ts'
import { claimed, createScreenshot, screenshotOf } from '../support/cluster/screenshots.ts'
import { NAMESPACE, STORE } from '../support/cluster/tested-release.ts'
import { page } from '../support/servers/pages.ts'

// Permissions of the token in a runner's pod, tried from inside the pod: it can report the result of its own open claim, and nothing else.

t.setTimeout(300_000)
const pool = await createPool(t, 'rights', { minIdle: 2, maxPods: 3 })
await idleRunners(pool, 2)

interface Claim {
  shot: Screenshot
  name: string
  pod: string
  uid: string
}

/** A Screenshot that a runner of the pool holds until the test ends. */
async function holdClaim(t: Test): Promise<Claim> {
  const spec = { url: page('/solid?color=336699'), poolName: pool, options: { viewportWidth: 64, viewportHeight: 64, delay: 60_000 } }
  const name = await createScreenshot(t, spec)
  const shot = await claimed(name)
  const { pod, uid } = shot.status!.runner!
  return { shot, name, pod, uid }
}

const screenshots = `/apis/${API_VERSION}/namespaces/${NAMESPACE}/screenshots`
const JSON_PATCH = 'application/json-patch+json'
const MERGE_PATCH = 'application/merge-patch+json'

/** The report that the runner would send (`buildReport`), followed by the steps of `more`. */
function report({ name, uid, shot }: Claim, more: JsonPatchOperation[] = []): ApiRequest {
  const conditions = ['Succeeded', 'Finished'].map((type) => {
    const at = new Date().toISOString()
    return { type, status: 'True' as const, reason: 'Captured', message: 'captured', lastTransitionTime: at }
  })
  const result = { format: 'png' as const, fileSizeBytes: 100, etag: 'x', width: 64, height: 64 }
  const claim = { namespace: NAMESPACE, name, podUid: uid, attempt: shot.status?.attempt ?? 1 }
  const { body, contentType } = buildReport(claim, { phase: 'Completed', result, conditions }, new Date())
  return { method: 'PATCH', path: `${screenshots}/${name}/status`, body: [...(body as object[]), ...more], contentType }
}

const mergeStatus = (name: string, status: object): ApiRequest => ({
  method: 'PATCH',
  path: `${screenshots}/${name}/status`,
  body: { status },
  contentType: MERGE_PATCH,
})

t.test('a runner’s token can report the result of its own claim, once', async (t) => {
  const claim = await holdClaim(t)
  const [first, again, forged] = await callAsPod(claim.pod, [
    report(claim),
    report(claim),
    mergeStatus(claim.name, { result: { fileSizeBytes: 1 } }),
  ])
  t.equal(first?.status, 200, first?.message ?? '')
  t.equal(again?.status, 422, 'its preconditions no longer hold')
  t.match(forged, { status: 403, message: /may only change Running to Completed or Failed, once/ })
  t.match((await screenshotOf(claim.name)).status, { phase: 'Completed', result: { fileSizeBytes: 100 } })
})

t.test('a runner’s token cannot change the Screenshot of another pod', async (t) => {
  const [mine, other] = [await holdClaim(t), await holdClaim(t)]
  t.not(mine.pod, other.pod)
  const [asMine, asOther] = await callAsPod(mine.pod, [report(other), mergeStatus(other.name, { phase: 'Failed' })])
  for (const answer of [asMine, asOther]) t.match(answer, { status: 403, message: /this pod does not hold the claim/ })
  t.equal((await screenshotOf(other.name)).status?.phase, 'Running')
  const [control] = await callAsPod(other.pod, [report(other)])
  t.equal(control?.status, 200, 'control: the pod with the claim can')
})

t.test('a runner’s token can change only the result', async (t) => {
  const claim = await holdClaim(t)
  const at = '2020-01-01T00:00:00Z'
  const foreign: Record<string, unknown> = {
    runner: { pod: 'another-1', uid: '00000000-0000-0000-0000-000000000000' },
    attempt: 2,
    lostRunners: 1,
    startTime: at,
    deliveries: { 'screenshot.completed': { hook: { attempts: 1, at, state: 'ok' } } },
  }
  const fields = Object.entries(foreign)
  const answers = await callAsPod(
    claim.pod,
    fields.map(([field, value]) => report(claim, [{ op: 'add', path: `/status/${field}`, value }])),
  )
  for (const [place, [field]] of fields.entries())
    t.match(
      answers[place],
      { status: 403, message: /may only change status.phase, status.result, status.conditions and status.completionTime/ },
      field,
    )
  // The operator may have written deliveries meanwhile.
  const { deliveries, ...status } = (await screenshotOf(claim.name)).status ?? {}
  t.strictSame(
    { ...status, deliveries: claim.shot.status?.deliveries },
    { deliveries: undefined, ...claim.shot.status },
    'the status is unchanged',
  )
  t.equal(deliveries?.['screenshot.completed'], undefined)
  const [control] = await callAsPod(claim.pod, [report(claim)])
  t.equal(control?.status, 200, 'control: a report without these fields is accepted')
})

t.test('a runner’s token cannot change spec or metadata', async (t) => {
  const claim = await holdClaim(t)
  const object = { method: 'PATCH', path: `${screenshots}/${claim.name}`, contentType: JSON_PATCH }
  const forged: JsonPatchOperation[] = [
    { op: 'replace', path: '/spec/url', value: 'https://example.org/' },
    { op: 'add', path: '/metadata/labels', value: { forged: 'true' } },
    { op: 'add', path: '/metadata/finalizers', value: ['tintype.dev/forged'] },
  ]
  const refused = await callAsPod(
    claim.pod,
    forged.map((step) => ({ ...object, body: [step] })),
  )
  for (const answer of refused) t.match(answer, { status: 403, message: /cannot patch resource "screenshots"/ })
  // The API server ignores these changes in a report on the status subresource.
  t.equal((await callAsPod(claim.pod, [report(claim, forged)]))[0]?.status, 200)
  const { spec, metadata } = await screenshotOf(claim.name)
  t.strictSame(spec, claim.shot.spec)
  t.strictSame([metadata.labels, metadata.finalizers], [claim.shot.metadata.labels, claim.shot.metadata.finalizers])
})

t.test('a runner’s token cannot read objects or create pods and tokens', async (t) => {
  const { name, pod } = await holdClaim(t)
  const core = `/api/v1/namespaces/${NAMESPACE}`
  const podSpec = { containers: [{ name: 'x', image: 'x' }] }
  const forPod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'forged' }, spec: podSpec }
  const forToken = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const forReview = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'x' } }
  const attempts: Record<string, ApiRequest> = {
    'get its Screenshot': { path: `${screenshots}/${name}` },
    'list Screenshots': { path: screenshots },
    'watch Screenshots': { path: `${screenshots}?watch=1` },
    'list Screenshots of all namespaces': { path: `/apis/${API_VERSION}/screenshots` },
    'create a Screenshot': {
      path: screenshots,
      method: 'POST',
      body: { apiVersion: API_VERSION, kind: 'Screenshot', spec: { url: page('/') } },
    },
    'delete its Screenshot': { path: `${screenshots}/${name}`, method: 'DELETE' },
    'list ApiKeys': { path: screenshots.replace('screenshots', 'apikeys') },
    'list RunnerPools': { path: screenshots.replace('screenshots', 'runnerpools') },
    'get the dispatch key': { path: `${core}/secrets/tintype-dispatch-key` },
    'get the storage’s credentials': { path: `${core}/secrets/${STORE}-root` },
    'list Secrets': { path: `${core}/secrets` },
    'watch Secrets': { path: `${core}/secrets?watch=1` },
    'get its pod': { path: `${core}/pods/${pod}` },
    'list pods': { path: `${core}/pods` },
    'list ConfigMaps': { path: `${core}/configmaps` },
    'list nodes': { path: '/api/v1/nodes' },
    'list namespaces': { path: '/api/v1/namespaces' },
    'create a pod': { path: `${core}/pods`, method: 'POST', body: forPod },
    'run a program in its pod': { path: `${core}/pods/${pod}/exec?command=true`, method: 'POST' },
    'request a token of its own account': { path: `${core}/serviceaccounts/tintype-capture-runner/token`, method: 'POST', body: forToken },
    'request the operator’s token': { path: `${core}/serviceaccounts/tintype-operator/token`, method: 'POST', body: forToken },
    'review a token': { path: '/apis/authentication.k8s.io/v1/tokenreviews', method: 'POST', body: forReview },
  }
  const answers = await callAsPod(pod, Object.values(attempts))
  for (const [place, what] of Object.keys(attempts).entries()) t.match(answers[place], { status: 403, message: /cannot/ }, what)
  for (const secret of ['tintype-dispatch-key', `${STORE}-root`])
    t.equal((await kubectl(['get', 'secret', secret])).code, 0, `${secret} is there`)
})

t.test('a runner’s token has exactly one permission more than every service account', async (t) => {
  const { pod } = await holdClaim(t)
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace: NAMESPACE } }
  const [answer] = await callAsPod(pod, [{ path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', method: 'POST', body }])
  const { resourceRules } = (answer?.body.status ?? {}) as { resourceRules: { resources: string[]; verbs: string[] }[] }
  const own = resourceRules.filter(({ resources }) => !resources.some((resource) => resource.startsWith('selfsubject')))
  t.match(own, [{ resources: ['screenshots/status'], verbs: ['patch'] }])
  t.equal(own.length, 1)
})
