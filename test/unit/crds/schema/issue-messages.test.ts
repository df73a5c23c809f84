import t from 'tap'
import { z } from 'zod'
import { describeIssue, findDescription } from '../../../../crds/src/schema/issue-messages.ts'

/** What is wrong with a value of a field. */
function messageFor(schema: z.ZodType, body: unknown): string | undefined {
  const [issue] = schema.safeParse(body).error?.issues ?? []
  return issue && describeIssue(issue, 'field', { schema, body })
}

t.test('a value of the wrong type is named with the type in words', async (t) => {
  t.equal(messageFor(z.record(z.string(), z.string()), 'x'), 'field must be an object with names and values')
  t.equal(messageFor(z.object({}), []), 'field must be an object with names and values')
  t.equal(messageFor(z.array(z.string()), 'x'), 'field must be a list')
  t.equal(messageFor(z.string(), 1), 'field must be a text')
  t.equal(messageFor(z.boolean(), 'yes'), 'field must be true or false')
  t.equal(messageFor(z.number(), 'x'), 'field must be a number')
  t.equal(messageFor(z.int(), 1.5), 'field must be a whole number')
  t.equal(messageFor(z.date(), 1), 'field must be of type date')
})

t.test('a length is said in words, also of one character and of nothing', async (t) => {
  t.equal(messageFor(z.string().min(1), ''), 'field must not be empty')
  t.equal(messageFor(z.array(z.string()).min(1), []), 'field must not be empty')
  t.equal(messageFor(z.string().max(1), 'xy'), 'field must be at most 1 character long')
  t.equal(messageFor(z.string().min(2), 'x'), 'field must be at least 2 characters long')
  t.equal(messageFor(z.array(z.string()).max(1), ['a', 'b']), 'field must be at most 1 item long')
  t.equal(messageFor(z.number().min(1), 0), 'field must be at least 1')
})

t.test('an item of a list that has the wrong type is named with a sample', async (t) => {
  const statuses = z.array(z.string()).describe('Statuses, such as 404 or 500-511, at most 20. Default: none.')
  t.equal(messageFor(statuses, [404]), 'field must be a text, such as "404" or "500-511"')
  t.equal(messageFor(z.array(z.string()).describe('Texts.'), [404]), 'field must be a text')
})

t.test('a description is quoted only if it says how a value is written', async (t) => {
  const text = (description: string) => z.string().regex(/^a$/).describe(description)
  t.equal(messageFor(text('Margin, such as 10mm.'), 'x'), 'field has the wrong format. Expected: Margin, such as 10mm.')
  t.equal(messageFor(text('Id of the run.'), 'x'), 'field has the wrong format')
  t.equal(messageFor(z.string().regex(/^a$/), 'x'), 'field has the wrong format')
  t.equal(messageFor(z.string().regex(/^a$/, 'must be a'), 'x'), 'field must be a')
})

t.test('findDescription leaves out the default', async (t) => {
  const schema = z.object({ a: z.array(z.string()).describe('Texts. Default: none.').optional() })
  t.equal(findDescription(schema, ['a', 0]), 'Texts.')
})
