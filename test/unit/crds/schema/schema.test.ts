import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { z } from 'zod'
import { definitions } from '../../../../crds/generate/custom-resource-definition.ts'
import { accountDefinition } from '../../../../crds/src/kinds/account.ts'
import { apiKeyDefinition } from '../../../../crds/src/kinds/api-key.ts'
import { webhookDefinition } from '../../../../crds/src/kinds/webhook.ts'
import { type Condition, findCondition, setCondition, toReason } from '../../../../crds/src/schema/conditions.ts'
import { findNameProblem, nameRules } from '../../../../crds/src/schema/custom-resource.ts'
import { HTTP_ERRORS, isRetryable, JOB_ERRORS, type JobErrorCode } from '../../../../crds/src/schema/errors.ts'
import { EVENT_TYPES, eventsOfStatus, isCreationEvent, REQUEST_EVENTS } from '../../../../crds/src/schema/event-types.ts'
import { MAX_URL_LENGTH, TargetUrl } from '../../../../crds/src/schema/fields.ts'
import { describeIssue, findDescription } from '../../../../crds/src/schema/issue-messages.ts'
import { applyMergePatch, replaceObjects, toMergePatch } from '../../../../crds/src/schema/merge-patch.ts'
import { assertAccepts, assertEvery } from '../../../support/accepts.ts'
import { at } from '../../../support/fakes/builders.ts'

const aCondition = (given: Partial<Condition> = {}): Condition => ({
  type: 'Ready',
  status: 'True',
  reason: 'Good',
  message: 'all is well',
  lastTransitionTime: at(0).toISOString(),
  ...given,
})

t.test('toReason converts a code to a Kubernetes reason', async (t) => {
  t.equal(toReason('BLOCKED_ADDRESS'), 'BlockedAddress')
  t.equal(toReason('TIMEOUT'), 'Timeout')
  assertEvery(t, Object.keys(JOB_ERRORS).map(toReason), (reason) => /^[A-Z][A-Za-z]*$/.test(reason))
})

t.test('setCondition changes the transition time only if the status changes', async (t) => {
  const before = [aCondition()]
  const [same] = setCondition(before, { type: 'Ready', status: 'True', reason: 'Better', message: '' }, at(9))
  t.match(same, { reason: 'Better', lastTransitionTime: at(0).toISOString() })
  const [flipped] = setCondition(before, { type: 'Ready', status: 'False', reason: 'Bad', message: '' }, at(9))
  t.match(flipped, { reason: 'Bad', lastTransitionTime: at(9).toISOString() })
})

t.test('setCondition does not change other conditions or the given list', async (t) => {
  const before = [aCondition(), aCondition({ type: 'Sandboxed' })]
  const after = setCondition(before, { type: 'Ready', status: 'False', reason: 'Bad', message: '' }, at(9))
  t.equal(after.length, 2)
  t.strictSame(findCondition(after, 'Sandboxed'), before[1])
  t.equal(before[0]?.status, 'True')
})

const table = [...Object.entries(JOB_ERRORS), ...Object.entries(HTTP_ERRORS)]

t.test('every error has a code in capitals and a remedy, and those of requests a 4xx or 5xx status', async (t) => {
  assertEvery(t, table, ([code, { remedy }]) => /^[A-Z]+(_[A-Z]+)*$/.test(code) && /^\S.{10,}\.$/.test(remedy))
  assertEvery(t, Object.values(HTTP_ERRORS), ({ status }) => status >= 400 && status < 600)
})

t.test('isRetryable is true for failures of the service and false for failures of the page', async (t) => {
  const retryable = (Object.keys(JOB_ERRORS) as JobErrorCode[]).filter(isRetryable)
  t.strictSame(retryable.sort(), ['INTERNAL_ERROR', 'STORAGE_FAILED'])
})

t.test('EVENT_TYPES and REQUEST_EVENTS list the documented event types and defaults', async (t) => {
  const [list = ''] = readFileSync(join(import.meta.dirname, '../../../../docs/webhooks.md'), 'utf8').split('```')
  t.strictSame([...EVENT_TYPES], list.match(/(?<=`)(screenshot|video)\.[a-z-]+(?=`)/g))
  t.strictSame(REQUEST_EVENTS, ['screenshot.completed', 'screenshot.failed', 'video.completed', 'video.failed'], 'of webhook_events')
})

t.test('eventsOfStatus returns the events that a status has emitted, in order', async (t) => {
  t.strictSame(eventsOfStatus('screenshot'), ['screenshot.queued'])
  t.strictSame(eventsOfStatus('screenshot', { phase: 'Running' }), ['screenshot.queued'])
  t.strictSame(eventsOfStatus('screenshot', { phase: 'Completed' }), ['screenshot.queued', 'screenshot.completed'])
  t.strictSame(eventsOfStatus('screenshot', { phase: 'Failed' }), ['screenshot.queued', 'screenshot.failed'])
  t.strictSame(eventsOfStatus('screenshot', { phase: 'Failed' }).map(isCreationEvent), [true, false])
  t.strictSame(eventsOfStatus('video', { phase: 'Running' }), [])
  t.strictSame(eventsOfStatus('video', { phase: 'Completed' }), ['video.completed'])
  t.strictSame(eventsOfStatus('video', { phase: 'Failed' }), ['video.failed'])
})

