// The controllers that post events, on an API server and a bucket in memory. Receivers are functions: no connection is made.

import type { Test } from 'tap'
import { screenshots, webhooks } from '../../../../../crds/client/kinds.ts'
import { mergePatch } from '../../../../../crds/client/resource.ts'
import type { DeliveryEntry, Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import type { Webhook, WebhookSpec } from '../../../../../crds/src/kinds/webhook.ts'
import { type AttemptLine, parseLog } from '../../../../../crds/src/webhooks/deliveries.ts'
import type { Post, PostOutcome } from '../../../../../operator/src/controllers/delivery/http/post.ts'
import { createDeliveryMetrics } from '../../../../../operator/src/controllers/delivery/telemetry/metrics.ts'
import { prepareDelivery } from '../../../../../operator/src/controllers/delivery/term.ts'
import type { StartedWork, TermDeps } from '../../../../../operator/src/runtime/deps.ts'
import { aScreenshot, at, completedStatus } from '../../../../support/fakes/builders.ts'
import { startOperator } from '../../../../support/fakes/operator-stage.ts'

/** The response of a receiver. */
export const answer = (statusCode: number, more: Partial<PostOutcome> = {}): PostOutcome => ({
  ...{ end: 'answered', isSuccess: statusCode === 200, statusCode, detail: '', durationMilliseconds: 12, excerpt: Buffer.from('ok') },
  ...more,
})

/** A post, and the deliveries of its Screenshot that were recorded when it was sent. */
export interface SeenPost extends Post {
  /** Such as `hook 2`: the path of the URL, and the number of the attempt. */
  name: string
  recorded: unknown
}

/** The test flushes. */
const NEVER = 2 ** 31 - 1
const deps = {
  publicUrl: 'https://shots.example.com',
  webhook: { retryDelaysMilliseconds: [10_000, 60_000], timeoutMilliseconds: 5_000, flushMilliseconds: NEVER },
}

/** Starts a leader with these webhooks, three seconds after noon. */
export async function startLeader(t: Test, ...hooks: string[]) {
  const stage = await startDeliveries(t)
  const leader = stage.lead()
  for (const name of hooks) await stage.subscribe(name)
  await stage.passTo(3)
  return { ...stage, leader }
}

export type DeliveryStage = Awaited<ReturnType<typeof startLeader>>

/** An entry of status.deliveries. */
export const entry = (attempts: number, second: number, state: DeliveryEntry['state'] = 'open'): DeliveryEntry => ({
  ...{ attempts, at: at(second).toISOString(), state },
})

/** A completed Screenshot with these entries. */
export const withEntries = (entries: Record<string, DeliveryEntry>) => ({
  status: completedStatus({ deliveries: { 'screenshot.completed': entries } }),
})

/** Prepares deliveries. By default, delays of retries are 11 and 66 seconds, because their random part is half of the possible one. */
export async function startDeliveries(t: Test, settings: Parameters<typeof startOperator>[1] = deps, random = 0.5) {
  const operator = await startOperator(t, settings)
  const { cluster, bucket, settle } = operator
  const posts: SeenPost[] = []
  const receiver = { answer: (_: SeenPost): PostOutcome | Promise<PostOutcome> => answer(200) }
  let flush = async (): Promise<unknown> => undefined

  const post = async (sent: Post) => {
    const { screenshot } = JSON.parse(sent.body).data
    const recorded =
      screenshot && deliveriesOf(cluster.list(screenshots).find(({ metadata }) => metadata.name.replace('-', '_') === screenshot.id))
    const seen = { ...sent, name: `${new URL(sent.url).pathname.slice(1)} ${sent.headers['x-webhook-attempt']}`, recorded }
    posts.push(seen)
    return receiver.answer(seen)
  }
  const delivery = prepareDelivery(
    { ...operator.deps, metrics: createDeliveryMetrics(operator.deps.registry) },
    {
      ...{ certificates: [], ownAddresses: [], resolve: async () => [], post, random: () => random },
      openEventStore: () => ({ put: bucket.storage.write }),
    },
  )
  const startTerm = (term: TermDeps): StartedWork => {
    const work = delivery.start(term)
    flush = work.flush
    return work
  }

  const write = (definition: typeof webhooks | typeof screenshots, name: string, change: Record<string, unknown>) =>
    cluster
      .client<Screenshot | Webhook>(definition as typeof screenshots)
      .patch(name, mergePatch(change))
      .then(settle)
  const deliveriesOf = (shot: Screenshot | undefined) => shot?.status?.deliveries
  return {
    ...operator,
    ...{ posts, receiver, flush: () => flush() },
    /** Starts the next leader. */
    lead: (mayWrite?: () => boolean) => operator.lead(startTerm, mayWrite),
    names: () => posts.map(({ name }) => name),
    /** Creates a Webhook, which is ready afterwards. */
    async subscribe(name: string, spec: Partial<WebhookSpec> = {}): Promise<Webhook> {
      await cluster.client(webhooks).create({
        metadata: { name },
        spec: { url: `https://hooks.example.com/${name}`, events: ['screenshot.completed'], ...spec },
      })
      await settle()
      return cluster.get(webhooks, name)!
    },
    /** Changes an object as kubectl does. */
    change: write,
    disable: (name: string) => write(webhooks, name, { spec: { active: false } }),
    async remove(definition: typeof webhooks | typeof screenshots, name: string): Promise<void> {
      cluster.remove(definition, name)
      await settle()
    },
    /** From now on, receivers respond when the test says so. */
    hold() {
      const { promise, resolve } = Promise.withResolvers<PostOutcome>()
      receiver.answer = () => promise
      // The end of a term waits for posts.
      t.teardown(() => resolve(answer(200)))
      return async (statusCode: number) => {
        resolve(answer(statusCode))
        await settle()
      }
    },
    /** Adds a Screenshot, completed unless it has another status. */
    async add(given: Parameters<typeof aScreenshot>[0] = {}): Promise<Screenshot> {
      const shot = cluster.put<Screenshot>(screenshots, aScreenshot({ status: completedStatus(), ...given }))
      await settle()
      return shot
    },
    /** What is recorded about one event of a Screenshot, such as `{ hook: 'ok 1' }`. */
    recorded(shot: Screenshot, event = 'screenshot.completed'): Record<string, string> {
      const entries = Object.entries(deliveriesOf(cluster.get(screenshots, shot.metadata.name))?.[event] ?? {})
      return Object.fromEntries(entries.map(([name, { state, attempts }]) => [name, `${state} ${attempts}`]))
    },
    statisticsOf: (name: string) => cluster.get(webhooks, name)?.status?.statistics,
    /** All lines of the delivery logs, newest first. */
    async logged(): Promise<AttemptLine[]> {
      await flush()
      return bucket.keys('deliveries/').flatMap((key) => parseLog(bucket.objects.get(key) ?? ''))
    },
  }
}
