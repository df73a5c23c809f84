import t from 'tap'
import type { z } from 'zod'
import { AccountSpec } from '../../../../crds/src/kinds/account.ts'
import { AccountUsageSpec, StoredUsageStatus } from '../../../../crds/src/kinds/account-usage.ts'
import { ApiKeySpec, SCOPES } from '../../../../crds/src/kinds/api-key.ts'
import { poolDefaults, RunnerPoolSpec } from '../../../../crds/src/kinds/runner-pool.ts'

const podTemplate = { image: 'registry/runner:1', serviceAccountName: 'runner' }

const cases: { name: string; schema: z.ZodType; takes: object[]; refuses: object[] }[] = [
  {
    name: 'AccountSpec',
    schema: AccountSpec,
    takes: [{ plan: 'free' }, { plan: 'team-gold' }, { plan: 'scale', suspended: true, overage: { enabled: true, max: 10 } }],
    refuses: [
      {},
      { plan: 'Gold' },
      { plan: 'a'.repeat(64) },
      { plan: 'free', overage: { enabled: 'yes' } },
      { plan: 'free', displayName: 'x'.repeat(101) },
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
      {},
      { used: -1 },
      { used: 1, period: '2026-11-21' },
      { used: 1, window: '1=' },
      { used: 1, window: '1=2 ' },
      { used: 1, reservations: ['r 2026 - gw'] },
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
      {
        linkPolicy: {
          allowedHosts: ['example.com', '*.example.com', 'xn--bcher-kva.example', '10.0.0.1'],
          allowedOptions: ['viewportWidth'],
        },
      },
      { linkPolicy: { allowedHosts: [], allowedOptions: [], allowOwnMarkup: true } },
    ],
    refuses: [
      { scopes: ['everything'] },
      { name: '' },
      { lastFour: 'abcde' },
      { accountName: 'Acme' },
      { linkSecret: {} },
      { linkSecret: { version: 0 } },
      { linkSecret: { version: 1.5 } },
      { linkSecret: { version: 2 ** 31 } },
      { linkSecret: { version: 2, previous: { version: 1 } } },
      ...['', '*', 'Example.com', 'https://example.com', 'example.com/', 'a..b', '*.*.example.com', '-a.example', 'bücher.example'].map(
        (host) => ({
          linkPolicy: { allowedHosts: [host] },
        }),
      ),
      { linkPolicy: { allowedHosts: Array(65).fill('a.example') } },
      ...['', 'viewport_width', 'Width'].map((option) => ({ linkPolicy: { allowedOptions: [option] } })),
      { linkPolicy: { allowOwnMarkup: 'no' } },
      { linkPolicy: { allowedOptions: Array(257).fill('delay') } },
    ],
  },
  {
    name: 'RunnerPoolSpec',
    schema: RunnerPoolSpec,
    takes: [{ podTemplate }, { podTemplate, minIdle: 0, maxPods: 1, isolation: 'browser', egress: { allowedCidrs: ['10.0.0.0/8'] } }],
    refuses: [
      {},
      { podTemplate: { image: 'x' } },
      { podTemplate, maxPods: 0 },
      { podTemplate, capturesPerPod: 0 },
      { podTemplate, sandbox: { mode: 'on' } },
    ],
  },
]

for (const { name, schema, takes, refuses } of cases) {
  t.test(`${name} accepts valid objects and refuses invalid ones`, async (t) => {
    for (const value of takes) t.ok(schema.safeParse(value).success, JSON.stringify(value))
    for (const value of refuses) t.notOk(schema.safeParse(value).success, JSON.stringify(value))
  })
}

t.test('poolDefaults are valid and match the descriptions', async (t) => {
  t.ok(RunnerPoolSpec.safeParse({ podTemplate, ...poolDefaults }).success)
  const fields = { ...RunnerPoolSpec.shape, ...RunnerPoolSpec.shape.podTemplate.shape }
  for (const [name, preset] of Object.entries(poolDefaults)) {
    const { description = '' } = fields[name as keyof typeof poolDefaults].unwrap()
    t.match(description, `Default: ${preset}.`, name)
  }
})
