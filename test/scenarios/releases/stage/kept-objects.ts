import { accounts, accountUsages, apiKeys, runnerPools, screenshotSchedules, screenshots, webhooks } from '../../../../crds/client/kinds.ts'
import { isNotFound } from '../../../../crds/client/kube-error.ts'
import { Resource } from '../../../../crds/client/resource.ts'
import type { Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import { findCondition } from '../../../../crds/src/schema/conditions.ts'
import { eventually } from '../../../support/eventually.ts'
import { QUADRANTS } from '../../cluster/stage/cluster-objects.ts'
import type { Trial } from './trial-release.ts'

// One object of each kind that a release stores, for the scenario that upgrades it. The installation creates the first Account with its usage, an ApiKey
// and a RunnerPool.

const NAME = 'kept'
const HOOK = 'https://example.com/'
/** Until 1230566b archives a record whose events cannot be delivered: its three attempts take over five minutes. */
const LONG_MILLISECONDS = 600_000

const findShot = ({ shots }: Trial): Promise<Screenshot | undefined> => shots.find(NAME)

/** Settings with which finished Screenshots are archived at once. */
export const ARCHIVE_AT_ONCE = ['--set', 'retention.liveMinimumSeconds=0,retention.liveForSeconds=1']

/**
 * Creates the objects. The release must run with {@link ARCHIVE_AT_ONCE}: the Screenshot is archived and applied again, so that it takes the result of its
 * record. A Webhook and a URL of its own receive its events.
 */
export async function createKept(trial: Trial): Promise<void> {
  const { http } = trial
  await new Resource(http, webhooks).create({
    metadata: { name: NAME },
    spec: { url: HOOK, events: ['screenshot.queued', 'screenshot.completed', 'screenshot.failed'] },
  })
  await new Resource(http, accounts).create({ metadata: { name: NAME }, spec: { plan: 'basic' } })
  await new Resource(http, screenshotSchedules).create({
    metadata: { name: NAME },
    spec: { schedule: '* * * * *', template: { url: QUADRANTS }, comparison: {} },
  })
  const apply = () => trial.shots.create({ metadata: { name: NAME }, spec: { url: QUADRANTS, webhookUrl: `${HOOK}own` } })
  await apply()
  await eventually('the Screenshot is archived', async () => (await findShot(trial)) === undefined, LONG_MILLISECONDS)
  await apply()
  await eventually('it shows its record', async () => (await findShot(trial))?.status?.restoredFrom !== undefined, LONG_MILLISECONDS)
}

/** What a release does not have any more, or does not process, even after a while: runners start slowly beside others. Empty: every object works. */
export async function findLost(trial: Trial): Promise<string[]> {
  let lost: string[] = []
  const works = async () => {
    lost = await findLostNow(trial)
    return lost.length === 0
  }
  await eventually('every object works', works, LONG_MILLISECONDS).catch(() => {})
  return lost
}

async function findLostNow({ shots, http }: Trial): Promise<string[]> {
  const [shot, schedule, hook, account, usages, keys, pools] = await Promise.all([
    shots.find(NAME),
    new Resource(http, screenshotSchedules).find(NAME),
    new Resource(http, webhooks).find(NAME),
    new Resource(http, accounts).find(NAME),
    new Resource(http, accountUsages).listAll(),
    new Resource(http, apiKeys).listAll(),
    new Resource(http, runnerPools).listAll(),
  ])
  const isReady = (object?: { status?: { conditions?: Parameters<typeof findCondition>[0] } | undefined }) =>
    findCondition(object?.status?.conditions, 'Ready')?.status === 'True'
  const works = {
    'restored Screenshot': shot?.status?.phase === 'Completed' && shot.status.restoredFrom !== undefined,
    ScreenshotSchedule: isReady(schedule) && (schedule?.status?.recentRuns ?? []).some(({ outcome }) => outcome === 'completed'),
    Webhook: isReady(hook),
    Account: isReady(account),
    AccountUsage: usages.some(({ metadata }) => metadata.name === NAME),
    ApiKey: keys.length > 0,
    RunnerPool: pools.some(isReady),
  }
  return Object.entries(works).flatMap(([kind, isFine]) => (isFine ? [] : [kind]))
}

/** Deletes what the uninstallation would leave. */
export async function deleteKept({ http }: Trial): Promise<void> {
  for (const kind of [screenshotSchedules, webhooks, screenshots, accounts] as const)
    await new Resource<{ metadata: { name: string } }>(http, kind as never).delete(NAME).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
}
