import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { z } from 'zod'
import { definitions, toCustomResourceDefinition, toStructuralSchema } from '../../../../crds/generate/custom-resource-definition.ts'
import { assertEvery } from '../../../support/accepts.ts'

type Node = { [key: string]: unknown; properties?: Record<string, Node>; items?: Node; additionalProperties?: Node; type?: string }
type Crd = { spec: { names: { plural: string; shortNames: string[] }; versions: { schema: { openAPIV3Schema: Node } }[] } }

/** Every node of a schema with its path. */
function* walk(node: Node, path: string): Generator<[string, Node]> {
  yield [path, node]
  for (const [name, child] of Object.entries(node.properties ?? {})) yield* walk(child, `${path}.${name}`)
  if (node.items) yield* walk(node.items, `${path}[]`)
  if (typeof node.additionalProperties === 'object') yield* walk(node.additionalProperties, `${path}{}`)
}

const crds = definitions.map((definition) => toCustomResourceDefinition(definition) as unknown as Crd)
const nodes = crds.flatMap(({ spec }) => {
  const { properties = {} } = spec.versions[0]!.schema.openAPIV3Schema
  return (['spec', 'status'] as const).flatMap((part) => [...walk(properties[part]!, `${spec.names.plural}.${part}`)])
})

t.test('kubectl selects the objects of one account in each kind that has accounts', async (t) => {
  const named = definitions.filter((_, place) => {
    const { properties = {} } = crds[place]!.spec.versions[0]!.schema.openAPIV3Schema
    return properties.spec?.properties?.accountName !== undefined
  })
  t.ok(named.length > 3)
  for (const { kind, selectableFields } of named) t.ok(selectableFields?.includes('.spec.accountName'), kind)
})

t.test('every field of every kind has a type and a description', async (t) => {
  t.ok(nodes.length > 100)
  assertEvery(t, nodes, ([, { type }]) => type)
  assertEvery(t, nodes, ([path, { description }]) => /(\[\]|\{\})$/.test(path) || description)
})

t.test('every text, list and map of every kind has a limit, which the API server needs to estimate the cost of rules', async (t) => {
  assertEvery(t, nodes, ([, node]) => {
    if (node.type === 'string') return node.maxLength !== undefined || node.enum !== undefined || node.pattern !== undefined
    if (node.type === 'array') return node.maxItems !== undefined
    return node.additionalProperties === undefined || node.maxProperties !== undefined
  })
})

interface Rule {
  message?: string
  messageExpression?: string
}

/** Every text of a kind that kubectl shows. */
const texts = crds.flatMap((crd, index) => {
  const { properties = {}, ...root } = crd.spec.versions[0]!.schema.openAPIV3Schema
  const all = [...walk({ ...root, properties: { spec: properties.spec!, status: properties.status! } }, definitions[index]!.plural)]
  return all.flatMap(([path, { description, 'x-kubernetes-validations': rules = [] }]) => [
    { path, text: String(description ?? '') },
    ...(rules as Rule[]).map(({ message = '', messageExpression = '' }) => ({ path: `${path} rule`, text: message + messageExpression })),
  ])
})

t.test('every rule has a message that says what to do', async (t) => {
  const rules = texts.filter(({ path }) => path.endsWith(' rule'))
  t.ok(rules.length > 20)
  assertEvery(t, rules, ({ text }) => text !== '')
})

t.test('descriptions and messages of rules spell fields in camel case, as kubectl users write them', async (t) => {
  const values = new Set(nodes.flatMap(([, node]) => (node.enum as string[] | undefined) ?? []).concat('x86_64'))
  assertEvery(t, texts, ({ text }) => [...text.matchAll(/\b[a-z0-9]+(?:_[a-z0-9]+)+\b/g)].every(([name]) => values.has(name)))
})

t.test('no kind writes defaults into objects', async (t) => {
  assertEvery(t, nodes, ([path, node]) => !('default' in node) || path === 'screenshots.status')
})

t.test('no two kinds share a name', async (t) => {
  const names = definitions.flatMap(({ kind, plural, singular, shortNames }) => [kind, plural, singular, ...shortNames])
  t.equal(new Set(names.map((name) => name.toLowerCase())).size, names.length - definitions.length, 'a singular is its kind’s name')
})

