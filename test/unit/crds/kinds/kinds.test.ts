import t from 'tap'
import type { z } from 'zod'
import { AccountSpec, AccountUsageSpec, StoredUsageStatus } from '../../../../crds/src/kinds/account.ts'
import { ApiKeySpec, SCOPES } from '../../../../crds/src/kinds/api-key.ts'
import { poolDefaults, RunnerPoolSpec } from '../../../../crds/src/kinds/runner-pool.ts'
import { isFinished, Screenshot, ScreenshotSpec, ScreenshotStatus } from '../../../../crds/src/kinds/screenshot.ts'
import { isActive, Webhook, WebhookSpec } from '../../../../crds/src/kinds/webhook.ts'
import { assertAccepts } from '../../../support/accepts.ts'
import { aScreenshot, aWebhook, completedStatus, failedStatus, NOON } from '../../../support/fakes/builders.ts'

const podTemplate = { image: 'registry/runner:1', serviceAccountName: 'runner' }
const url = 'https://example.com/'
const aHook = (more: object) => ({ url: 'https://example.com/hook', events: ['screenshot.completed'], ...more })

const badHosts = ['', '*', 'Example.com', 'https://example.com', 'example.com/', 'a..b', '*.*.example.com', '-a.example', 'bücher.example']
const badPolicies = [
  ...badHosts.map((host) => ({ allowedHosts: [host] })),
  { allowedHosts: Array(65).fill('a.example') },
  ...['', 'viewport_width', 'Width'].map((option) => ({ allowedOptions: [option] })),
  { allowedOptions: Array(257).fill('delay') },
]

