import { DEFAULT_VIDEO_POOL } from '@tintype/crds/identifiers/names'
import type { Account } from '@tintype/crds/kinds/account'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { findPlan } from '@tintype/crds/usage/plans'
import { findAccount } from '../../kube/find-account.ts'
import { PHASE_INDEX } from '../../runner/runners.ts'
import { canRecordIn } from '../../scheduling/account-limits.ts'
import { isCharged } from '../quota/decide.ts'
import { NO_ACCOUNT, PENDING_INDEX, type PendingContext } from './context.ts'
import type { Obstacle, PendingLimits, PendingScreenshot } from './decide.ts'

const MISSING_POOL = { code: 'POOL_NOT_FOUND', reason: 'PoolNotFound' } as const
const MISSING_ACCOUNT = { code: 'ACCOUNT_NOT_FOUND', reason: 'AccountNotFound' } as const

export interface Observed {
  waiting: PendingScreenshot[]
  limits: PendingLimits
  /** True when archiving is behind. Failed Screenshots must be archived, and more of them would make the gateways reject all requests. */
  isArchiveBehind: boolean
}

/** Collects the input of decide from the informer caches. */
export function observe(key: string, context: PendingContext): Observed {
  return { waiting: waitingOf(key, context), limits: limitsOf(key, context), isArchiveBehind: isArchiveBehind(context) }
}

function waitingOf(key: string, context: PendingContext): PendingScreenshot[] {
  const { lister } = context.reflectors.screenshots
  const accounts = key === NO_ACCOUNT ? lister.indexValues(PENDING_INDEX).filter((account) => !accountNamed(account, context)) : [key]
  return accounts
    .flatMap((account) => lister.byIndex(PENDING_INDEX, account))
    .map((shot) => ({ shot, obstacle: obstacleOf(shot, context) }))
}

function obstacleOf(shot: Screenshot, context: PendingContext): Obstacle | undefined {
  const { charges, poolOf, reflectors, config } = context
  const account = accountOf(shot)
  if (charges && !isCharged(shot) && !accountNamed(account, context))
    return {
      ...MISSING_ACCOUNT,
      message: `Account ${account} does not exist, or was deleted. Create it, or create the Screenshot with another spec.accountName.`,
    }
  const pool = poolOf(shot)
  const object = reflectors.pools.lister.get(`${config.namespace}/${pool}`)
  if (!object) return { ...MISSING_POOL, message: missingPool(shot, pool) }
  if (canRecordIn(shot, object)) return undefined
  return {
    code: 'VIDEO_UNAVAILABLE',
    message: `RunnerPool ${pool} does not record videos. Leave out spec.poolName, or set spec.video of the pool to true and its image to capture-runner-video.`,
  }
}

function missingPool({ spec }: Screenshot, pool: string): string {
  const remedy = `RunnerPool ${pool} does not exist. Create it, or create the Screenshot with another spec.poolName.`
  const isDefault = spec.poolName === undefined && pool === DEFAULT_VIDEO_POOL
  return isDefault ? `${remedy} The value runner.video.enabled of the chart creates it.` : remedy
}

function limitsOf(key: string, context: PendingContext): PendingLimits {
  const { plans, queue } = context.config
  const plan = accountNamed(key, context)?.spec.plan
  return {
    maxQueued: (plan === undefined ? undefined : findPlan(plans, plan)?.maxQueued) ?? queue.maxQueuedPerAccount,
    unrunnableMilliseconds: queue.unrunnableMilliseconds,
  }
}

function isArchiveBehind({ reflectors, config }: PendingContext): boolean {
  const { lister } = reflectors.screenshots
  return lister.countByIndex(PHASE_INDEX, 'Completed') + lister.countByIndex(PHASE_INDEX, 'Failed') >= config.retention.maxLive
}

const accountNamed = (name: string, { reflectors, config }: Pick<PendingContext, 'reflectors' | 'config'>): Account | undefined =>
  findAccount(`${config.namespace}/${name}`, reflectors.accounts.lister)

/** The key under which the Screenshots of an account are reconciled. */
export const keyFor = (account: string, context: Pick<PendingContext, 'reflectors' | 'config'>): string =>
  accountNamed(account, context) ? account : NO_ACCOUNT
