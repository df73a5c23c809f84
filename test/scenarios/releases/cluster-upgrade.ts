import { setTimeout as sleep } from 'node:timers/promises'
import { webhooks } from '../../../crds/client/kinds.ts'
import { isInvalid } from '../../../crds/client/kube-error.ts'
import { mergePatch, Resource } from '../../../crds/client/resource.ts'
import { screenshotIdOf } from '../../../crds/src/identifiers/ids.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { findCondition } from '../../../crds/src/schema/conditions.ts'
import { kubectl } from '../../cluster/kubernetes/kubectl.ts'
import { eventually } from '../../support/eventually.ts'
import { createBeforeRules } from '../../support/processes/create-kinds.ts'
import { clusterStage } from '../cluster/stage/cluster-objects.ts'
import { scenario } from '../harness/scenario.ts'
import { watchEnds } from '../plane/stage/verify.ts'
import {
  ARCHIVE_AT_ONCE,
  createEarlier,
  createKept,
  deleteKept,
  findLost,
  findWrongArchived,
  findWrongCaptures,
  LATER_POOL,
  releaseEarlier,
  useEarlier,
} from './stage/earlier-objects.ts'
import { openReceiver, trustReceivers } from './stage/lost-namespace.ts'
import { buildImages, checkOut } from './stage/old-release.ts'
import { readRunning, tagSettings } from './stage/running-release.ts'
import {
  findBroken,
  findLeftovers,
  findMissingPictures,
  helmOn,
  noteLinks,
  openTrial,
  RELEASE,
  startLoad,
  type Trial,
} from './stage/trial-release.ts'

// The life of a separate release under load: install the previous version, upgrade with its values, roll back, upgrade, uninstall with unfinished
// captures, install again. The CRDs are shared with the cluster's own release. So the cluster must already run the new version (`npm start`), and the
// CRDs are not downgraded.

/** The state that users may have: what it stores must stay readable. */
const FIRST_STATE = '1230566b'
const NOW = 'HEAD'
/** Of the release that runs under load before the upgrade. */
const OLD_REVISION = '2'
const NEW_TAG = 'release-head'
const OLD_TAG = 'release-before'
const EVERY_MILLISECONDS = 1_500
const BETWEEN_MILLISECONDS = 15_000
const UNFINISHED = 8
const UNFINISHED_MILLISECONDS = 10_000
const LOOKS = 30
const BETWEEN_LOOKS_MILLISECONDS = 3_000

/** Objects that remain after an uninstall: docs/operations.md, "Uninstall". */
const STAYS = [
  'accountusage.tintype.dev/*',
  'account.tintype.dev/*',
  `apikey.tintype.dev/*`,
  `lease.coordination.k8s.io/${RELEASE}-operator`,
  `persistentvolumeclaim/${RELEASE}-minio`,
  `secret/${RELEASE}-dispatch-key`,
  `secret/${RELEASE}-download-keys`,
  `secret/${RELEASE}-initial-api-key`,
  `secret/${RELEASE}-link-key`,
  `secret/${RELEASE}-minio-root`,
  `secret/${RELEASE}-sealing-key`,
  `secret/${RELEASE}-storage-gateway`,
  `secret/${RELEASE}-storage-links`,
  `secret/${RELEASE}-storage-operator`,
  `secret/${RELEASE}-storage-uploads`,
  // This scenario creates them.
  'secret/earlier-*',
  'configmap/webhook-authority-*',
]

/** @throws when the upgrade would change the CRDs of the cluster's own release */
async function requireSameKinds(chart: string): Promise<void> {
  await kubectl(['diff', '--server-side', '--force-conflicts', '--field-manager=tintype-crds', '-f', `${chart}/crds`]).catch(
    (cause: unknown) => {
      throw new Error(`the cluster does not have the CRDs of ${NOW}: run npm start first`, { cause })
    },
  )
}

