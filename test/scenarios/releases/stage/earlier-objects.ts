import { accounts, accountUsages, apiKeys, runnerPools, screenshotSchedules, screenshots, webhooks } from '../../../../crds/client/kinds.ts'
import { isNotFound } from '../../../../crds/client/kube-error.ts'
import { Resource } from '../../../../crds/client/resource.ts'
import { screenshotIdOf } from '../../../../crds/src/identifiers/ids.ts'
import type { Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import { type Condition, findCondition } from '../../../../crds/src/schema/conditions.ts'
import { kubectl } from '../../../cluster/kubernetes/kubectl.ts'
import { fingerprintOf } from '../../../sites/src/answering.ts'
import type { ClusterReceiver } from '../../../support/cluster/receiver.ts'
import { eventually } from '../../../support/eventually.ts'
import { QUADRANTS } from '../../cluster/stage/cluster-objects.ts'
import type { Report } from '../../harness/scenario.ts'
import { isSigned } from './lost-namespace.ts'
import { HELD_KINDS, NAMESPACE, readSecret, removeFinalizers, type Trial, withGateway } from './trial-release.ts'

/** Objects as an earlier release accepted them: large ones, held ones, and those that a later release trusts less. */

/** Name of the account, its key, webhook and schedule. */
const NAME = 'earlier'
const DELETED = `${NAME}-deleted`
const FRESH = `${NAME}-fresh`
const POOL = 'later'
const FINALIZER = 'example.com/hold'
const HOOK_PATH = `/${NAME}`
const LARGE = 10
/** Captured and archived by the earlier release. The later one captures the others. */
const ARCHIVED = 3
const SMALLEST_CHARACTERS = 300_000
const STEP_CHARACTERS = 100_000
const PRIVATE_URL = new URL('/fingerprints', QUADRANTS).href
/** Until 1230566b archives a record whose events cannot be delivered: its three attempts take over five minutes. */
const LONG_MILLISECONDS = 600_000

/** The account's plan has a pool that does not exist during the earlier release, so that its captures wait. */
export const LATER_POOL = [
  '--set-json',
  `plans.later=${JSON.stringify({ monthlyQuota: 10_000, ratePerMinute: null, overagePricePer1000: null, retentionDays: 30, weight: 1, maxRunning: null, poolName: POOL })}`,
  '--set',
  'queue.unrunnableSeconds=7200',
]

/** Above 8 KiB, so that they are in the bucket. */
const privateOptions = {
  authorization: `Bearer ${'a'.repeat(900)}`,
  headers: { 'X-Api-Key': 'k'.repeat(4_000) },
  cookies: [`sid=${'c'.repeat(4_000)}`] as const,
}
/** What the page shows of them. */
const PRIVATE_TITLE = [privateOptions.authorization, privateOptions.cookies[0], privateOptions.headers['X-Api-Key']]
  .map(fingerprintOf)
  .join(' ')

const htmlOf = (title: string, characters: number) => `<!doctype html><!--${'x'.repeat(characters)}--><title>${title}</title>`

interface Expected {
  name: string
  title: string
  html?: string
}

/** What the earlier release stored. */
export type Earlier = Awaited<ReturnType<typeof createEarlier>>

const object = (kind: string, name: string, spec: object, finalizers: string[] = []) => ({
  apiVersion: 'tintype.dev/v1alpha1',
  kind,
  metadata: { name, ...(finalizers.length > 0 && { finalizers }) },
  spec,
})
const signingSecret = (webhook: string, text: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'tintype.dev/signing-secret',
  metadata: { name: `${webhook}-signing-secret` },
  stringData: { 'signing-secret': text },
})
const webhook = (name: string, url: string, finalizers?: string[]) =>
  object('Webhook', name, { accountName: NAME, url, events: ['screenshot.completed'] }, finalizers)