t.test('eventsOfStatus includes screenshot.changed only for a completed capture whose comparison found a change', async (t) => {
  const emits = (phase: string, changed: boolean) =>
    eventsOfStatus('screenshot', { phase, result: { comparison: { changed } } }).includes('screenshot.changed')
  t.ok(emits('Completed', true))
  t.notOk(emits('Completed', false))
  t.notOk(emits('Failed', true))
})

t.test('eventsOfStatus includes screenshot.unfit and screenshot.fit only for a run that differs from the run before', async (t) => {
  const of = (unfit: string | undefined, wasFit?: boolean, phase = 'Completed') =>
    eventsOfStatus('screenshot', { phase, result: { unfit } }, wasFit).filter((type) => /\.(un)?fit$/.test(type))
  t.strictSame(of('http_error', true), ['screenshot.unfit'])
  t.strictSame(of('http_error', false), [])
  t.strictSame(of(undefined, false), ['screenshot.fit'])
  t.strictSame(of(undefined, true), [])
  t.strictSame(of('http_error'), [], 'no run of a schedule that compares')
  t.strictSame(of(undefined, false, 'Failed'), [], 'a failed run says nothing about the page')
})

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

/** The test cases of RFC 7396, appendix A. */
const cases: [target: unknown, patch: unknown, result: unknown][] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
]
for (const [target, patch, result] of cases) {
  t.test(`a merge patch ${JSON.stringify(patch)} of ${JSON.stringify(target)} gives what the RFC says`, async (t) => {
    const before = JSON.stringify(target)
    t.strictSame(applyMergePatch(target, patch), result)
    t.equal(JSON.stringify(target), before, 'the target stays')
  })
}

t.test('replaceObjects removes the fields that the objects of a patch lack, and keeps the others', async (t) => {
  const before = { kept: 1, list: [{ a: 1 }], picture: { id: 'a', text: { key: 'k', etag: 'e' }, forms: ['x'] } }
  const patch = replaceObjects(before, { list: [], picture: { id: 'b', text: { key: 'l' } }, added: { a: 1 }, gone: null })
  const after = { kept: 1, list: [], picture: { id: 'b', text: { key: 'l' } }, added: { a: 1 } }
  t.strictSame(applyMergePatch(before, patch), after)
})

t.test('toMergePatch names only what differs, and applying it gives the other object', async (t) => {
  const before = { same: [1], changed: 1, gone: true, unset: undefined, deep: { kept: 1, gone: 2 }, list: [1, 2] }
  const after = { same: [1], changed: 2, deep: { kept: 1, added: 3 }, list: [2], added: { a: 1 } }
  const patch = toMergePatch(before, after)
  t.strictSame(patch, { changed: 2, gone: null, deep: { gone: null, added: 3 }, list: [2], added: { a: 1 } })
  t.strictSame(applyMergePatch(JSON.parse(JSON.stringify(before)), patch), after)
  t.strictSame(toMergePatch(after, after), {})
})

t.test('findNameProblem names the limit, and what to do', async (t) => {
  t.equal(findNameProblem(accountDefinition, 'a'.repeat(63)), undefined)
  t.equal(findNameProblem(accountDefinition, 'a'.repeat(64)), 'the name of an Account must be at most 63 characters: use a shorter name')
  t.match(findNameProblem(accountDefinition, 'a.b'), /^the name of an Account must not contain dots: use lower-case/)
  t.equal(findNameProblem(webhookDefinition, `${'w'.repeat(236)}.w`), undefined)
  t.match(findNameProblem(webhookDefinition, 'w'.repeat(239)), /^the name of a Webhook must be at most 238 characters/)
  t.equal(findNameProblem(apiKeyDefinition, 'k'.repeat(253)), undefined)
})

t.test('every rule about a name applies to the creation only, and its message has the limit', async (t) => {
  for (const definition of definitions) {
    for (const { rule, message, optionalOldSelf } of nameRules(definition)) {
      t.match(rule, /^oldSelf\.hasValue\(\) \|\| /)
      t.equal(optionalOldSelf, true)
      t.match(message, new RegExp(`${definition.names?.maxLength} characters|dots`))
    }
  }
})

const accepted = [
  ...['http://example.com', 'https://example.com/', 'https://example.com/a?b=c#d', 'https://example.com?q'],
  ...['https://user.example.com/@me', 'http://[2001:db8::1]:8080/x', 'https://例え.jp/ü'],
  `https://example.com/${'x'.repeat(MAX_URL_LENGTH - 20)}`,
]
const refused = [
  ...['', 'example.com', 'ftp://example.com/', 'file:///etc/passwd', 'javascript:alert(1)', 'HTTPS://example.com/'],
  ...['https://', 'https:///path', 'http://exam ple.com/', ' https://example.com/'],
  ...['https://user:secret@example.com/', 'https://user@example.com/'],
  `https://example.com/${'x'.repeat(MAX_URL_LENGTH)}`,
]

t.test('TargetUrl accepts http and https URLs with a host, but no other schemes, credentials and invalid URLs', async (t) => {
  assertAccepts(t, (url) => TargetUrl.safeParse(url).success, accepted, refused)
})
