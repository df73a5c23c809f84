import t from 'tap'
import { toCustomResourceDefinition } from '../../../crds/src/custom-resource-definition.ts'
import { definitions } from '../../../crds/src/kinds/all.ts'

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

t.test('every field of every kind has a type', async (t) => {
  t.ok(nodes.length > 100)
  for (const [path, { type }] of nodes) t.ok(type, path)
})

t.test('every text, list and map of every kind has a bound, without which the API server cannot price its rules', async (t) => {
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

t.test('every field of every kind explains itself', async (t) => {
  const silent = nodes.filter(([path, { description }]) => /\.(spec|status)\..*[a-zA-Z]$/.test(path) && typeof description !== 'string')
  t.strictSame(
    silent.map(([path]) => path),
    [],
  )
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

t.test('toCustomResourceDefinition has rules, defaults and subresources where the kind wants them', async (t) => {
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
  for (const crd of crds) t.match(crd, { spec: { versions: [{ subresources: { status: {} }, additionalPrinterColumns: Array }] } })
  for (const { columns, kind } of definitions)
    t.ok(
      columns.some(({ name }) => name === 'Age'),
      kind,
    )
})