export const clusterUpgrade = scenario({
  name: 'cluster-upgrade',
  shows: 'install 1230566b (or --from), upgrade, rollback, uninstall and reinstall under load lose no capture and leave no objects',
  stage: clusterStage,
  options: { from: FIRST_STATE },
  run: async ({ settings: { from }, ...report }) => {
    const trial = await openTrial(report.ends)
    const receiver = await openReceiver(report.ends)
    const { values: running, tags } = await readRunning()
    const [before, now] = [await checkOut(from), await checkOut(NOW)]
    await requireSameKinds(now.chart)
    report.progress(`building the images of ${from} and ${NOW}`)
    await buildImages(before, OLD_TAG, tags)
    await buildImages(now, NEW_TAG, tags)
    const oldTags = tagSettings(tags, OLD_TAG)
    const newTags = tagSettings(tags, NEW_TAG)
    const wait = ['--wait', '--timeout', '300s']

    report.progress(`install ${from}`)
    await trial.makeNamespace()
    const values = [...running, ...LATER_POOL, ...(await trustReceivers())]
    // The cluster's CRDs are newer, and another release uses them.
    const old = [before.chart, ...values, ...oldTags, '--skip-crds', '--set', 'crdUpgrade.enabled=false']
    await helmOn('install', RELEASE, ...old, ...ARCHIVE_AT_ONCE, ...wait)
    await trial.whenReady()
    report.progress('create an object of each kind')
    const [earlier] = await Promise.all([createEarlier(trial, receiver), createKept(trial)])
    await helmOn('upgrade', RELEASE, ...old, '--reset-values', ...wait)
    await trial.whenReady()
    const ends = await watchEnds(trial.http)
    const load = startLoad(trial, EVERY_MILLISECONDS)
    await sleep(BETWEEN_MILLISECONDS)
    const noted = await noteLinks(await whenSomeCompleted(trial))
    await createOldWebhook(trial)

    report.progress(`upgrade, with the values of ${from}`)
    await helmOn('upgrade', RELEASE, now.chart, '--reuse-values', ...newTags, '--set', 'crdUpgrade.enabled=true', ...wait)
    await sleep(BETWEEN_MILLISECONDS)
    await useEarlier(report, trial, earlier, 'after the upgrade')
    report.progress('rollback')
    await helmOn('rollback', RELEASE, OLD_REVISION, ...wait)
    await sleep(BETWEEN_MILLISECONDS)
    const afterRollback = await findWrongCaptures(earlier)
    report.progress('upgrade')
    await helmOn('upgrade', RELEASE, now.chart, '--reset-values', ...values, ...newTags, ...wait)
    await sleep(BETWEEN_MILLISECONDS)
    await useEarlier(report, trial, earlier, 'after rollback and upgrade')
    const held = await releaseEarlier(earlier)
    const broken = await findBroken(noted)
    const oldName = await useOldWebhook(trial)
    const lost = await findLost(trial)
    await deleteKept(trial)

    report.progress('uninstall, with captures unfinished')
    await load.stop()
    const last = await Promise.all(Array.from({ length: UNFINISHED }, () => trial.create({ delay: UNFINISHED_MILLISECONDS })))
    await helmOn('uninstall', RELEASE, '--wait', '--timeout', '180s')
    const names = [...load.names, ...last.map(({ metadata }) => metadata.name)]
    const isUnfinished = ({ metadata, status }: Screenshot) =>
      names.includes(metadata.name) && (status?.phase === 'Pending' || status?.phase === 'Running')
    const unfinished = (await trial.shots.listAll()).filter(isUnfinished).length
    const leftovers = await findLastLeftovers()

    report.progress('install again')
    await helmOn('install', RELEASE, now.chart, ...values, ...newTags, ...wait)
    await trial.whenAllFinished(names)
    const shots = (await trial.shots.listAll()).filter(({ metadata }) => names.includes(metadata.name))
    const missing = await findMissingPictures(shots.map(({ metadata }) => screenshotIdOf(metadata)))
    report.progress('archive')
    await helmOn('upgrade', RELEASE, now.chart, '--reuse-values', ...ARCHIVE_AT_ONCE, ...wait)
    const archived = await findWrongArchived(trial, earlier)
    await ends.stop()
    const { holds } = report
    const unread = afterRollback.join('; ') || 'all'
    holds('after the rollback, large and private captures are read and listed', afterRollback.length === 0, unread)
    holds('earlier finalizers can be removed, and the deleted key is gone then', held === '', held || 'none left')
    holds('large and private captures are archived', archived.length === 0, archived.join('; ') || 'all are read and listed')
    holds('every accepted Screenshot exists', shots.length === names.length, `${shots.length} of ${names.length}`)
    const failed = shots.filter(({ status }) => status?.phase !== 'Completed')
    const codes = failed.map(({ status }) => status?.result?.error?.code).join(' ')
    holds('every Screenshot was captured', failed.length === 0, `${failed.length} failed ${codes}`)
    holds('every Screenshot finished once', ends.faults.length === 0, ends.faults.join('; ') || 'none changed after its end')
    holds('every picture can be downloaded', missing.length === 0, `${shots.length - missing.length} PNGs`)
    const links = broken.join('; ') || `${noted.links.size} links`
    holds('the API key, records and links from before the upgrade work afterwards', broken.length === 0, links)
    holds('a Webhook with a name from before the limit stays writable', oldName === 'InvalidName', oldName)
    holds('an object of each kind from before the upgrade works afterwards', lost.length === 0, lost.join(' ') || '7 kinds')
    const { refusals } = load
    holds('creates were accepted all the time', refusals.length === 0, `${refusals.length} refused ${refusals[0] ?? ''}`)
    holds('captures were unfinished at the uninstall', unfinished > 0, `${unfinished} finished after the reinstallation`)
    const strange = leftovers.filter((leftover) => !isAsked(leftover))
    const stays = strange.join(' ') || `${leftovers.length} objects stay`
    holds('only objects with a documented keep policy remain', strange.length === 0, stays)
    report.progress(`left behind: ${leftovers.join(' ')}`)
  },
})

