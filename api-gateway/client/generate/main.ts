// Writes the files of src/generated: types of the API, made from the OpenAPI document by openapi-typescript, and what to do about each error code.
// With --check it writes nothing, and fails if a file is out of date.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { HTTP_ERRORS, JOB_ERRORS } from '@tintype/crds/schema/errors'
import { buildDocument } from '../../src/openapi/document.ts'
import { TRACKING_NAMES, TRACKING_PREFIXES } from '../../src/resources/take/tracking-parameters.ts'

const HEADER = '// Generated from the OpenAPI document of the gateway by `npm run generate`. Do not edit.\n\n'
const folder = path.join(import.meta.dirname, '../src/generated')
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })

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

function buildTracking(): string {
  const list = (name: string, items: readonly string[]): string =>
    `export const ${name}: readonly string[] = [\n${items.map((item) => `  '${item}',\n`).join('')}]\n`
  return `${HEADER}/** Beginnings of names of parameters that links do not sign. */
${list('TRACKING_PREFIXES', TRACKING_PREFIXES)}
/** Names of parameters that links do not sign. */
${list('TRACKING_NAMES', Object.values(TRACKING_NAMES).flat())}`
}

const files: Record<string, string> = { 'api.ts': buildTypes(), 'remedies.ts': buildRemedies(), 'tracking.ts': buildTracking() }
const stale = Object.entries(files).filter(([name, text]) => {
  try {
    return readFileSync(path.join(folder, name), 'utf8') !== text
  } catch {
    return true
  }
})
if (!values.check) for (const [name, text] of stale) writeFileSync(path.join(folder, name), text)
else if (stale.length > 0) {
  console.error(
    `generated files are out of date: ${stale.map(([name]) => name).join(', ')}\nRun \`npm run generate\` and commit the result.`,
  )
  process.exit(1)
}
