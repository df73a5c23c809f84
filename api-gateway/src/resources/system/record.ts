import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Account } from '@tintype/crds/kinds/account'
import { poolDefaults, poolOf, type RunnerPool } from '@tintype/crds/kinds/runner-pool'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { type Condition, ConditionType, findCondition } from '@tintype/crds/schema/conditions'
import { count } from '@tintype/crds/schema/fields'
import { findPlan, type Plans } from '@tintype/crds/usage/plans'
import { z } from 'zod'
import { dataBody, instantField, isoOrNull } from '../../http/fields.ts'

const state = z.boolean().nullable()

const Pool = z.object({
  name: z.string(),
  ready: state.describe('True when the pool has a runner that takes captures. Null before the operator has said so.'),
  reason: z.string().nullable().describe('Reason of `ready`.'),
  message: z.string().nullable().describe('Explanation of `ready`.'),
  problem: z
    .object({ reason: z.string(), message: z.string() })
    .nullable()
    .describe('Why the pool does not have the runners that it needs, such as AtMaximum: captures wait, and it has `max_pods` runners.'),
  sandboxed: state.describe('False when the nodes allow no sandbox around the browser.'),
  records_videos: z.boolean(),
  min_idle: count('Minimum number of idle runners.'),
  max_pods: count('Maximum number of runners.'),
  pods: count('Runners that exist.'),
  idle: count('Runners without a capture.'),
  busy: count('Runners with a capture.'),
  queued: count('Captures that wait for a runner of the pool.'),
})

const Runner = z.object({
  pod: z.string(),
  screenshot_id: z.string(),
  account: z.string(),
  started_at: instantField.nullable(),
})

const PlanQueue = z.object({
  pool: z.string().describe('Pool that captures them.'),
  plan: z.string().nullable().describe('Null: the account does not exist.'),
  accounts: count('Accounts with queued or running captures.'),
  queued: count('Captures that wait for a runner.'),
  running: count('Captures that run.'),
})

const Failure = z.object({ code: z.string(), count: count('Failed captures with this code.') })

/** Body of GET /system. */
export const SystemReport = dataBody(
  'System',
  z.object({
    pools: z.array(Pool),
    runners: z.array(Runner).describe('Runners with a capture, the longest first, at most 500.'),
    queue: z.array(PlanQueue).describe('The queue by pool and plan.'),
    recent: z
      .object({
        completed: count('Completed captures.'),
        failed: count('Failed captures.'),
        failures: z.array(Failure).describe('Failed captures by code, the most frequent first.'),
      })
      .describe('Finished captures that are not archived yet: those of about the last hour.'),
  }),
  'State of the whole service.',
)
type SystemData = z.infer<typeof SystemReport>['data']

const MAX_RUNNERS = 500

const stateOf = (condition: Condition | undefined): boolean | null =>
  condition === undefined || condition.status === 'Unknown' ? null : condition.status === 'True'

function toPool(pool: RunnerPool): SystemData['pools'][number] {
  const { metadata, spec, status = {} } = pool
  const [ready, scaled] = [ConditionType.ready, ConditionType.scaled].map((type) => findCondition(status.conditions, type))
  return {
    name: metadata.name,
    ready: stateOf(ready),
    reason: ready?.reason ?? null,
    message: ready?.message ?? null,
    problem: scaled?.status === 'False' ? { reason: scaled.reason, message: scaled.message } : null,
    sandboxed: stateOf(findCondition(status.conditions, ConditionType.sandboxed)),
    records_videos: spec.video ?? false,
    min_idle: spec.minIdle ?? poolDefaults.minIdle,
    max_pods: spec.maxPods ?? poolDefaults.maxPods,
    pods: status.replicas ?? 0,
    idle: status.idle ?? 0,
    busy: status.busy ?? 0,
    queued: status.queued ?? 0,
  }
}

const isRunning = ({ status }: Screenshot): boolean => status?.phase === 'Running'

function toRunners(screenshots: readonly Screenshot[]): SystemData['runners'] {
  return screenshots
    .filter(isRunning)
    .map((shot) => ({
      pod: shot.status?.runner?.pod ?? '',
      screenshot_id: screenshotIdOf(shot.metadata),
      account: accountOf(shot),
      started_at: isoOrNull(shot.status?.startTime),
    }))
    .sort((a, b) => ((a.started_at ?? '') < (b.started_at ?? '') ? -1 : 1))
    .slice(0, MAX_RUNNERS)
}

type FindAccount = (name: string) => Account | undefined

function toQueue(screenshots: readonly Screenshot[], findAccount: FindAccount, plans: Plans): SystemData['queue'] {
  const entries = new Map<string, SystemData['queue'][number] & { names: Set<string> }>()
  for (const shot of screenshots) {
    if (isFinished(shot)) continue
    const account = accountOf(shot)
    const plan = findAccount(account)?.spec.plan ?? null
    const pool = poolOf(shot.spec, plan === null ? undefined : findPlan(plans, plan)?.poolName)
    const key = `${pool}/${plan ?? ''}`
    const entry = entries.get(key) ?? { pool, plan, accounts: 0, queued: 0, running: 0, names: new Set() }
    entry.accounts = entry.names.add(account).size
    entry[isRunning(shot) ? 'running' : 'queued']++
    entries.set(key, entry)
  }
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { names: _, ...entry }]) => entry)
}

function toRecent(screenshots: readonly Screenshot[]): SystemData['recent'] {
  const codes = new Map<string, number>()
  let completed = 0
  for (const { status } of screenshots) {
    if (status?.phase === 'Completed') completed++
    if (status?.phase !== 'Failed') continue
    const code = status.result?.error?.code ?? 'INTERNAL_ERROR'
    codes.set(code, (codes.get(code) ?? 0) + 1)
  }
  const failures = [...codes]
    .map(([code, found]) => ({ code, count: found }))
    .sort((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1))
  return { completed, failed: failures.reduce((sum, { count: found }) => sum + found, 0), failures }
}

/** The state of the service, from all pools and all Screenshots in the Kubernetes API. */
export const toSystemReport = (
  pools: readonly RunnerPool[],
  screenshots: readonly Screenshot[],
  findAccount: FindAccount,
  plans: Plans,
) => ({
  success: true,
  data: {
    pools: pools.map(toPool).sort((a, b) => (a.name < b.name ? -1 : 1)),
    runners: toRunners(screenshots),
    queue: toQueue(screenshots, findAccount, plans),
    recent: toRecent(screenshots),
  },
})
