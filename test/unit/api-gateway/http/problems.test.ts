import t from 'tap'
import type { z } from 'zod'
import { NAME_SUGGESTIONS, toProblems } from '../../../../api-gateway/src/http/problems.ts'
import { readQuery } from '../../../../api-gateway/src/http/query.ts'
import { CreateKeyBody, UpdateKeyBody, updateKeyBody } from '../../../../api-gateway/src/resources/keys/fields.ts'
import { createScheduleBody, UpdateSchedule, updateScheduleBody } from '../../../../api-gateway/src/resources/schedules/bodies.ts'
import { CreateBody, parseCreateBody } from '../../../../api-gateway/src/resources/screenshots/create-body.ts'
import { captureOptionFields } from '../../../../api-gateway/src/resources/screenshots/options/options-body.ts'
import { waitQuery } from '../../../../api-gateway/src/resources/screenshots/wait.ts'
import { parseLinkQuery } from '../../../../api-gateway/src/resources/take/link-query.ts'
import { CreateWebhookBody, UpdateWebhookBody, updateWebhookBody } from '../../../../api-gateway/src/resources/webhooks/fields.ts'
import { DEFAULT_EGRESS_RULES } from '../../../../crds/src/addresses/address-rules.ts'
import { PROBLEM_CODES } from '../../../../crds/src/schema/errors.ts'
import { assertEvery, assertSome } from '../../../support/accepts.ts'
import { refusalOf } from '../requests.ts'

const url = 'https://example.com/'

const problemsOf = (read: () => unknown) => refusalOf(read)?.details ?? []
const create = (body: unknown) => problemsOf(() => parseCreateBody(body, DEFAULT_EGRESS_RULES))
const withOptions = (options: object) => create({ url, options })

t.test('a missing field is required, not of the wrong type', async (t) => {
  t.match(create(undefined), [{ path: '', code: 'required', message: 'the body is required' }])
  t.match(create({}), [{ path: 'url', code: 'required', message: 'url is required' }])
  t.match(withOptions({ click: null }), [{ path: 'options.click', code: 'invalid_type' }])
})

const values = [
  { options: { format: 'jpg' }, path: 'options.format', meant: '"jpeg"' },
  { options: { format: 'PNG' }, path: 'options.format', meant: '"png"' },
  { options: { pdf_paper_format: 'A4' }, path: 'options.pdf_paper_format', meant: '"a4"' },
  { options: { wait_until: ['load', 'networkidle2'] }, path: 'options.wait_until[1]', meant: '"networkidle"' },
]
for (const { options, path, meant } of values) {
  t.test(`${JSON.stringify(options)} is refused with the value that was meant`, async (t) => {
    t.match(withOptions(options), [{ path, code: 'invalid_value', message: new RegExp(`must be one of .*; did you mean ${meant}\\?$`) }])
  })
}

t.test('a value that is near to none is refused with the choices alone', async (t) => {
  const choices = '"png", "jpeg", "webp", "avif", "pdf", "mp4", "webm", "gif"'
  t.equal(withOptions({ format: 'heic' })[0]?.message, `options.format must be one of ${choices}`)
})

const names = [
  { body: { url, options: { width: 800 } }, message: 'width is not known here; did you mean viewport_width?' },
  { body: { url, width: 800 }, message: 'width is not known here; did you mean options.viewport_width?' },
  { body: { url, options: { quality: 80 } }, message: 'quality is not known here; did you mean image_quality?' },
  { body: { url, options: { 'User-Agent': 'a' } }, message: 'User-Agent is not known here; did you mean user_agent?' },
  { body: { url, options: { thumb_width: 80 } }, message: 'thumb_width is not known here; did you mean thumbnail_width?' },
  { body: { url, full_page: true }, message: 'full_page is not known here; did you mean options.full_page?' },
  { body: { url, something_else: 1 }, message: 'something_else is not known here' },
]
for (const { body, message } of names) {
  t.test(`a name of another service's is refused with ours: ${message}`, async (t) => {
    t.match(create(body), [{ code: 'unknown_field', message }])
  })
}

const unusable = 'cannot be used in a schedule, because'
const places: [body: object, path: string, message: string][] = [
  [{ options: { attachment_name: 'a' } }, 'options.attachment_name', 'is not known here; did you mean attachment_name at the top level?'],
  [
    { options: { ExternalIdentifier: 'a' } },
    'options.ExternalIdentifier',
    'is not known here; did you mean external_identifier at the top level?',
  ],
  [{ options: { url } }, 'options.url', 'is not known here; did you mean url at the top level?'],
  [{ Full_Page: true }, 'Full_Page', 'is not known here; did you mean options.full_page?'],
  [{ async: true }, 'async', `${unusable} no request waits for its runs. Leave it out.`],
  [{ options: { response_type: 'json' } }, 'options.response_type', `${unusable} no request waits for its runs. Leave it out.`],
  [{ cache_ttl: 60 }, 'cache_ttl', `${unusable} every run captures the page. Leave it out.`],
  [{ options: { cache: true } }, 'options.cache', `${unusable} every run captures the page. Leave it out.`],
  [{ toString: 1 }, 'toString', 'is not known here'],
]
t.test('the message about a field of a schedule suggested the same field: it says where the field belongs, or why not', async (t) => {
  const context = { isLenient: false, deps: { egress: DEFAULT_EGRESS_RULES, webhookRules: DEFAULT_EGRESS_RULES, now: () => new Date() } }
  for (const [body, path, message] of places) {
    const [problem, ...more] = problemsOf(() => createScheduleBody.read({ url, schedule: '@daily', ...body }, context as never))
    t.strictSame([problem?.path, problem?.message, more], [path, `${path.split('.').at(-1)} ${message}`, []])
  }
  t.strictSame(
    problemsOf(() => createScheduleBody.read({ url, schedule: '@daily', attachment_name: 'a.png' }, context as never)),
    [],
  )
})