/** A name that earlier CRDs accepted, although no Secret can be named after it. */
const OLD_NAME = 'w'.repeat(245)

const createWebhook = ({ http }: Trial, name: string) =>
  new Resource(http, webhooks).create({ metadata: { name }, spec: { url: 'https://example.com/', events: ['screenshot.completed'] } })

async function createOldWebhook(trial: Trial): Promise<void> {
  const other = 'x'.repeat(OLD_NAME.length)
  await createBeforeRules(trial.http, 'webhooks', {
    create: () => createWebhook(trial, OLD_NAME),
    isRefused: () =>
      createWebhook(trial, other).then(
        () => new Resource(trial.http, webhooks).delete(other).then(() => false),
        (error: unknown) => isInvalid(error),
      ),
  })
}

/** Changes and deletes the Webhook with the old name. Returns the reason that the new operator gave. */
async function useOldWebhook({ http }: Trial): Promise<string> {
  const store = new Resource(http, webhooks)
  await store.patch(OLD_NAME, mergePatch({ spec: { description: 'changed' } }))
  const reason = await eventually('the operator has seen the change', async () => {
    const { metadata, status } = await store.get(OLD_NAME)
    const ready = findCondition(status?.conditions, 'Ready')
    return ready?.observedGeneration === metadata.generation ? ready?.reason : undefined
  })
  await store.delete(OLD_NAME)
  return reason
}

/** Ids of Screenshots that are completed, once there are some. */
const whenSomeCompleted = (trial: Trial): Promise<string[]> =>
  eventually('pictures from before the upgrade', async () => {
    const completed = (await trial.shots.listAll()).filter(({ status }) => status?.phase === 'Completed')
    // A restored Screenshot has no record of its own.
    return completed.length > 0 && completed.map(({ metadata, status }) => status?.restoredFrom ?? screenshotIdOf(metadata))
  })

const isAsked = (leftover: string): boolean =>
  STAYS.some((stays) => (stays.endsWith('*') ? leftover.startsWith(stays.slice(0, -1)) : leftover === stays))

/** Objects that remain after Kubernetes has had time for garbage collection. */
async function findLastLeftovers(): Promise<string[]> {
  for (let look = 1; ; look++) {
    const leftovers = await findLeftovers()
    if (look === LOOKS || leftovers.every(isAsked)) return leftovers
    await sleep(BETWEEN_LOOKS_MILLISECONDS)
  }
}