const create = (...items: object[]) =>
  kubectl(['create', '-n', NAMESPACE, '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) })
const whenReady = (kind: string, name: string) =>
  kubectl(['wait', '--for=condition=Ready', `${kind}/${name}`, '-n', NAMESPACE, '--timeout=120s'])

async function readKey(name: string): Promise<string> {
  await whenReady('apikey', name)
  return readSecret(`${name}-key`, 'api-key')
}

/** Creates the objects. The release must run with {@link LATER_POOL}, and archive at once. */
export async function createEarlier(trial: Trial, receiver: ClusterReceiver) {
  const secret = 'a secret that a user prepared'
  await create(object('Account', NAME, { plan: 'later' }, [FINALIZER]), signingSecret(NAME, secret))
  await whenReady('account', NAME)
  const keyOf = (name: string) => object('ApiKey', name, { accountName: NAME, secretName: `${name}-key` }, [FINALIZER])
  await create(keyOf(NAME), keyOf(DELETED), webhook(NAME, receiver.url + HOOK_PATH, [FINALIZER]))
  const [key, deletedKey] = await Promise.all([readKey(NAME), readKey(DELETED), whenReady('webhook', NAME)])
  await kubectl(['delete', 'apikey', DELETED, '-n', NAMESPACE, '--wait=false'])

  const large = Array.from({ length: LARGE }, (_, n): Expected => {
    const title = `${NAME}-${n}`
    return { name: title, title, html: htmlOf(title, SMALLEST_CHARACTERS + n * STEP_CHARACTERS) }
  })
  /** By id of the Screenshot. */
  const captures = new Map<string, Expected>()
  for (const [n, expected] of large.entries()) {
    const poolName = n < ARCHIVED ? { poolName: 'default' } : {}
    const shot = object('Screenshot', expected.name, { accountName: NAME, url: QUADRANTS, options: { html: expected.html }, ...poolName })
    // The release may archive it before it can be listed.
    const args = ['create', '-n', NAMESPACE, '-f', '-', '-o', 'jsonpath={.metadata}']
    captures.set(screenshotIdOf(JSON.parse(await kubectl(args, { input: JSON.stringify(shot) }))), expected)
  }
  const template = { url: QUADRANTS, options: { html: htmlOf(NAME, SMALLEST_CHARACTERS) } }
  await create(object('ScreenshotSchedule', NAME, { accountName: NAME, schedule: '* * * * *', template }, [FINALIZER]))
  // A busy gateway may respond with 503, or restart.
  const post = (path: string, more: object = {}) =>
    eventually(`POST ${path}`, () =>
      withGateway(async ({ ask }) => {
        const { status, body } = await ask(path, { url: PRIVATE_URL, options: privateOptions, ...more })
        return status < 400 && String(body.id)
      }, key),
    )
  const id = await post('/screenshots')
  captures.set(id, { name: id.replace('_', '-'), title: PRIVATE_TITLE })
  await post('/schedules', { schedule: '* * * * *' })
  const schedules = await new Resource(trial.http, screenshotSchedules).listAll()
  const { metadata } = schedules.find(({ spec }) => spec.template.optionsObject !== undefined) ?? {}
  await eventually(
    'the earlier release archives large Screenshots',
    async () => !(await trial.shots.listAll()).some(({ spec }) => spec.accountName === NAME && spec.poolName === 'default'),
    LONG_MILLISECONDS,
  )
  const earlier = {
    receiver,
    captures,
    key,
    deletedKey,
    /** Status with which the earlier release responded to it. */
    deletedStatus: await useKey(deletedKey),
    /** Of the schedule with private options. */
    schedule: metadata?.name ?? '',
    secret,
    specs: await readSpecs(),
  }
  if (captures.size !== LARGE + 1 || !metadata) throw new Error('the earlier release did not store all objects')
  return earlier
}

/** Specs of the objects that have finalizers, with these. */
async function readSpecs(): Promise<Map<string, string>> {
  const { items } = JSON.parse(await kubectl(['get', HELD_KINDS, '-n', NAMESPACE, '-o', 'json'])) as {
    items: { kind: string; metadata: { name: string; finalizers?: string[] }; spec: object }[]
  }
  const held = items.filter(({ metadata }) => metadata.finalizers?.includes(FINALIZER))
  return new Map(held.map(({ kind, metadata, spec }) => [`${kind}/${metadata.name}`, JSON.stringify(spec)]))
}

/** Status with which a release responds to the key that was deleted and is held by its finalizer. */
const useKey = (key: string): Promise<number> => withGateway(async ({ ask }) => (await ask('/screenshots')).status, key)

interface ShownCapture {
  status?: string
  options?: { html?: string }
  metadata?: { page_title?: string }
}

/** Captures that GET or the list does not show whole. */
export const findWrongCaptures = ({ key, captures }: Earlier): Promise<string[]> =>
  withGateway(async ({ ask }) => {
    const { data } = (await ask<{ data: { id: string }[] }>('/screenshots?limit=100&status=completed')).body
    const wrong: string[] = []
    for (const [id, { name, title, html }] of captures) {
      const { status, body } = await ask<ShownCapture>(`/screenshots/${id}`)
      const { options, metadata } = body
      // A record shows the beginning of a text. The title is at the end of the page.
      const isShown = html === options?.html || (html ?? '').startsWith(options?.html?.replace(/…$/, '') || '-')
      const isWhole = status === 200 && body.status === 'completed' && metadata?.page_title === title && isShown
      if (!isWhole || !data.some((listed) => listed.id === id)) wrong.push(`${name} (${status} ${body.status} ${metadata?.page_title})`)
    }
    return wrong
  }, key)

/** Message of a refusal; empty if the command succeeds. */
const refusalOf = (...args: string[]): Promise<string> =>
  kubectl([...args, '-n', NAMESPACE]).then(
    () => '',
    (error: Error) => error.message,
  )
const patch = (kind: string, name: string, change: object) => refusalOf('patch', kind, name, '--type=merge', '-p', JSON.stringify(change))

const conditionsOf = async (name: string): Promise<Condition[]> =>
  JSON.parse(await kubectl(['get', 'webhook', name, '-n', NAMESPACE, '-o', 'jsonpath={.status.conditions}'])) as Condition[]

/** Creates the missing pool, and checks how the later release treats the objects. @param when begins the claims */
export async function useEarlier({ holds }: Report, trial: Trial, earlier: Earlier, when: string): Promise<void> {
  const pools = new Resource(trial.http, runnerPools)
  const { spec } = await pools.get('default')
  const since = new Date().toISOString()
  await pools.create({ metadata: { name: POOL }, spec: { ...spec, minIdle: 0, maxPods: 1 } })
  const areRight = async () => (await findWrongCaptures(earlier)).length === 0
  await eventually('captures of the earlier release', areRight, LONG_MILLISECONDS).catch(() => undefined)
  const wrong = await findWrongCaptures(earlier)
  const captures = wrong.join('; ') || `${earlier.captures.size} captures`
  holds(`${when}: large and private captures are made, read and listed`, wrong.length === 0, captures)
  const runs = await Promise.all([hasRun(trial, NAME, NAME, since), hasRun(trial, earlier.schedule, PRIVATE_TITLE, since)])
  holds(`${when}: schedules with large html and large private options run`, runs.every(Boolean), runs.join(' '))
  const { deletedStatus, ...held } = await useHeld(earlier)
  const problems = { ...held, ...(await useWebhooks(earlier)) }
  for (const [claim, problem] of Object.entries(problems)) holds(`${when}: ${claim}`, problem === '', problem || 'as claimed')
  const statuses = `${earlier.deletedStatus} before, ${deletedStatus} now`
  holds(`${when}: a deleted key that a finalizer holds is refused`, deletedStatus === 401, statuses)
  await pools.delete(POOL)
}

/** Whether a run of the schedule shows what it must, after this time. */
const hasRun = ({ shots }: Trial, schedule: string, title: string, since: string): Promise<boolean> =>
  eventually(
    `a run of ${schedule}`,
    async () =>
      (await shots.listAll()).some(
        ({ spec, status = {} }) =>
          spec.scheduleRef?.name === schedule && (status.completionTime ?? '') > since && status.result?.pageTitle === title,
      ),
    LONG_MILLISECONDS,
  ).catch(() => false)

/** Problems by claim. */
async function useHeld(earlier: Earlier) {
  const other = await patch('screenshotschedule', earlier.schedule, { spec: { template: { url: QUADRANTS } } })
  const kinds = ['apikey', 'webhook', 'screenshotschedule']
  const more = await Promise.all(kinds.map((kind) => patch(kind, NAME, { metadata: { finalizers: [FINALIZER, 'example.com/more'] } })))
  const changes = await Promise.all(
    kinds.map((kind) => patch(kind, NAME, { metadata: { annotations: { 'example.com/seen': String(Date.now()) } } })),
  )
  const specs = await readSpecs()
  return {
    'another URL for the private options of a schedule is refused': other.includes('hidden options') ? '' : other || 'accepted',
    'new finalizers are refused': more.every((message) => message.includes('metadata.finalizers')) ? '' : more.join('; ') || 'accepted',
    'objects with an earlier finalizer can be changed': changes.join(''),
    'accounts, keys, webhooks and schedules are as before': [...earlier.specs]
      .filter(([name, spec]) => specs.get(name) !== spec)
      .map(([name]) => name)
      .join(' '),
    deletedStatus: await useKey(earlier.deletedKey),
  }
}

/** Problems by claim: a Webhook with a Secret from before the label was required, and a new one. */
async function useWebhooks({ receiver, captures, secret }: Earlier) {
  const readPosts = async () => (await receiver.received()).filter(({ path }) => path === HOOK_PATH)
  const findMissing = async () => {
    const bodies = (await readPosts()).map(({ body }) => Buffer.from(body, 'base64').toString())
    return [...captures].filter(([id]) => !bodies.some((body) => body.includes(id))).map(([, { name }]) => name)
  }
  await eventually('every event', async () => (await findMissing()).length === 0).catch(() => undefined)
  const [missing, posts] = [await findMissing(), await readPosts()]
  const labeled = await eventually('the condition', async () => findCondition(await conditionsOf(NAME), 'SecretLabeled'))
  await create(signingSecret(FRESH, secret), webhook(FRESH, `${receiver.url}/${FRESH}`))
  const ready = await eventually('a decision', async () => findCondition(await conditionsOf(FRESH), 'Ready'))
  await kubectl(['delete', `webhook/${FRESH}`, `secret/${FRESH}-signing-secret`, '-n', NAMESPACE])
  return {
    'the Webhook with an unlabeled Secret gets every event, signed':
      missing.join(' ') || (posts.every((post) => isSigned(post, secret)) ? '' : 'a post with another signature'),
    'it says how to set the label': labeled.status === 'False' && labeled.message?.includes('kubectl -n') ? '' : JSON.stringify(labeled),
    'a new Webhook with an unlabeled Secret is not ready': ready.reason === 'SecretLabelMissing' ? '' : JSON.stringify(ready),
  }
}

/** Sets the label as the condition says, removes the finalizers, and deletes all but the account and its key. Returns what did not work. */
export async function releaseEarlier({ schedule }: Earlier): Promise<string> {
  const { message = '' } = findCondition(await conditionsOf(NAME), 'SecretLabeled') ?? {}
  const [, command = ''] = /kubectl (.*)\.$/.exec(message) ?? []
  await kubectl(command.split(' '))
  await kubectl(['wait', '--for=condition=SecretLabeled', `webhook/${NAME}`, '-n', NAMESPACE, '--timeout=120s'])
  await removeFinalizers(NAMESPACE)
  const held = [...(await readSpecs()).keys()]
  await kubectl(['delete', `webhook/${NAME}`, `screenshotschedule/${NAME}`, `screenshotschedule/${schedule}`, '-n', NAMESPACE])
  const deleted = await kubectl(['get', 'apikey', DELETED, '-n', NAMESPACE, '--ignore-not-found', '-o', 'name'])
  return [...held, deleted.trim()].filter(Boolean).join(' ')
}

/** Waits until the later release has archived the captures, and returns those that it does not show any more. */
export async function findWrongArchived(trial: Trial, earlier: Earlier): Promise<string[]> {
  const names = new Set([...earlier.captures.values()].map(({ name }) => name))
  const isLive = ({ metadata }: { metadata: { name: string } }) => names.has(metadata.name)
  await eventually('large Screenshots are archived', async () => !(await trial.shots.listAll()).some(isLive), LONG_MILLISECONDS)
  return findWrongCaptures(earlier)
}

// One object of each kind that a release stores, for the scenario that upgrades it. The installation creates the first Account with its usage, an ApiKey
// and a RunnerPool.

const KEPT = 'kept'
const HOOK = 'https://example.com/'

const findShot = ({ shots }: Trial): Promise<Screenshot | undefined> => shots.find(KEPT)

/** Settings with which finished Screenshots are archived at once. */
export const ARCHIVE_AT_ONCE = ['--set', 'retention.liveMinimumSeconds=0,retention.liveForSeconds=1']

/**
 * Creates the objects. The release must run with {@link ARCHIVE_AT_ONCE}: the Screenshot is archived and applied again, so that it takes the result of its
 * record. A Webhook and a URL of its own receive its events.
 */
export async function createKept(trial: Trial): Promise<void> {
  const { http } = trial
  await new Resource(http, webhooks).create({
    metadata: { name: KEPT },
    spec: { url: HOOK, events: ['screenshot.queued', 'screenshot.completed', 'screenshot.failed'] },
  })
  await new Resource(http, accounts).create({ metadata: { name: KEPT }, spec: { plan: 'basic' } })
  await new Resource(http, screenshotSchedules).create({
    metadata: { name: KEPT },
    spec: { schedule: '* * * * *', template: { url: QUADRANTS }, comparison: {} },
  })
  const apply = () => trial.shots.create({ metadata: { name: KEPT }, spec: { url: QUADRANTS, webhookUrl: `${HOOK}own` } })
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
    shots.find(KEPT),
    new Resource(http, screenshotSchedules).find(KEPT),
    new Resource(http, webhooks).find(KEPT),
    new Resource(http, accounts).find(KEPT),
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
    AccountUsage: usages.some(({ metadata }) => metadata.name === KEPT),
    ApiKey: keys.length > 0,
    RunnerPool: pools.some(isReady),
  }
  return Object.entries(works).flatMap(([kind, isFine]) => (isFine ? [] : [kind]))
}

/** Deletes what the uninstallation would leave. */
export async function deleteKept({ http }: Trial): Promise<void> {
  for (const kind of [screenshotSchedules, webhooks, screenshots, accounts] as const)
    await new Resource<{ metadata: { name: string } }>(http, kind as never).delete(KEPT).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
}