t.test('every name of other services leads to a field that there is', async (t) => {
  const known = Object.keys(CreateBody.shape.options.unwrap().shape)
  const suggestions = [...NAME_SUGGESTIONS]
  assertEvery(t, suggestions, ([, ours]) => known.includes(ours))
  const own = new Set(known.map((name) => name.replaceAll('_', '')))
  assertEvery(t, suggestions, ([other]) => !own.has(other), 'none of them is a name of ours')
})

// Each problem costs time, and anybody can send a query.
const many = Array.from({ length: 1_500 }, (_, n) => `n${n.toString(36)}`)
const crowds: [string, () => unknown, string][] = [
  ['a signed link', () => parseLinkQuery(many.join('&')), '1450 more names in the query are not known'],
  [
    'another query',
    () => readQuery(Object.fromEntries(many.map((name) => [name, ''])), waitQuery),
    '1450 more names in the query are not known',
  ],
  [
    'an object',
    () => parseCreateBody({ url, options: Object.fromEntries(many.map((name) => [name, 1])) }, DEFAULT_EGRESS_RULES),
    '1450 more names in options are not known',
  ],
  [
    'an option with names of its own',
    () => parseCreateBody({ url, options: { media_features: Object.fromEntries(many.map((name) => [name, 1])) } }, DEFAULT_EGRESS_RULES),
    '1400 more values of the body are not valid',
  ],
]
for (const [what, read, message] of crowds) {
  t.test(`thousands of mistakes in ${what} are counted, not listed`, async (t) => {
    const problems = problemsOf(read)
    t.ok(problems.length <= 102, String(problems.length))
    assertSome(t, problems, (problem) => problem.message === message, message)
  })
}

const WRONG = ['\u0001', [''], ['\u0001'], { '\u0001': '\u0001' }, { a: '\u0001' }, [{ name: '\u0001', value: '\u0001' }], -1, '', null]
const INNER_WORDS = /\^|\\|\{\d|\[[^\]]*\w-\w[^\]]*\]|Invalid|undefined/
const bodies: [string, z.ZodObject][] = [
  ['POST /screenshots', CreateBody],
  ['its options', CreateBody.shape.options.unwrap()],
  ['POST /keys', CreateKeyBody],
  ['PATCH /keys', UpdateKeyBody],
  ['POST /webhooks', CreateWebhookBody],
  ['PATCH /webhooks', UpdateWebhookBody],
]
for (const [what, schema] of bodies) {
  t.test(`no message of ${what} shows a regular expression or words of the library, and each code is a known one`, async (t) => {
    const problems = Object.keys(schema.shape).flatMap((name) =>
      WRONG.flatMap((value) => {
        const body = { [name]: value }
        return toProblems(schema.safeParse(body).error?.issues ?? [], {}, { schema, body })
      }),
    )
    t.ok(problems.length > 10)
    assertEvery(t, problems, ({ code, message }) => code in PROBLEM_CODES && !INNER_WORDS.test(message))
  })
}

const rules = { egress: DEFAULT_EGRESS_RULES, webhookRules: DEFAULT_EGRESS_RULES, now: () => new Date(0) }
const scheduleOptions = Object.keys(captureOptionFields).map((option) => `options.${option}`)
const updates: [string, { read: (raw: unknown, context: { isLenient: boolean; deps: typeof rules }) => unknown }, string[]][] = [
  ['PATCH /keys', updateKeyBody, ['id', ...Object.keys(UpdateKeyBody.shape)]],
  ['PATCH /webhooks', updateWebhookBody, ['id', ...Object.keys(UpdateWebhookBody.shape)]],
  ['PATCH /schedules', updateScheduleBody, ['id', ...Object.keys(UpdateSchedule.shape), 'options.id', ...scheduleOptions]],
]
for (const [what, { read }, fields] of updates) {
  t.test(`one wrong field of ${what} is one problem`, async (t) => {
    const values = ['', '\u0001', 'a b', -1, {}, [], [''], { '\u0001': 1 }, true, null]
    const found = fields.flatMap((field) =>
      values.map((value) => {
        const [outer = '', inner] = field.split('.')
        const body = { [outer]: inner === undefined ? value : { [inner]: value } }
        return { field, value, problems: problemsOf(() => read(body, { isLenient: false, deps: rules })) }
      }),
    )
    t.ok(fields.every((field) => found.some((each) => each.field === field && each.problems.length > 0)))
    assertEvery(t, found, ({ problems }) => problems.length <= 1)
  })
}

t.test('a text of the wrong form is refused with what it should be', async (t) => {
  t.match(withOptions({ pdf_margin_top: 'wide' }), [
    { code: 'invalid_format', message: 'options.pdf_margin_top must be a length, such as 10mm, 1in or 20px' },
  ])
  t.match(withOptions({ headers: { 'a b': 'c' } }), [
    { code: 'invalid_format', message: /a name in options.headers must be the name of a header/ },
  ])
  t.match(withOptions({ pdf_page_ranges: 'all' }), [{ message: /has the wrong format. Expected: Pages to include, such as 1-3,5\./ }])
  t.match(withOptions({ headers: 'a: b' }), [{ message: 'options.headers must be an object with names and values' }])
  t.match(withOptions({ fail_on_status: [404] }), [{ message: 'options.fail_on_status[0] must be a text, such as "404" or "500-511"' }])
  t.match(withOptions({ fail_on_status: ['9'] }), [{ path: 'options.fail_on_status[0]', message: /as 404 or 500-511/ }])
})
