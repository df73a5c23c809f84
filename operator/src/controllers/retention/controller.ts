// rbac: tintype.dev/screenshots list,watch
// rbac: tintype.dev/webhooks list,watch
// rbac: tintype.dev/accounts get,list,watch

/**
 * This controller observes finished Screenshots and the bucket. Its keys are three chores, which it requeues periodically; it watches
 * nothing. `archive` moves records to the bucket and deletes their Screenshots. After a full batch it follows at once. `rewrite` joins
 * archived segments and removes deleted records from them. `expire` deletes files and records after their retention, and the data of
 * deleted accounts.
 */

import {
  accounts as accountKind,
  apiKeys as apiKeyKind,
  screenshotSchedules as scheduleKind,
  screenshots as screenshotKind,
  webhooks as webhookKind,
} from '@tintype/crds/client/kinds'
import { Resource } from '@tintype/crds/client/resource'
import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { toObjectName } from '@tintype/crds/identifiers/names'
import { accountOf } from '@tintype/crds/records/record'
import type { Reconcile, Requeue } from '../../controller-runtime/controller.ts'
import { ACCOUNT_INDEX } from '../../kube/account-index.ts'
import type { Reflectors } from '../../kube/reflectors.ts'
import { PHASE_INDEX } from '../../runner/runners.ts'
import { createController, type Deps, type StartedWork, startControllers, type TermDeps, type Work } from '../../runtime/deps.ts'
import { type ArchiveDeps, archive } from './archive.ts'
import { decide, isFullBatch } from './decide.ts'
import { DeletedAccounts, ownedKind } from './deleted-accounts.ts'
import { type ExpireDeps, expire } from './expire.ts'
import { createRetentionMetrics, type RetentionMetrics } from './metrics.ts'
import { rewrite } from './rewrite.ts'

/** Milliseconds between two rounds of each chore. After a full batch the next round follows at once. */
export interface RetentionIntervals {
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
  deps.reflectors.webhooks.lister.addIndex(ACCOUNT_INDEX, accountOf)
  deps.reflectors.screenshots.lister.addIndex(ACCOUNT_INDEX, accountOf)
  deps.reflectors.apiKeys.lister.addIndex(ACCOUNT_INDEX, accountOf)
  deps.reflectors.schedules.lister.addIndex(ACCOUNT_INDEX, accountOf)
  return { start: (term) => startTerm({ ...deps, ...term }, intervals, metrics) }
}

function startTerm(deps: TermDeps, intervals: RetentionIntervals, metrics: RetentionMetrics): StartedWork {
  const log = deps.log.child({ component: 'retention' })
  const now = () => new Date(deps.clock.wall())
  const chores = buildChores({ ...deps, log }, { intervals, metrics, now })
  const mayContinueUntil = (signal: AbortSignal) => () => !signal.aborted && deps.mayStart()
  const runChore: Reconcile = async (chore, signal) => {
    const requeue = await chores[chore]?.(mayContinueUntil(signal))
    metrics.lastRound.set({ chore }, now().getTime() / 1_000)
    return requeue
  }
  const options = { workers: CHORES.length, timeoutMilliseconds: ROUND_MILLISECONDS }
  const controller = createController('retention', options, runChore, { ...deps, log })
  for (const chore of CHORES) controller.enqueue(chore)
  return startControllers([controller])
}

type Chores = Record<string, (mayContinue: () => boolean) => Promise<Requeue>>

interface ChoreOptions {
  intervals: RetentionIntervals
  metrics: RetentionMetrics
  now: () => Date
}

function buildChores(deps: TermDeps, { intervals, metrics, now }: ChoreOptions): Chores {
  const { config, http, storage, reflectors, keys, report, log, archiving } = deps
  const { namespace, plans, retention } = config
  const observe = finishedObserver(deps, now())
  const screenshots = new Resource(http, screenshotKind, { namespace })
  const shared = { storage, log, now, ring: keys.downloadKeys, report }
  const archiveDeps: Omit<ArchiveDeps, 'mayContinue'> = {
    ...shared,
    screenshots,
    seen: reflectors.screenshots,
    archiving,
    onArchived: (count) => metrics.archived.inc(count),
  }
  const gone = new DeletedAccounts({
    ...shared,
    graceMilliseconds: config.retention.accountGraceMilliseconds,
    kinds: [
      // Schedules first, so that they create no further Screenshots.
      ownedKind(reflectors.schedules.lister, ACCOUNT_INDEX, new Resource(http, scheduleKind, { namespace })),
      ownedKind(reflectors.screenshots.lister, ACCOUNT_INDEX, screenshots),
      ownedKind(reflectors.apiKeys.lister, ACCOUNT_INDEX, new Resource(http, apiKeyKind, { namespace })),
      ownedKind(reflectors.webhooks.lister, ACCOUNT_INDEX, new Resource(http, webhookKind, { namespace })),
    ],
  })
  const lookups = accountLookups(deps)
  return {
    async archive(mayContinue) {
      const chosen = decide(observe(), retention, now())
      await archive(chosen, { ...archiveDeps, mayContinue })
      return { requeueAfterMilliseconds: isFullBatch(chosen) ? 0 : intervals.archive }
    },
    async rewrite(mayContinue) {
      await rewrite({ ...shared, mayContinue })
      return { requeueAfterMilliseconds: intervals.rewrite }
    },
    async expire(mayContinue) {
      await expire({ ...shared, ...lookups, ...schedulesOf(reflectors), mayContinue, gone, plans, recordDays: retention.recordDays })
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

/** Returns a function that collects the input of decide from the informer caches. */
function finishedObserver({ reflectors }: Pick<Deps, 'reflectors'>, termStart: Date) {
  const { lister } = reflectors.screenshots
  return () => ({
    finished: [...lister.byIndex(PHASE_INDEX, 'Completed'), ...lister.byIndex(PHASE_INDEX, 'Failed')],
    termStart,
  })
}

function accountLookups({ config, http, reflectors }: TermDeps): Pick<ExpireDeps, 'findAccount' | 'isAccountGone' | 'findLive'> {
  const { namespace } = config
  const accounts = new Resource(http, accountKind, { namespace })
  return {
    findAccount: (name) => reflectors.accounts.lister.get(`${namespace}/${name}`),
    isAccountGone: async (name) => (await accounts.find(name)) === undefined,
    findLive: (account, id) => {
      const live = reflectors.screenshots.lister.get(`${namespace}/${toObjectName(id)}`)
      return live && accountOf(live) === account && screenshotIdOf(live.metadata) === id ? live : undefined
    },
  }
}
