// The price of the policy on who writes a status: processor time of an API server with the policy, and of one without it, for the same claims and reports.
// The writes go to both in turns, so that other work of the machine slows both.

import { buildReport } from '../../../capture-runner/src/server/report.ts'
import { validatingAdmissionPolicyBindings } from '../../../crds/client/core-resources.ts'
import { screenshots } from '../../../crds/client/kinds.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { installRelease, NAMESPACE, toClusterName } from '../../integration/admission/release.ts'
import type { Ends } from '../../support/processes/own-plane.ts'
import { daemonOf, readProcessor } from '../harness/processes.ts'
import type { Report } from '../harness/scenario.ts'
import { median } from '../harness/statistics.ts'
import { withEnds } from '../harness/undo.ts'

const POLICY = 'tintype-trusted-status'
const ROUNDS = 12
const WRITES = 400
const KINDS = ['claim', 'report'] as const
type Kind = (typeof KINDS)[number]

/** Measures both kinds of writes. */
export const measureStatusPrice = ({ note, progress }: Report): Promise<void> =>
  withEnds(async (ends) => {
    const sides = { with: await startSide(ends, true), without: await startSide(ends, false) }
    const found = { claim: { with: [] as number[], without: [] as number[] }, report: { with: [] as number[], without: [] as number[] } }
    // The first round warms both up.
    for (let round = 0; round <= ROUNDS; round++) {
      const names = Array.from({ length: WRITES }, (_, number) => `round-${round}-${number}`)
      for (const side of Object.values(sides)) await side.create(names)
      for (const kind of KINDS) {
        const before = { with: sides.with.used(), without: sides.without.used() }
        for (const name of names) for (const side of Object.values(sides)) await side.write(kind, name)
        for (const side of ['with', 'without'] as const) if (round > 0) found[kind][side].push((sides[side].used() - before[side]) / WRITES)
      }
      progress(`round ${round} of ${ROUNDS}`)
    }
    for (const kind of KINDS) {
      const { with: guarded, without } = found[kind]
      const show = (summary: (values: number[]) => number) => `${summary(guarded).toFixed(2)} with, ${summary(without).toFixed(2)} without`
      note(
        `API server milliseconds of a ${kind} with the policy ${POLICY} and without it, ${ROUNDS} rounds of ${WRITES}`,
        `minimum ${show((values) => Math.min(...values))}; median ${show(median)}`,
      )
    }
  })

/** An API server with its own objects. */
async function startSide(ends: Ends, isGuarded: boolean) {
  const release = await installRelease(ends)
  if (!isGuarded) await new Resource(release.admin, validatingAdmissionPolicyBindings).delete(toClusterName(POLICY))
  const runner = await release.asPod('tintype-capture-runner', 'default-1')
  const operator = await release.asPod('tintype-operator', 'operator-1')
  const admin = new Resource(release.admin, screenshots)
  const [asOperator, asRunner] = [operator, runner].map(({ http }) => new Resource(http, screenshots)) as [typeof admin, typeof admin]
  const claim = {
    phase: 'Running' as const,
    runner: runner.pod,
    attempt: 1,
    startTime: at,
    conditions: [condition('Succeeded', 'Unknown')],
  }
  const result = { format: 'png' as const, fileSizeBytes: 100, etag: 'x', width: 10, height: 10, httpStatus: 200 }
  const outcome = { phase: 'Completed' as const, result, conditions: [condition('Succeeded', 'True'), condition('Finished', 'True')] }
  const orderOf = (name: string) => ({ name, namespace: NAMESPACE, podUid: runner.pod.uid, attempt: 1 })
  const inStatus = { subresource: 'status' } as const
  const writes: Record<Kind, (name: string) => Promise<unknown>> = {
    claim: (name) => asOperator.patch(name, mergePatch({ status: claim }), inStatus),
    report: (name) => asRunner.patch(name, buildReport(orderOf(name), outcome, new Date()), inStatus),
  }
  const apiServer = daemonOf(release.plane.directory, 'kube-apiserver')
  return {
    used: () => readProcessor({ apiServer: [apiServer] }).apiServer,
    write: (kind: Kind, name: string) => writes[kind](name),
    create: async (names: readonly string[]) => {
      for (const name of names) await admin.create({ metadata: { name }, spec: { url: 'https://example.com/' } })
    },
  }
}

const at = '2026-01-01T00:00:00Z'
const condition = (type: string, status: 'Unknown' | 'True') => {
  return { type, status, reason: 'Captured', message: 'the capture', lastTransitionTime: at }
}
