import { z } from 'zod'
import { GROUP, VERSION } from '../src/identifiers/names.ts'
import { accountDefinition, accountUsageDefinition } from '../src/kinds/account.ts'
import { apiKeyDefinition } from '../src/kinds/api-key.ts'
import { runnerPoolDefinition } from '../src/kinds/runner-pool.ts'
import { screenshotDefinition } from '../src/kinds/screenshot.ts'
import { screenshotScheduleDefinition } from '../src/kinds/screenshot-schedule.ts'
import { webhookDefinition } from '../src/kinds/webhook.ts'
import { optionsByName } from '../src/options/groups.ts'
import { type Definition, nameRules } from '../src/schema/custom-resource.ts'
import { toSnakeCase } from '../src/text/words.ts'

/** Keys whose string values are texts for people. A value that is not a string belongs to a field of that name. */
const TEXTS = new Set(['description', 'message'])

/** Spells the option names in all texts in camel case, as kubectl users write them. */
const spell = (node: unknown, key = ''): unknown => {
  if (typeof node === 'string') return TEXTS.has(key) ? toKubernetesText(node) : node
  if (Array.isArray(node)) return node.map((item) => spell(item))
  if (node === null || typeof node !== 'object') return node
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, spell(value, name)]))
}

/** Builds the CustomResourceDefinition of a kind. */
export function toCustomResourceDefinition(definition: Definition): Record<string, unknown> {
  const { kind, plural, singular, shortNames, scale } = definition
  const spec = toStructuralSchema(definition.spec)
  const status = toStructuralSchema(definition.status)
  const rules = [...nameRules(definition), ...(definition.rules ?? [])]
  if (definition.specRules) spec['x-kubernetes-validations'] = definition.specRules
  if (definition.statusDefault) status.default = definition.statusDefault
  if (definition.isWrittenWhole) for (const part of [spec, status]) part['x-kubernetes-map-type'] = 'atomic'
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames, categories: ['tintype'] },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          subresources: { status: {}, ...(scale ? { scale } : {}) },
          additionalPrinterColumns: definition.columns,
          ...(definition.selectableFields ? { selectableFields: definition.selectableFields.map((jsonPath) => ({ jsonPath })) } : {}),
          schema: {
            openAPIV3Schema: {
              description: definition.description,
              type: 'object',
              required: ['spec'],
              properties: {
                apiVersion: { type: 'string' },
                kind: { type: 'string' },
                metadata: { type: 'object' },
                spec: spell(spec),
                status: spell(status),
              },
              ...(rules.length > 0 ? { 'x-kubernetes-validations': rules } : {}),
            },
          },
        },
      ],
    },
  }
}

// Converts zod schemas to structural schemas for a CustomResourceDefinition: no `additionalProperties: false` beside `properties`, no `default`,
// no `pattern` flags, and only formats that the API server knows.

type Json = Record<string, unknown>

/** Keys of JSON Schema that the API server does not support or that other keys already express. */
const DROPPED_KEYS = new Set(['$schema', 'additionalItems', 'id', 'default'])

function convert(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(convert)
  if (node === null || typeof node !== 'object') return node
  const source = node as Json
  const target: Json = {}
  for (const [key, value] of Object.entries(source)) {
    if (DROPPED_KEYS.has(key)) continue
    if (key === 'properties') target[key] = Object.fromEntries(Object.entries(value as Json).map(([name, child]) => [name, convert(child)]))
    else target[key] = key === 'enum' || key === 'required' ? value : convert(value)
  }
  if (target.properties !== undefined || target.additionalProperties === false) delete target.additionalProperties
  if (target.propertyNames !== undefined) delete target.propertyNames
  return target
}

/** Turns a zod schema into an OpenAPI v3 schema that the API server accepts as structural. */
export function toStructuralSchema(schema: z.ZodType): Json {
  return convert(z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input' })) as Json
}

// Options have two spellings: snake case in the REST API, camel case in Kubernetes. Texts that kubectl shows use camel case.

/** Names that differ in more than case. */
const RENAMED: Readonly<Record<string, string>> = { download_url_ttl: 'downloadUrlTtlSeconds', final_url: 'finalUrl' }

const NAMES: ReadonlyMap<string, string> = new Map([
  ...[...optionsByName.keys()].map((name): [string, string] => [toSnakeCase(name), name]),
  ...Object.entries(RENAMED),
])

/** Converts the option names in a text to camel case. Other words in snake case, such as values, are unchanged. */
const toKubernetesText = (text: string): string => text.replaceAll(/\b[a-z0-9]+(?:_[a-z0-9]+)+\b/g, (name) => NAMES.get(name) ?? name)

/** Every kind of the API group. */
export const definitions: readonly Definition[] = [
  screenshotDefinition,
  screenshotScheduleDefinition,
  webhookDefinition,
  accountDefinition,
  accountUsageDefinition,
  apiKeyDefinition,
  runnerPoolDefinition,
]
