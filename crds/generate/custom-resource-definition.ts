import { GROUP, VERSION } from '../src/identifiers/names.ts'
import { toKubernetesText } from '../src/options/kubernetes-names.ts'
import { type Definition, nameRules } from '../src/schema/custom-resource.ts'
import { toStructuralSchema } from './structural-schema.ts'

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
