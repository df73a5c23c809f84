import { setImmediate } from 'node:timers/promises'
import { Registry } from 'prom-client'
import t, { type Test } from 'tap'
import { KubeError } from '../../../../../../crds/client/kube-error.ts'
import { silentLog } from '../../../../../../crds/client/log.ts'
import type { Patch } from '../../../../../../crds/client/patch.ts'
import { Annotation } from '../../../../../../crds/src/identifiers/names.ts'
import type { PostResponse } from '../../../../../../crds/src/kinds/post-response.ts'
import type { Webhook } from '../../../../../../crds/src/kinds/webhook.ts'
import { type PostRequest, toRequestAnnotation } from '../../../../../../crds/src/webhooks/webhook-requests.ts'
import { LimiterClosed } from '../../../../../../operator/src/controller-runtime/keyed-limiter.ts'
import { PostRequests, type PostRequestsOptions } from '../../../../../../operator/src/controllers/delivery/requests/controller.ts'
import { createDeliveryMetrics } from '../../../../../../operator/src/controllers/delivery/telemetry/metrics.ts'
import { at, aWebhook } from '../../../../../support/fakes/builders.ts'

const KEY = 'default/hook'
const response: PostResponse = { time: at(2).toISOString(), success: true, statusCode: 200, responseMilliseconds: 12 }
const test = (n: number) => ({ do: 'test', nonce: String(n).repeat(20), at: at(1) }) as const
const aHook = (annotations: Record<string, string>, uid = 'uid-1'): Webhook => {
  const hook = aWebhook()
  return { ...hook, metadata: { ...hook.metadata, namespace: 'default', uid, annotations } }
}

/** The object after a merge patch. */
const withoutNulls = <T>(value: unknown): T => JSON.parse(JSON.stringify(value, (_, part) => (part === null ? undefined : part)))

/** Requests of one Webhook whose posts end when the test says so. */
function setUp(t: Test, hook: Webhook | undefined, given: Partial<PostRequestsOptions> = {}) {
  const state = { hook, patches: [] as unknown[] }
  const performed: { request: PostRequest; end: PromiseWithResolvers<PostResponse> }[] = []
  const requests = new PostRequests({
    reflectors: { webhooks: { lister: { get: () => state.hook }, addListener: () => () => {} } as never },
    clients: {
      webhooks: {
        patch: async (_: string, { body }: Patch) => {
          const { status } = body as { status: { responses?: Record<string, PostResponse | null> } }
          state.patches.push(status)
          const responses = { ...state.hook!.status?.responses, ...status.responses }
          state.hook = withoutNulls<Webhook>({ ...state.hook!, status: { ...state.hook!.status, ...status, responses } })
          return state.hook
        },
      },
    },
    limiter: { run: (_, job) => job() },
    perform: (_, request) => {
      const end = Promise.withResolvers<PostResponse>()
      performed.push({ request, end })
      return end.promise
    },
    mayStart: () => true,
    now: () => at(1),
    log: silentLog,
    metrics: createDeliveryMetrics(new Registry()),
    ...given,
  })
  requests.controller.start()
  t.teardown(() => requests.controller.stop(0))
  const reconcile = async () => {
    await requests.reconcile(KEY, new AbortController().signal)
    for (let n = 0; n < 3; n++) await setImmediate()
  }
  return { state, performed, reconcile }
}

t.test('PostRequests starts each request once and writes its response to its own field', async (t) => {
  const { state, performed, reconcile } = setUp(t, aHook({ ...toRequestAnnotation(test(1)), ...toRequestAnnotation(test(2)) }))
  await reconcile()
  await reconcile()
  t.strictSame(
    performed.map(({ request }) => request),
    [test(1), test(2)],
  )
  performed[1]!.end.resolve(response)
  await setImmediate()
  await reconcile()
  t.strictSame(state.patches, [{ responses: { [test(2).nonce]: response } }])
  performed[0]!.end.resolve({ ...response, statusCode: 201 })
  await setImmediate()
  await reconcile()
  t.match(state.hook?.status?.responses, { [test(1).nonce]: { statusCode: 201 }, [test(2).nonce]: { statusCode: 200 } })
  await reconcile()
  t.equal(performed.length, 2)
})

t.test('PostRequests deletes a response when its request was removed', async (t) => {
  const hook = aHook({})
  const { state, reconcile } = setUp(t, { ...hook, status: { ...hook.status, responses: { gone: response } } })
  await reconcile()
  t.strictSame(state.patches, [{ responses: { gone: null } }])
})

t.test('PostRequests responds to a manual test, and runs the next one too', async (t) => {
  const { state, performed, reconcile } = setUp(t, aHook({ [Annotation.testRequested]: 'one' }))
  await reconcile()
  state.hook = aHook({ [Annotation.testRequested]: 'two' })
  await reconcile()
  t.equal(performed.length, 2)
  performed[1]!.end.resolve(response)
  await setImmediate()
  await reconcile()
  t.match(state.patches, [{ lastTest: { request: 'two', statusCode: 200 } }])
})

t.test('PostRequests starts nothing when it may not post', async (t) => {
  const { performed, reconcile } = setUp(t, aHook(toRequestAnnotation(test(1))), { mayStart: () => false })
  await reconcile()
  t.strictSame(performed, [])
})

t.test('PostRequests leaves requests that the limiter does not start to the next leader', async (t) => {
  const { state, reconcile } = setUp(t, aHook(toRequestAnnotation(test(1))), {
    limiter: { run: async () => Promise.reject(new LimiterClosed('')) },
  })
  await reconcile()
  await reconcile()
  t.strictSame(state.patches, [])
})

t.test('PostRequests limits the requests of an account together, and apart from its deliveries', async (t) => {
  const keys: unknown[] = []
  const limiter: PostRequestsOptions['limiter'] = {
    run: (of, post) => {
      keys.push(of)
      return post()
    },
  }
  const hook = aHook({ ...toRequestAnnotation(test(1)), ...toRequestAnnotation(test(2)) })
  await setUp(t, { ...hook, spec: { ...hook.spec, accountName: 'acme' } }, { limiter }).reconcile()
  const both = { account: 'default/acme/requests', endpoint: 'default/acme/requests' }
  t.strictSame(keys, [both, both])
})

t.test('PostRequests retries a failed request', async (t) => {
  const { performed, reconcile } = setUp(t, aHook(toRequestAnnotation(test(1))))
  await reconcile()
  performed[0]!.end.reject(new Error('the store is unavailable'))
  await setImmediate()
  await reconcile()
  t.equal(performed.length, 2)
})

t.test('PostRequests writes no response of the old object to a recreated one', async (t) => {
  const { state, performed, reconcile } = setUp(t, aHook(toRequestAnnotation(test(1))))
  await reconcile()
  state.hook = aHook({}, 'uid-2')
  performed[0]!.end.resolve(response)
  await setImmediate()
  await reconcile()
  t.strictSame(state.patches, [])
})

t.test('PostRequests ignores a Webhook that was deleted', async (t) => {
  const gone = new KubeError({ status: 404, reason: 'NotFound', message: '' })
  const clients = { webhooks: { patch: async () => Promise.reject(gone) } }
  const { state, performed, reconcile } = setUp(t, aHook(toRequestAnnotation(test(1))), { clients })
  await reconcile()
  performed[0]!.end.resolve(response)
  await setImmediate()
  await t.resolves(reconcile())
  state.hook = undefined
  await t.resolves(reconcile())
})
