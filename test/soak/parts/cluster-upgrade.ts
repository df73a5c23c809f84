import { setTimeout as sleep } from 'node:timers/promises'
import { webhooks } from '../../../crds/client/kinds.ts'
import { isInvalid } from '../../../crds/client/kube-error.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { screenshotIdOf } from '../../../crds/src/identifiers/ids.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { findCondition } from '../../../crds/src/schema/conditions.ts'
import { undoing } from '../../bench/report/undo.ts'
import { kubectl } from '../../cluster/kubernetes/kubectl.ts'
import type { ClusterReceiver } from '../../support/cluster/receiver.ts'
import { eventually } from '../../support/eventually.ts'
import { createBeforeRules } from '../../support/processes/create-kinds.ts'
import { holds, type Part, type PartContext, type PartResult } from '../part.ts'
import { createEarlier, findWrongArchived, findWrongCaptures, LATER_POOL, releaseEarlier, useEarlier } from '../stage/earlier-objects.ts'
import { watchEnds } from '../stage/ends-once.ts'
import { ARCHIVE_AT_ONCE, createKept, deleteKept, findLost } from '../stage/kept-objects.ts'
import { openReceiver, trustReceivers } from '../stage/lost-namespace.ts'
import { buildImages, checkOut } from '../stage/old-release.ts'
import { readRunning, tagSettings } from '../stage/running-release.ts'
import {
  findBroken,
  findLeftovers,
  findMissingPictures,
  helmOn,
  noteLinks,
  RELEASE,
  startLoad,
  type Trial,
  withTrial,
} from '../stage/trial-release.ts'

// The life of a separate release under load: install the previous version, upgrade with its values, roll back, upgrade, uninstall with unfinished
// captures, install again. The CRDs are shared with the cluster's own release. So the cluster must already run the new version (`npm start`), and the
// CRDs are not downgraded.

/** The state that users may have: what it stores must stay readable. */
const FIRST_STATE = '1230566bf2f6a32b5124e11fc04b00d326bbbae3'
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
  // This part creates them.
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

async function goThrough(trial: Trial, context: PartContext) {
  const receiver = await openReceiver()
  return undoing(receiver.close, () => upgrade(trial, receiver, context))
}