const cases: { name: string; schema: z.ZodType; takes: object[]; refuses: object[] }[] = [
  {
    name: 'AccountSpec',
    schema: AccountSpec,
    takes: [{ plan: 'free' }, { plan: 'team-gold' }, { plan: 'scale', suspended: true, overage: { enabled: true, max: 10 } }],
    refuses: [
      ...[{}, { plan: 'Gold' }, { plan: 'a'.repeat(64) }],
      ...[{ overage: { enabled: 'yes' } }, { displayName: 'x'.repeat(101) }].map((more) => ({ plan: 'free', ...more })),
    ],
  },
  {
    name: 'AccountUsageSpec',
    schema: AccountUsageSpec,
    takes: [{ limit: 0 }, { limit: 100, ratePerMinute: 2 }],
    refuses: [{}, { limit: -1 }, { limit: 1.5 }, { limit: 1, ratePerMinute: 0 }],
  },
  {
    name: 'StoredUsageStatus',
    schema: StoredUsageStatus,
    takes: [
      { used: 0 },
      { used: 3, period: '2026-11', window: '1=3 2=40', refunds: ['scr_1'] },
      { used: 1, window: '', reservations: ['r 2026 - gw a,b'] },
    ],
    refuses: [
      ...[{}, { used: -1 }],
      ...[{ period: '2026-11-21' }, { window: '1=' }, { window: '1=2 ' }, { reservations: ['r 2026 - gw'] }].map((more) => ({
        used: 1,
        ...more,
      })),
    ],
  },
  {
    name: 'ApiKeySpec',
    schema: ApiKeySpec,
    takes: [
      {},
      { scopes: [...SCOPES] },
      { accountName: 'acme', name: 'ci', active: false, lastFour: 'abcd' },
      { linkSecret: { version: 1 } },
      { linkSecret: { version: 3, previous: { version: 2, expiryTime: '2026-11-22T10:00:00Z' } } },
      { linkPolicy: {} },
      { linkPolicy: { allowedHosts: ['example.com', '*.example.com', 'xn--bcher-kva.example', '10.0.0.1'] } },
      { linkPolicy: { allowedOptions: ['viewportWidth'] } },
      { linkPolicy: { allowedHosts: [], allowedOptions: [], allowOwnMarkup: true } },
      { capturePolicy: {} },
      { capturePolicy: { allowedHosts: ['a.example'], allowedRequestHosts: ['*.a.example'], allowedOptions: [], allowOwnContent: true } },
    ],
    refuses: [
      ...[{ scopes: ['everything'] }, { name: '' }, { lastFour: 'abcde' }, { accountName: 'Acme' }],
      ...[{}, { version: 0 }, { version: 1.5 }, { version: 2 ** 31 }].map((linkSecret) => ({ linkSecret })),
      { linkSecret: { version: 2, previous: { version: 1 } } },
      ...[...badPolicies, { allowOwnMarkup: 'no' }].map((linkPolicy) => ({ linkPolicy })),
      ...[...badPolicies, { allowOwnContent: 'no' }].map((capturePolicy) => ({ capturePolicy })),
      ...badHosts.map((host) => ({ capturePolicy: { allowedRequestHosts: [host] } })),
    ],
  },
  {
    name: 'RunnerPoolSpec',
    schema: RunnerPoolSpec,
    takes: [
      { podTemplate },
      { podTemplate, minIdle: 0, maxPods: 1, isolation: 'browser', egress: { allowedCidrs: ['10.0.0.0/8'] } },
      { podTemplate, ...poolDefaults },
    ],
    refuses: [
      ...[{}, { podTemplate: { image: 'x' } }],
      ...[{ maxPods: 0 }, { capturesPerPod: 0 }, { sandbox: { mode: 'on' } }].map((more) => ({ podTemplate, ...more })),
    ],
  },
  {
    name: 'Screenshot',
    schema: Screenshot,
    takes: [aScreenshot(), aScreenshot({ status: completedStatus() }), aScreenshot({ status: failedStatus() })],
    refuses: [],
  },
  {
    name: 'ScreenshotSpec',
    schema: ScreenshotSpec,
    takes: [{ url }],
    refuses: [{}, { url: 'https://a:b@example.com/' }, { url, accountName: 'Not A Name' }, { url, poolName: 'x'.repeat(64) }],
  },
  {
    name: 'ScreenshotStatus',
    schema: ScreenshotStatus,
    takes: [{ phase: 'Pending' }],
    refuses: [
      { phase: 'Done' },
      { result: { error: { code: 'OOPS', message: '' } } },
      { deliveries: { 'screenshot.completed': { hook: { attempts: 1, at: '2026-11-21T12:00:00Z', state: 'maybe' } } } },
      { attempt: -1 },
    ],
  },
  { name: 'Webhook', schema: Webhook, takes: [aWebhook()], refuses: [] },
  {
    name: 'WebhookSpec',
    schema: WebhookSpec,
    takes: [
      ...['https://example.com', 'https://example.com/a?b=c', 'https://example.com:8443/', `${url}${'x'.repeat(2028)}`].map((url) =>
        aHook({ url }),
      ),
      aHook({ events: ['screenshot.queued', 'screenshot.failed', 'video.completed'] }),
      aHook({ name: 'x'.repeat(100), description: 'x'.repeat(500) }),
    ],
    refuses: [
      ...['http://example.com/', 'https://', 'https://a:b@example.com/', 'https://example.com/#x', 'https://example.com#x'].map((url) =>
        aHook({ url }),
      ),
      aHook({ url: `${url}${'x'.repeat(2029)}` }),
      ...[[], ['*'], ['screenshot.done']].map((events) => aHook({ events })),
      ...[{ name: 'x'.repeat(101) }, { description: 'x'.repeat(501) }].map(aHook),
    ],
  },
]
for (const { name, schema, takes, refuses } of cases) {
  t.test(`${name} accepts valid objects and refuses invalid ones`, async (t) => {
    assertAccepts(t, (value) => schema.safeParse(value).success, takes, refuses)
  })
}

t.test('poolDefaults match the descriptions', async (t) => {
  const fields = { ...RunnerPoolSpec.shape, ...RunnerPoolSpec.shape.podTemplate.shape }
  for (const [name, preset] of Object.entries(poolDefaults)) {
    const { description = '' } = fields[name as keyof typeof poolDefaults].unwrap()
    t.match(description, `Default: ${preset}.`, name)
  }
})

t.test('Screenshot keeps unknown metadata', async (t) => {
  const shot = { ...aScreenshot(), metadata: { ...aScreenshot().metadata, finalizers: ['x'] } }
  t.strictSame(Screenshot.parse(shot).metadata.finalizers, ['x'])
})

t.test('isFinished is true only for completed and failed Screenshots', async (t) => {
  const isEnd = (phase: NonNullable<ScreenshotStatus['phase']>) => isFinished({ status: { phase } })
  assertAccepts(t, isEnd, ['Completed', 'Failed'], ['Pending', 'Running'])
  t.notOk(isFinished({ status: undefined }))
})

t.test('isActive is true unless active is false or the Webhook was deleted', async (t) => {
  const deleted = aWebhook({ metadata: { deletionTimestamp: NOON.toISOString() } })
  // A finalizer keeps a deleted Webhook.
  assertAccepts(t, isActive, [aWebhook(), aWebhook({ spec: { active: true } })], [aWebhook({ spec: { active: false } }), deleted])
})
