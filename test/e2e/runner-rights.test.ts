import t, { type Test } from 'tap'
import { buildReport } from '../../capture-runner/src/server/report.ts'
import { API_VERSION } from '../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../crds/src/kinds/screenshot.ts'
import { createPool, idleRunners } from '../support/cluster/pools.ts'
import { type ApiRequest, callAsPod } from '../support/cluster/runner-exec.ts'
import { claimed, createScreenshot, screenshotOf } from '../support/cluster/screenshots.ts'
import { NAMESPACE } from '../support/cluster/tested-release.ts'
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
const MERGE_PATCH = 'application/merge-patch+json'

/** The report that the runner would send (`buildReport`). */
function report({ name, uid, shot }: Claim): ApiRequest {
  const conditions = ['Succeeded', 'Finished'].map((type) => {
    const at = new Date().toISOString()
    return { type, status: 'True' as const, reason: 'Captured', message: 'captured', lastTransitionTime: at }
  })
  const result = { format: 'png' as const, fileSizeBytes: 100, etag: 'x', width: 64, height: 64 }
  const claim = { namespace: NAMESPACE, name, podUid: uid, attempt: shot.status?.attempt ?? 1 }
  const { body, contentType } = buildReport(claim, { phase: 'Completed', result, conditions }, new Date())
  return { method: 'PATCH', path: `${screenshots}/${name}/status`, body: body as object[], contentType }
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

t.test('a runner’s token has exactly one permission more than every service account', async (t) => {
  const { pod } = await holdClaim(t)
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace: NAMESPACE } }
  const [answer] = await callAsPod(pod, [{ path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', method: 'POST', body }])
  const { resourceRules } = (answer?.body.status ?? {}) as { resourceRules: { resources: string[]; verbs: string[] }[] }
  const own = resourceRules.filter(({ resources }) => !resources.some((resource) => resource.startsWith('selfsubject')))
  t.match(own, [{ resources: ['screenshots/status'], verbs: ['patch'] }])
  t.equal(own.length, 1)
})