async function upgrade(trial: Trial, receiver: ClusterReceiver, { progress, settings }: PartContext) {
  const from = settings.from ?? FIRST_STATE
  const { values: running, tags } = await readRunning()
  const [before, now] = [await checkOut(from), await checkOut(NOW)]
  await requireSameKinds(now.chart)
  progress(`building the images of ${from} and ${NOW}`)
  await buildImages(before, OLD_TAG, tags)
  await buildImages(now, NEW_TAG, tags)
  const oldTags = tagSettings((image) => (image === 'minio' ? (tags[image] ?? '') : OLD_TAG))
  const newTags = tagSettings((image) => (image === 'minio' ? (tags[image] ?? '') : NEW_TAG))
  const wait = ['--wait', '--timeout', '300s']

  progress(`install ${from}`)
  await trial.makeNamespace()
  const values = [...running, ...LATER_POOL, ...(await trustReceivers())]
  // The cluster's CRDs are newer, and another release uses them.
  const old = [before.chart, ...values, ...oldTags, '--skip-crds', '--set', 'crdUpgrade.enabled=false']
  await helmOn('install', RELEASE, ...old, ...ARCHIVE_AT_ONCE, ...wait)
  await trial.whenReady()
  progress('create an object of each kind')
  const [earlier] = await Promise.all([createEarlier(trial, receiver), createKept(trial)])
  await helmOn('upgrade', RELEASE, ...old, '--reset-values', ...wait)
  await trial.whenReady()
  const ends = await watchEnds(trial.http)
  const load = startLoad(trial, EVERY_MILLISECONDS)
  await sleep(BETWEEN_MILLISECONDS)
  const noted = await noteLinks(await whenSomeCompleted(trial))
  await createOldWebhook(trial)

  progress(`upgrade, with the values of ${from}`)
  await helmOn('upgrade', RELEASE, now.chart, '--reuse-values', ...newTags, '--set', 'crdUpgrade.enabled=true', ...wait)
  await sleep(BETWEEN_MILLISECONDS)
  const findings = await useEarlier(trial, earlier, 'after the upgrade')
  progress('rollback')
  await helmOn('rollback', RELEASE, OLD_REVISION, ...wait)
  await sleep(BETWEEN_MILLISECONDS)
  const afterRollback = await findWrongCaptures(earlier)
  progress('upgrade')
  await helmOn('upgrade', RELEASE, now.chart, '--reset-values', ...values, ...newTags, ...wait)
  await sleep(BETWEEN_MILLISECONDS)
  findings.push(...(await useEarlier(trial, earlier, 'after rollback and upgrade')))
  const held = await releaseEarlier(earlier)
  const broken = await findBroken(noted)
  const oldName = await useOldWebhook(trial)
  const lost = await findLost(trial)
  await deleteKept(trial)

  progress('uninstall, with captures unfinished')
  await load.stop()
  const last = await Promise.all(Array.from({ length: UNFINISHED }, () => trial.create({ delay: UNFINISHED_MILLISECONDS })))
  await helmOn('uninstall', RELEASE, '--wait', '--timeout', '180s')
  const names = [...load.names, ...last.map(({ metadata }) => metadata.name)]
  const isUnfinished = ({ metadata, status }: Screenshot) =>
    names.includes(metadata.name) && (status?.phase === 'Pending' || status?.phase === 'Running')
  const unfinished = (await trial.shots.listAll()).filter(isUnfinished).length
  const leftovers = await findLastLeftovers()

  progress('install again')
  await helmOn('install', RELEASE, now.chart, ...values, ...newTags, ...wait)
  await trial.whenAllFinished(names)
  const shots = (await trial.shots.listAll()).filter(({ metadata }) => names.includes(metadata.name))
  const missing = await findMissingPictures(shots.map(({ metadata }) => screenshotIdOf(metadata)))
  progress('archive')
  await helmOn('upgrade', RELEASE, now.chart, '--reuse-values', ...ARCHIVE_AT_ONCE, ...wait)
  const archived = await findWrongArchived(trial, earlier)
  findings.push(
    holds(
      'after the rollback, large and private captures are read and listed',
      afterRollback.length === 0,
      afterRollback.join('; ') || 'all',
    ),
    holds('earlier finalizers can be removed, and the deleted key is gone then', held === '', held || 'none left'),
    holds('large and private captures are archived', archived.length === 0, archived.join('; ') || 'all are read and listed'),
  )
  await ends.stop()
  await Promise.all([before.remove(), now.remove()])
  return { load, names, shots, unfinished, leftovers, missing, broken, noted, oldName, lost, faults: ends.faults, findings }
}

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

export const clusterUpgrade: Part = {
  name: 'cluster-upgrade',
  shows: 'install 1230566b (or --from), upgrade, rollback, uninstall and reinstall under load lose no capture and leave no objects',
  run: (context) => withTrial((trial) => run(trial, context)),
}

async function run(trial: Trial, context: PartContext): Promise<PartResult> {
  const { load, names, shots, unfinished, leftovers, missing, broken, noted, oldName, lost, faults, findings } = await goThrough(
    trial,
    context,
  )
  const failed = shots.filter(({ status }) => status?.phase !== 'Completed')
  const strange = leftovers.filter((leftover) => !isAsked(leftover))
  context.progress(`left behind: ${leftovers.join(' ')}`)
  return {
    findings: [
      ...findings,
      holds('every accepted Screenshot exists', shots.length === names.length, `${shots.length} of ${names.length}`),
      holds(
        'every Screenshot was captured',
        failed.length === 0,
        `${failed.length} failed ${failed.map(({ status }) => status?.result?.error?.code).join(' ')}`,
      ),
      holds('every Screenshot finished once', faults.length === 0, faults.join('; ') || 'none changed after its end'),
      holds('every picture can be downloaded', missing.length === 0, `${shots.length - missing.length} PNGs`),
      holds(
        'the API key, records and links from before the upgrade work afterwards',
        broken.length === 0,
        broken.join('; ') || `${noted.links.size} links`,
      ),
      holds('a Webhook with a name from before the limit stays writable', oldName === 'InvalidName', oldName),
      holds('an object of each kind from before the upgrade works afterwards', lost.length === 0, lost.join(' ') || '7 kinds'),
      holds('creates were accepted all the time', load.refusals.length === 0, `${load.refusals.length} refused ${load.refusals[0] ?? ''}`),
      holds('captures were unfinished at the uninstall', unfinished > 0, `${unfinished} finished after the reinstallation`),
      holds(
        'only objects with a documented keep policy remain',
        strange.length === 0,
        strange.join(' ') || `${leftovers.length} objects stay`,
      ),
    ],
  }
}
