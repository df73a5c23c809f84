import t from 'tap'
import { z } from 'zod'
import { toStructuralSchema } from '../../../../crds/generate/structural-schema.ts'

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
