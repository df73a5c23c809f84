// Writes the files of src/generated: types of the API, made from the OpenAPI document by openapi-typescript, and what to do about each error code.
// With --check it writes nothing, and fails if a file is out of date.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { optionsByName } from '@tintype/crds/options/groups'
import { HTTP_ERRORS, JOB_ERRORS } from '@tintype/crds/schema/errors'
import { toSnakeCase } from '@tintype/crds/text/words'
import { writeGenerated } from '../../../crds/generate/write-generated.ts'
import { buildDocument } from '../../src/openapi/document.ts'
import { MAX_QUERY_LENGTH } from '../../src/resources/take/link-query.ts'
import { TRACKING_NAMES, TRACKING_PREFIXES } from '../../src/resources/take/tracking-parameters.ts'

const HEADER = '// Generated from the OpenAPI document of the gateway by `npm run generate`. Do not edit.\n\n'
const folder = path.join(import.meta.dirname, '../src/generated')

/** Fields of requests that the client builds or chooses itself. */
const NOT_SENT: ReadonlySet<string> = new Set(['options', 'async', 'response_type'])

type Document = ReturnType<typeof buildDocument>
type Operation = { operationId: string; parameters?: { in: string }[] }

/** Keeps the schemas and the query parameters. Responses, headers and examples would make the types four times as long. */
function toTypesDocument({ openapi, info, paths, components }: Document): object {
  const withQuery = Object.entries(paths).flatMap(([name, methods]) => {
    const { operationId, parameters = [] } = (methods.get ?? {}) as unknown as Partial<Operation>
    const query = parameters.filter((parameter) => parameter.in === 'query')
    if (operationId === undefined || query.length === 0 || name.startsWith('/files/')) return []
    return [[`/${operationId}`, { get: { operationId, parameters: query, responses: {} } }] as const]
  })
  return { openapi, info, paths: Object.fromEntries(withQuery), components: { schemas: components.schemas } }
}

function buildTypes(): string {
  // openapi-typescript needs TypeScript 5, which only this workspace has.
  const require = createRequire(path.join(import.meta.dirname, '../../../test/clients/package.json'))
  const program = path.join(path.dirname(require.resolve('openapi-typescript/package.json')), 'bin/cli.js')
  const directory = mkdtempSync(path.join(tmpdir(), 'tintype-client-types-'))
  try {
    const [document, output] = [path.join(directory, 'openapi.json'), path.join(directory, 'api.ts')]
    writeFileSync(document, JSON.stringify(toTypesDocument(buildDocument())))
    execFileSync(process.execPath, [program, document, '--output', output], { stdio: ['ignore', 'ignore', 'inherit'] })
    return HEADER + readFileSync(output, 'utf8').replace(/^\/\*\*.*?\*\/\n\n/s, '')
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function buildRemedies(): string {
  const table = (name: string, errors: Readonly<Record<string, { remedy: string }>>): string => {
    const lines = Object.entries(errors).map(([code, { remedy }]) => `  ${code}: ${JSON.stringify(remedy)},\n`)
    return `export const ${name}: Readonly<Record<string, string>> = {\n${lines.join('')}}\n`
  }
  return `${HEADER}/** What to do about an error response, by its code. */
${table('RESPONSE_REMEDIES', HTTP_ERRORS)}
/** What to do about a failed capture, by its code. */
${table('CAPTURE_REMEDIES', JOB_ERRORS)}`
}

/** What links can contain, so that the client refuses what the gateway would refuse. */
function buildLinks(): string {
  const list = (name: string, items: readonly string[]): string =>
    `export const ${name} = [\n${items.map((item) => `  '${item}',\n`).join('')}] as const\n`
  const rules = [...optionsByName].map(([name, { facts }]) => [toSnakeCase(name), facts.links] as const)
  const refused = rules.flatMap(([name, rule]) => (typeof rule === 'object' ? [`  ${name}: ${rule.except},\n`] : []))
  return `${HEADER}/** Options that links can have. */
${list(
  'LINK_OPTIONS',
  rules.flatMap(([name, rule]) => (rule === 'no' ? [] : [name])),
)}
/** Options that links cannot have. */
${list(
  'NOT_IN_LINKS',
  rules.flatMap(([name, rule]) => (rule === 'no' ? [name] : [])),
)}
/** Values that links cannot have, by option. */
export const REFUSED_VALUES: Readonly<Record<string, boolean>> = {
${refused.join('')}}

/** Longest query of a link, in characters. */
export const MAX_LINK_LENGTH = ${MAX_QUERY_LENGTH}

/** Beginnings of names of parameters that are not signed. */
${list('TRACKING_PREFIXES', TRACKING_PREFIXES)}
/** Names of parameters that are not signed. */
${list('TRACKING_NAMES', Object.values(TRACKING_NAMES).flat())}`
}

/** Fields that requests have beside their options. */
function buildFields(): string {
  const { schemas } = buildDocument().components as unknown as { schemas: Record<string, { properties: object }> }
  const bodies = ['CreateScreenshot', 'CreateBatch', 'CreateSchedule'].map((name) => Object.keys(schemas[name]?.properties ?? {}))
  const fields = [...new Set(bodies.flat())].filter((field) => !NOT_SENT.has(field))
  return `${HEADER}/** Fields of requests that the API expects beside \`options\`. */
export const REQUEST_FIELDS: readonly string[] = ${JSON.stringify(fields)}
`
}

const files = { 'api.ts': buildTypes(), 'remedies.ts': buildRemedies(), 'links.ts': buildLinks(), 'fields.ts': buildFields() }
writeGenerated(Object.fromEntries(Object.entries(files).map(([name, text]) => [path.join(folder, name), text])))
