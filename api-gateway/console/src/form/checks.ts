import './no-eval.ts'
import type { AllOptions } from '@tintype/crds/options/conditions'
import { contradictions, privateContradictions } from '@tintype/crds/options/contradictions'
import { optionsByName } from '@tintype/crds/options/groups'
import { findWarnings } from '@tintype/crds/options/warnings'
import { type EventType, eventTypesOf } from '@tintype/crds/schema/event-types'
import { describeIssue, toPath } from '@tintype/crds/schema/issue-messages'
import { toCamelCase, toSnakeCase } from '@tintype/crds/text/words'
import type { Collection } from '../api/client.ts'
import { type Field, type FindProblems, fieldsByName } from './fields.ts'

// What the API would refuse, found with the schemas and rules of the API. The schemas are four times as large as the rest of the console, so this
// module loads when the form is used first.

/** Cookies are entered as texts of Set-Cookie headers, which the gateway parses. */
const COOKIE = /^[^\s;=,"]+=[^;]*(;.*)?$/

function findValueProblem({ option, name }: Field, value: unknown): string | undefined {
  if (option === 'cookies') {
    const isValid = (value as string[]).every((cookie) => COOKIE.test(cookie))
    return isValid ? undefined : 'Each line must be a cookie: name=value; Path=/'
  }
  const schema = optionsByName.get(option)
  if (option === 'compareIgnore' && !schema?.safeParse(value).success)
    return 'each line must be a CSS selector, or a region such as {"x": 0, "y": 0, "width": 320, "height": 60}'
  const [issue] = schema?.safeParse(value).error?.issues ?? []
  return schema && issue ? describeIssue(issue, toPath([name, ...issue.path]), { schema, body: value }) : undefined
}

function findEventProblem(
  collection: Collection,
  { webhook_events: events, webhook_url: url }: Record<string, unknown>,
): string | undefined {
  if (events === undefined) return undefined
  if (url === undefined) return 'webhook_events needs a webhook_url'
  const subject = collection === 'videos' ? 'video' : 'screenshot'
  const types = eventTypesOf(subject)
  const other = (events as EventType[]).find((event) => !types.includes(event))
  return other === undefined ? undefined : `a ${subject} has no event ${other}: leave it out`
}

/** Finds invalid values, contradictions, and options without effect. */
export const findProblems: FindProblems = (options, collection, hidden = []) => {
  const problems = new Map<string, string>()
  const byOption: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(options)) {
    const field = fieldsByName.get(name)
    if (!field) continue
    if (field.place !== 'delivery') byOption[field.option] = value
    const problem = findValueProblem(field, value)
    if (problem !== undefined) problems.set(name, problem)
  }
  // A contradiction of malformed values would only repeat that they are malformed.
  const all = problems.size === 0 ? (byOption as AllOptions) : {}
  const present = { ...Object.fromEntries(hidden.map((name) => [toCamelCase(name), true])), ...all }
  const found = [...contradictions.filter(({ holds }) => holds(present)), ...privateContradictions.filter(({ holds }) => holds(all))]
  for (const { paths, message } of found) problems.set(toSnakeCase(paths[0]), message)
  const eventProblem = findEventProblem(collection, options)
  if (eventProblem !== undefined) problems.set('webhook_events', eventProblem)
  return { problems, warnings: findWarnings(all) }
}