t.test('toCustomResourceDefinition includes the rules, defaults and subresources of a kind', async (t) => {
  const version = crds[0]?.spec.versions[0]
  t.match(version, { selectableFields: [{ jsonPath: '.status.phase' }, { jsonPath: '.spec.accountName' }] })
  t.match(version?.schema.openAPIV3Schema.properties, {
    spec: { 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }], 'x-kubernetes-map-type': 'atomic' },
    status: { default: { phase: 'Pending' }, 'x-kubernetes-map-type': 'atomic' },
  })
  const pool = crds.find(({ spec }) => spec.names.plural === 'runnerpools')
  t.match(pool, { spec: { versions: [{ subresources: { status: {}, scale: { specReplicasPath: '.spec.minIdle' } } }] } })
})

t.test('every kind has the status subresource and an age', async (t) => {
  t.match(
    crds,
    crds.map(() => ({ spec: { versions: [{ subresources: { status: {} }, additionalPrinterColumns: Array }] } })),
  )
  assertEvery(t, definitions, ({ columns }) => columns.some(({ name }) => name === 'Age'))
})

/** Maximum characters of a column. With ten such columns, a row takes one or two lines of a terminal. */
const MAX_COLUMN = { shown: 128, wide: 512 }

/** The schema of the field that a column shows. Undefined: it shows no field of the kind. */
function schemaOf(plural: string, jsonPath: string): Node | undefined {
  const path = jsonPath.slice(1).replace(/\[(\?.*?|0)\]/g, '[]')
  return nodes.find(([candidate]) => candidate === `${plural}.${path}`)?.[1]
}

for (const { plural, columns } of definitions) {
  t.test(`kubectl get ${plural} has no column that one long value can widen`, async (t) => {
    const texts = columns.filter(({ type }) => type === 'string')
    assertEvery(t, texts, ({ jsonPath, priority }) => {
      const schema = schemaOf(plural, jsonPath)
      if (schema?.enum || schema?.type === 'array' || /\{\d/.test(String(schema?.pattern))) return true
      return Number(schema?.maxLength) <= (priority === 1 ? MAX_COLUMN.wide : MAX_COLUMN.shown)
    })
  })

  t.test(`kubectl get ${plural} shows ages of past times only, because a future time reads <invalid>`, async (t) => {
    const dates = columns.filter(({ type }) => type === 'date').map(({ jsonPath }) => jsonPath)
    const past = ['.metadata.creationTimestamp', '.status.lastUsedTime', '.status.lastRunTime', '.status.lastChange.time']
    assertEvery(t, dates, (path) => past.includes(path))
  })
}

t.test('toStructuralSchema keeps limits, descriptions and metadata', async (t) => {
  const schema = z.object({
    count: z.int().min(1).max(9).describe('How many.'),
    name: z
      .string()
      .max(63)
      .regex(/^[a-z]+$/)
      .describe('Its name.')
      .optional(),
    kind: z.enum(['a', 'b']).describe('Which.').optional(),
    list: z.array(z.string()).max(3).meta({ 'x-kubernetes-list-type': 'set' }).optional(),
  })
  t.strictSame(toStructuralSchema(schema), {
    type: 'object',
    properties: {
      count: { type: 'integer', minimum: 1, maximum: 9, description: 'How many.' },
      name: { type: 'string', maxLength: 63, pattern: '^[a-z]+$', description: 'Its name.' },
      kind: { type: 'string', enum: ['a', 'b'], description: 'Which.' },
      list: { type: 'array', maxItems: 3, items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    },
    required: ['count'],
  })
})

t.test('toStructuralSchema drops keys that the API server refuses: defaults, and additionalProperties beside properties', async (t) => {
  const schema = toStructuralSchema(z.strictObject({ a: z.boolean().default(true), map: z.record(z.string().max(9), z.string()) }))
  t.notMatch(JSON.stringify(schema), /"default"|\$schema|propertyNames/)
  t.notOk('additionalProperties' in schema)
  t.match(schema, { properties: { map: { type: 'object', additionalProperties: { type: 'string' } } } })
})

t.test('toStructuralSchema keeps a property whose name is a keyword', async (t) => {
  const schema = toStructuralSchema(z.object({ id: z.string(), default: z.string(), required: z.string() }))
  t.strictSame(Object.keys(schema.properties as object), ['id', 'default', 'required'])
})

t.test('generated files are up to date', async (t) => {
  const generator = fileURLToPath(new URL('../../../../crds/generate/main.ts', import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [generator, '--check'], { encoding: 'utf8' })
  t.equal(status, 0, stderr)
})
