// rbac: tintype.dev/screenshots list,watch
// rbac: tintype.dev/webhooks list,watch
// rbac: tintype.dev/accounts get,list,watch

/**
 * This controller observes finished Screenshots and the bucket. Its keys are three chores, which it requeues periodically; it watches
 * nothing. `archive` moves records to the bucket and deletes their Screenshots. After a full batch it follows at once. `rewrite` joins
 * archived segments and removes deleted records from them. `expire` deletes files and records after their retention, and the data of
 * deleted accounts.
 */

import { instrumentsOf } from '@tintype/crds/client/probe-server'
import type { KeyRing } from '@tintype/crds/crypto/signatures'
import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { toObjectName } from '@tintype/crds/identifiers/names'
import { accountOf } from '@tintype/crds/records/record'
import type { Registry } from 'prom-client'
import type { Reconcile, Requeue } from '../../controller-runtime/controller.ts'
import { ACCOUNT_INDEX, type Reflectors } from '../../kube/reflectors.ts'
import { PHASE_INDEX } from '../../runner/runners.ts'
import { createController, type Deps, inTerm, type StartedWork, startControllers, type TermDeps, type Work } from '../../runtime/deps.ts'
import { archive } from './archive.ts'
import { decide, isFullBatch } from './decide.ts'
import { DeletedAccounts, ownedKind } from './deleted-accounts.ts'
import { type ExpireDeps, expire } from './expire.ts'
import { rewrite } from './rewrite.ts'

/** Milliseconds between two rounds of each chore. After a full batch the next round follows at once. */
interface RetentionIntervals {
  archive: number
  rewrite: number
  expire: number
}

const HOUR_MILLISECONDS = 3_600_000
const MAX_ARCHIVE_MILLISECONDS = 5_000
const MIN_EXPIRE_MILLISECONDS = 1_000

const intervalsFor = ({ liveForMilliseconds, accountGraceMilliseconds }: Deps['config']['retention']): RetentionIntervals => ({
  archive: Math.min(MAX_ARCHIVE_MILLISECONDS, liveForMilliseconds / 10),
  rewrite: HOUR_MILLISECONDS,
  expire: Math.min(HOUR_MILLISECONDS, Math.max(MIN_EXPIRE_MILLISECONDS, accountGraceMilliseconds)),
})
const CHORES = ['archive', 'rewrite', 'expire'] as const
/** Timeout of one round. The next round continues. */
const ROUND_MILLISECONDS = 300_000

/** Creates the controller. Call it once per process. */
export function createRetentionController(deps: Deps, intervals = intervalsFor(deps.config.retention)): Work {
  const metrics = createRetentionMetrics(deps.registry)
  const { screenshots, schedules, webhooks, apiKeys } = deps.reflectors
  screenshots.lister.addIndex(ACCOUNT_INDEX, accountOf)
  schedules.lister.addIndex(ACCOUNT_INDEX, accountOf)
  webhooks.lister.addIndex(ACCOUNT_INDEX, accountOf)
  apiKeys.lister.addIndex(ACCOUNT_INDEX, accountOf)
  const log = deps.log.child({ component: 'retention' })
  return { start: (term) => startTerm({ ...inTerm({ ...deps, log }, term), intervals, metrics, ring: deps.keys.downloadKeys }) }
}

/** What the chores use during one term. */
interface RetentionContext extends TermDeps {
  intervals: RetentionIntervals
  metrics: ReturnType<typeof createRetentionMetrics>
  ring: KeyRing
}

function startTerm(context: RetentionContext): StartedWork {
  const { mayStart, metrics, now } = context
  const chores = buildChores(context)
  const mayContinueUntil = (signal: AbortSignal) => () => !signal.aborted && mayStart()
  const runChore: Reconcile = async (chore, signal) => {
    const requeue = await chores[chore]?.(mayContinueUntil(signal))
    metrics.lastRound.set({ chore }, now().getTime() / 1_000)
    return requeue
  }
  const options = { workers: CHORES.length, timeoutMilliseconds: ROUND_MILLISECONDS }
  const controller = createController('retention', options, runChore, context)
  for (const chore of CHORES) controller.enqueue(chore)
  return startControllers([controller])
}

type Chores = Record<string, (mayContinue: () => boolean) => Promise<Requeue>>

function buildChores(context: RetentionContext): Chores {
  const { config, clients, reflectors, intervals, now } = context
  const { plans, retention } = config
  const termStart = now()
  const gone = new DeletedAccounts({
    ...context,
    graceMilliseconds: retention.accountGraceMilliseconds,
    kinds: [
      // Schedules first, so that they create no further Screenshots.
      ownedKind(reflectors.schedules.lister, clients.schedules),
      ownedKind(reflectors.screenshots.lister, clients.screenshots),
      ownedKind(reflectors.apiKeys.lister, clients.apiKeys),
      ownedKind(reflectors.webhooks.lister, clients.webhooks),
    ],
  })
  const lookups = { ...accountLookups(context), ...schedulesOf(reflectors) }
  return {
    async archive(mayContinue) {
      const { lister } = reflectors.screenshots
      const finished = [...lister.byIndex(PHASE_INDEX, 'Completed'), ...lister.byIndex(PHASE_INDEX, 'Failed')]
      const chosen = decide({ finished, termStart }, retention, now())
      await archive(chosen, { ...context, mayContinue })
      return { requeueAfterMilliseconds: isFullBatch(chosen) ? 0 : intervals.archive }
    },
    async rewrite(mayContinue) {
      await rewrite({ ...context, mayContinue })
      return { requeueAfterMilliseconds: intervals.rewrite }
    },
    async expire(mayContinue) {
      await expire({ ...context, ...lookups, mayContinue, gone, plans, recordDays: retention.recordDays })
      return { requeueAfterMilliseconds: intervals.expire }
    },
  }
}

/** What still needs the pictures and options of schedules. */
const schedulesOf = ({ schedules, screenshots }: Reflectors): Pick<ExpireDeps, 'schedules' | 'optionsOfRuns'> => ({
  schedules: () => schedules.lister.list().map((schedule) => ({ ...schedule.metadata, account: accountOf(schedule) })),
  optionsOfRuns: () =>
    ['Pending', 'Running'].flatMap((phase) =>
      screenshots.lister.byIndex(PHASE_INDEX, phase).flatMap(({ spec }) => (spec.scheduleRef && spec.optionsObject) ?? []),
    ),
})

function accountLookups({ config, clients, reflectors }: TermDeps): Pick<ExpireDeps, 'findAccount' | 'isAccountGone' | 'findLive'> {
  const { namespace } = config
  return {
    findAccount: (name) => reflectors.accounts.lister.get(`${namespace}/${name}`),
    isAccountGone: async (name) => (await clients.accounts.find(name)) === undefined,
    findLive: (account, id) => {
      const live = reflectors.screenshots.lister.get(`${namespace}/${toObjectName(id)}`)
      return live && accountOf(live) === account && screenshotIdOf(live.metadata) === id ? live : undefined
    },
  }
}

/** Creates the metrics. Call it once per process. */
function createRetentionMetrics(registry: Registry) {
  const { counter, gauge } = instrumentsOf(registry)
  return {
    archived: counter('screenshot_archived_total', 'Records moved from the Kubernetes API to the bucket.'),
    lastRound: gauge(
      'screenshot_retention_last_round_timestamp_seconds',
      'Time at which a retention chore (archive, rewrite, expire) last finished.',
      ['chore'],
    ),
  }
}
