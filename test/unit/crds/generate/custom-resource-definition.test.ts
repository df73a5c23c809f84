import t from 'tap'
import { toCustomResourceDefinition } from '../../../../crds/generate/custom-resource-definition.ts'
import { definitions } from '../../../../crds/src/kinds/all.ts'

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

t.test('every field of every kind has a type', async (t) => {
  t.ok(nodes.length > 100)
  const untyped = nodes.filter(([, { type }]) => !type)
  t.strictSame(
    untyped.map(([path]) => path),
    [],
  )
})

t.test('every text, list and map of every kind has a limit, which the API server needs to estimate the cost of rules', async (t) => {
  const unbounded = nodes.filter(([, node]) => {
    if (node.type === 'string') return node.maxLength === undefined && node.enum === undefined && node.pattern === undefined
    if (node.type === 'array') return node.maxItems === undefined
    return node.additionalProperties !== undefined && node.maxProperties === undefined
  })
  t.strictSame(
    unbounded.map(([path]) => path),
    [],
  )
})

t.test('every field of every kind has a description', async (t) => {
  const silent = nodes.filter(([path, { description }]) => !/(\[\]|\{\})$/.test(path) && !description)
  t.strictSame(
    silent.map(([path]) => path),
    [],
  )
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
  t.strictSame(
    rules.filter(({ text }) => text === ''),
    [],
  )
})

t.test('descriptions and messages of rules spell fields in camel case, as kubectl users write them', async (t) => {
  const values = new Set(nodes.flatMap(([, node]) => (node.enum as string[] | undefined) ?? []).concat('x86_64'))
  const rest = texts.flatMap(({ path, text }) =>
    [...text.matchAll(/\b[a-z0-9]+(?:_[a-z0-9]+)+\b/g)].filter(([name]) => !values.has(name)).map(([name]) => `${path}: ${name}`),
  )
  t.strictSame(rest, [])
})

t.test('no kind writes defaults into objects', async (t) => {
  const defaults = nodes.filter(([path, node]) => 'default' in node && path !== 'screenshots.status')
  t.strictSame(
    defaults.map(([path]) => path),
    [],
  )
})

t.test('no two kinds share a name', async (t) => {
  const names = definitions.flatMap(({ kind, plural, singular, shortNames }) => [kind, plural, singular, ...shortNames])
  t.equal(new Set(names.map((name) => name.toLowerCase())).size, names.length - definitions.length, 'a singular is its kind’s name')
})

t.test('toCustomResourceDefinition includes the rules, defaults and subresources of a kind', async (t) => {
  const [shot] = crds
  t.match(shot, {
    spec: {
      versions: [
        {
          selectableFields: [{ jsonPath: '.status.phase' }, { jsonPath: '.spec.accountName' }],
          schema: {
            openAPIV3Schema: {
              properties: {
                spec: { 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }], 'x-kubernetes-map-type': 'atomic' },
                status: { default: { phase: 'Pending' }, 'x-kubernetes-map-type': 'atomic' },
              },
            },
          },
        },
      ],
    },
  })
  const pool = crds.find(({ spec }) => spec.names.plural === 'runnerpools')
  t.match(pool, { spec: { versions: [{ subresources: { status: {}, scale: { specReplicasPath: '.spec.minIdle' } } }] } })
})

t.test('every kind has the status subresource and an age', async (t) => {
  t.match(
    crds,
    crds.map(() => ({ spec: { versions: [{ subresources: { status: {} }, additionalPrinterColumns: Array }] } })),
  )
  const ageless = definitions.filter(({ columns }) => !columns.some(({ name }) => name === 'Age'))
  t.strictSame(
    ageless.map(({ kind }) => kind),
    [],
  )
})

/** Maximum characters of a column. With ten such columns, a row takes one or two lines of a terminal. */
const MAX_COLUMN = { shown: 128, wide: 512 }

/** The schema of the field that a column shows; undefined for metadata. */
function schemaOf(plural: string, jsonPath: string): Node | undefined {
  const path = jsonPath.slice(1).replace(/\[(\?.*?|0)\]/g, '[]')
  return nodes.find(([candidate]) => candidate === `${plural}.${path}`)?.[1]
}

for (const { plural, columns } of definitions) {
  t.test(`kubectl get ${plural} has no column that one long value can widen`, async (t) => {
    const texts = columns
      .filter(({ type }) => type === 'string')
      .map((column) => ({ ...column, schema: schemaOf(plural, column.jsonPath) }))
    const wide = texts.filter(({ priority, schema }) => {
      if (!schema) return true
      if (schema.enum || schema.type === 'array' || /\{\d/.test(String(schema.pattern))) return false
      return !(Number(schema.maxLength) <= (priority === 1 ? MAX_COLUMN.wide : MAX_COLUMN.shown))
    })
    t.strictSame(
      wide.map(({ name, schema }) => (schema ? name : `${name} shows no field of the kind`)),
      [],
    )
  })

  t.test(`kubectl get ${plural} shows ages of past times only, because a future time reads <invalid>`, async (t) => {
    const dates = columns.filter(({ type }) => type === 'date').map(({ jsonPath }) => jsonPath)
    const past = ['.metadata.creationTimestamp', '.status.lastUsedTime', '.status.lastRunTime', '.status.lastChange.time']
    t.strictSame(
      dates.filter((path) => !past.includes(path)),
      [],
    )
  })
}
