import type { Definition } from './kinds/custom-resource.ts'
import { GROUP, VERSION } from './names.ts'
import { toStructuralSchema } from './structural-schema.ts'

/** Builds the CustomResourceDefinition of a kind, as it is applied to a cluster. */
export function toCustomResourceDefinition(definition: Definition): Record<string, unknown> {
  const { kind, plural, singular, shortNames, scale } = definition
  const spec = toStructuralSchema(definition.spec)
  const status = toStructuralSchema(definition.status)
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
              properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' }, spec, status },
              ...(definition.rules ? { 'x-kubernetes-validations': definition.rules } : {}),
            },
          },
        },
      ],
    },
  }
}
