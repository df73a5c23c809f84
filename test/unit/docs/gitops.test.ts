import t from 'tap'
import { LuaFactory } from 'wasmoon'
import { parseAllDocuments } from 'yaml'
import { definitions } from '../../../crds/generate/custom-resource-definition.ts'
import type { Condition } from '../../../crds/src/schema/conditions.ts'
import { MAX_OBJECT_NAME_LENGTH } from '../../../crds/src/schema/custom-resource.ts'
import type { Rendered } from '../../support/sources/chart.ts'
import { readText } from '../../support/sources/code-blocks.ts'
import { faultsOf } from '../../support/sources/manifest-faults.ts'

// The examples of docs/gitops.md. Lua health checks run in a Lua interpreter, as in Argo CD.

const blocks = [...readText('docs/gitops.md').matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block = '']) => block)
const objects = blocks.flatMap((block) =>
  parseAllDocuments(block).map((document) => {
    if (document.errors.length > 0) throw document.errors[0]!
    return document.toJS() as Rendered & { spec?: Record<string, unknown>; data?: Record<string, string> }
  }),
)
const ofKind = (kind: string) => objects.filter((object) => object.kind === kind)
/** Kinds that people declare. The programs write the others. */
const declared = definitions.map(({ kind }) => kind).filter((kind) => kind !== 'AccountUsage')

t.test('every object of Tintype is valid', async (t) => {
  const own = objects.filter(({ apiVersion }) => apiVersion === 'tintype.dev/v1alpha1')
  t.strictSame(
    own.map(({ kind }) => kind),
    ['Account', 'ApiKey', 'Webhook', 'ScreenshotSchedule', 'Screenshot'],
  )
  for (const object of own) t.strictSame(faultsOf(object), [], object.kind)
})

const [config] = ofKind('ConfigMap')
const checks = new Map(
  Object.entries(config?.data ?? {}).map(([key, text]) => [/^resource\.customizations\.health\.tintype\.dev_(\w+)$/.exec(key)?.[1], text]),
)

t.test('Argo CD and Flux have a health check of every kind that people declare', async (t) => {
  t.strictSame([...checks.keys()].sort(), [...declared].sort())
  const [kustomization] = ofKind('Kustomization')
  const expressions = kustomization?.spec?.healthCheckExprs as { apiVersion: string; kind: string; current: string; failed: string }[]
  t.strictSame(expressions.map(({ kind }) => kind).sort(), [...declared].sort())
  for (const { kind, current, failed } of expressions) {
    const type = kind === 'Screenshot' ? 'Succeeded' : 'Ready'
    t.equal(current, `status.conditions.exists(c, c.type == '${type}' && c.status == 'True')`, kind)
    t.match(failed, new RegExp(`^status\\.conditions\\.exists\\(c, c\\.type == '${type}' && c\\.status == 'False'( && [^()]+)?\\)$`), kind)
  }
  t.match(ofKind('Application')[0]?.spec, { syncPolicy: { automated: { prune: true, selfHeal: true } } })
})

const lua = new LuaFactory()

/** The health that Argo CD shows. */
async function healthOf(kind: string, conditions: Partial<Condition>[] | undefined, spec: object = {}): Promise<string> {
  const engine = await lua.createEngine()
  try {
    const status = conditions && { conditions: conditions.map((condition) => ({ message: 'why', ...condition })) }
    engine.global.set('json', JSON.stringify({ metadata: { generation: 2 }, spec, ...(status ? { status } : {}) }))
    // Tables, as Argo CD passes them, instead of JavaScript objects.
    engine.global.set('decode', (text: string) => toLua(JSON.parse(text)))
    engine.global.set('run', checks.get(kind))
    const hs = await engine.doString('obj = load("return " .. decode(json))(); return load(run)()')
    return hs.status
  } finally {
    engine.global.close()
  }
}

/** A JSON value as a Lua expression. */
function toLua(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(toLua).join(', ')}}`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null).replace(/^null$/, 'nil')
  return `{${Object.entries(value)
    .map(([name, entry]) => `[${JSON.stringify(name)}] = ${toLua(entry)}`)
    .join(', ')}}`
}

for (const kind of declared) {
  const type = kind === 'Screenshot' ? 'Succeeded' : 'Ready'
  t.test(`Argo CD shows the health of a ${kind}`, async (t) => {
    t.equal(await healthOf(kind, undefined), 'Progressing')
    t.equal(await healthOf(kind, []), 'Progressing')
    for (const [status, health] of [
      ['Unknown', 'Progressing'],
      ['True', 'Healthy'],
      ['False', 'Degraded'],
    ] as const) {
      t.equal(
        await healthOf(kind, [
          { type: 'Other', status: 'True' },
          { type, status, reason: 'x', observedGeneration: 2 },
        ]),
        health,
      )
    }
  })
}

t.test('Argo CD shows special states', async (t) => {
  const ready = { type: 'Ready', status: 'True', observedGeneration: 2 } as const
  t.equal(await healthOf('ScreenshotSchedule', [ready], { suspend: true }), 'Suspended')
  t.equal(await healthOf('ScreenshotSchedule', [{ ...ready, observedGeneration: 1 }]), 'Progressing', 'of an older spec')
  t.equal(await healthOf('ScreenshotSchedule', [ready, { type: 'LastRunSucceeded', status: 'False' }]), 'Healthy')
  t.equal(await healthOf('RunnerPool', [{ type: 'Ready', status: 'False', reason: 'RunnersStarting' }]), 'Progressing')
  t.equal(await healthOf('Account', [{ type: 'Ready', status: 'False' }], { suspended: true }), 'Suspended')
  for (const kind of ['ApiKey', 'Webhook'])
    t.equal(await healthOf(kind, [{ type: 'Ready', status: 'False' }], { active: false }), 'Suspended')
})

t.test('the table of names has the limits of every kind', async (t) => {
  const [, section = ''] = /^## Names of objects\n(.*?)^## /ms.exec(readText('docs/gitops.md')) ?? []
  const rows = [...section.matchAll(/^\| (\w+) \| (\d+) \| ([^|]+) \|/gm)].map(([, kind, length, characters = '']) => [
    kind,
    Number(length),
    characters.includes('`.`'),
  ])
  const limits = definitions.map(({ kind, names }) => [kind, names?.maxLength ?? MAX_OBJECT_NAME_LENGTH, !names?.isLabel])
  const byKind = (one: unknown[], other: unknown[]) => String(one[0]).localeCompare(String(other[0]))
  t.strictSame(rows.sort(byKind), limits.sort(byKind))
})
