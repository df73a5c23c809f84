// The price of the policy on who writes a status: processor time of the API server for claims and reports, with the policy and without it in turns.

import { buildReport } from '../../../capture-runner/src/server/report.ts'
import { validatingAdmissionPolicyBindings } from '../../../crds/client/core-resources.ts'
import { screenshots, webhooks } from '../../../crds/client/kinds.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { undoing } from '../../bench/report/undo.ts'
import { findDaemon, readProcessor } from '../../bench/rest/processor.ts'
import { installRelease, NAMESPACE, type Release } from '../../integration/admission/release.ts'
import { eventually } from '../../support/eventually.ts'
import { type Finding, holds } from '../part.ts'
import { newCleanupStack } from './ends.ts'

const POLICY = 'tintype-trusted-status'
const ROUNDS = 8
const WRITES = 400
const KINDS = ['claim', 'report'] as const
type Milliseconds = Record<(typeof KINDS)[number], number[]>

/** Measures both writes in turns. */
export async function measureStatusPrice(progress: (line: string) => void): Promise<Finding[]> {
  const cleanupStack = newCleanupStack()
  return undoing(cleanupStack.endAll, async () => {
    const release = await installRelease(cleanupStack, { fsync: true })
    const round = await prepareRounds(release)
    const found = { with: { claim: [], report: [] } as Milliseconds, without: { claim: [], report: [] } as Milliseconds }
    await round('warm-up')
    for (let count = 0; count < 2 * ROUNDS; count++) {
      const isGuarded = count % 2 === 0
      await setPolicy(release, isGuarded)
      const used = await round(`round-${count}`)
      for (const kind of KINDS) found[isGuarded ? 'with' : 'without'][kind].push(used[kind])
      progress(`round ${count + 1} of ${2 * ROUNDS}, ${isGuarded ? 'with' : 'without'} the policy: ${used.claim} and ${used.report} ms`)
    }
    const least = (values: number[]) => Math.min(...values).toFixed(2)
    return KINDS.map((kind) =>
      holds(
        `API server milliseconds of a ${kind}, minimum of ${ROUNDS} rounds of ${WRITES}`,
        true,
        `${least(found.with[kind])} with the policy ${POLICY}, ${least(found.without[kind])} without`,
      ),
    )
  })
}

/** Returns a function that claims and reports new Screenshots, and returns the milliseconds of the API server for each write. */
async function prepareRounds(release: Release) {
  const runner = await release.asPod('tintype-capture-runner', 'default-1')
  const operator = await release.asPod('tintype-operator', 'operator-1')
  const admin = new Resource(release.admin, screenshots)
  const [asOperator, asRunner] = [operator, runner].map(({ http }) => new Resource(http, screenshots)) as [typeof admin, typeof admin]
  const apiServer = findDaemon(release, 'kube-apiserver')
  return async (name: string) => {
    const names = Array.from({ length: WRITES }, (_, number) => `${name}-${number}`)
    for (const each of names) await admin.create({ metadata: { name: each }, spec: { url: 'https://example.com/' } })
    const measure = async (write: (name: string) => Promise<unknown>): Promise<number> => {
      const before = readProcessor([apiServer])
      for (const each of names) await write(each)
      return (readProcessor([apiServer]) - before) / WRITES
    }
    const claim = { phase: 'Running' as const, runner: runner.pod, attempt: 1, startTime: at, conditions: conditionsOf('Unknown') }
    const result = { format: 'png' as const, fileSizeBytes: 100, etag: 'x', width: 10, height: 10, httpStatus: 200 }
    const outcome = { phase: 'Completed' as const, result, conditions: conditionsOf('True') }
    const order = (name: string) => ({ name, namespace: NAMESPACE, podUid: runner.pod.uid, attempt: 1 })
    const inStatus = { subresource: 'status' } as const
    return {
      claim: await measure((name) => asOperator.patch(name, mergePatch({ status: claim }), inStatus)),
      report: await measure((name) => asRunner.patch(name, buildReport(order(name), outcome, new Date()), inStatus)),
    }
  }
}

const at = '2026-01-01T00:00:00Z'
const conditionsOf = (status: 'Unknown' | 'True') =>
  (status === 'True' ? ['Succeeded', 'Finished'] : ['Succeeded']).map((type) => {
    return { type, status, reason: 'Captured', message: 'the capture', lastTransitionTime: at }
  })

/** Adds or removes the binding of the policy, and waits until the API server knows. */
async function setPolicy(release: Release, isWanted: boolean): Promise<void> {
  const bindings = new Resource(release.admin, validatingAdmissionPolicyBindings)
  const isThere = (await bindings.find(POLICY)) !== undefined
  if (isWanted && !isThere) await bindings.create({ metadata: { name: POLICY }, spec: { policyName: POLICY, validationActions: ['Deny'] } })
  if (!isWanted && isThere) await bindings.delete(POLICY)
  const probe = await prober(release)
  await eventually('the API server knows the policy', async () => (await probe()) === isWanted)
}

let probes: Promise<() => Promise<boolean>> | undefined
/** A user whose write is refused while the policy is in force. */
const prober = (release: Release): Promise<() => Promise<boolean>> => {
  probes ??= (async () => {
    await new Resource(release.admin, webhooks).create({
      metadata: { name: 'probe' },
      spec: { url: 'https://example.com/', events: ['screenshot.completed'] },
    })
    await release.permit('probe', 'probe', { resources: ['webhooks/status'], verbs: ['patch'] })
    const hooks = new Resource(await release.asUser('probe'), webhooks)
    return async () => {
      const patched = await hooks
        .patch('probe', mergePatch({ status: { url: String(Date.now()) } }), { subresource: 'status' })
        .catch((error: Error) => error)
      return patched instanceof Error && patched.message.includes('verb repair')
    }
  })()
  return probes
}
