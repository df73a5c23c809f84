// Writes src/generated/options.ts: the capture options of the API as flags of the command line, the scopes of API keys, and the
// versions of the program and the API.
// With --check it writes nothing, and fails if the file is out of date.

import { readFileSync } from 'node:fs'
import path from 'node:path'
import { SCOPES } from '@tintype/crds/kinds/api-key'
import { type OptionSchema, optionGroups, optionsByName, toOptionSchema } from '@tintype/crds/options/groups'
import { RECORD_OPTIONS } from '@tintype/crds/options/output/delivery'
import { toDeviceId } from '@tintype/crds/options/page/browser'
import { isRefusedInLinks } from '@tintype/crds/options/rules/declare'
import { toSnakeCase } from '@tintype/crds/text/words'
import { writeGenerated } from '../../../crds/generate/write-generated.ts'
import { API_VERSION } from '../../src/common/version.ts'

/** The program decides itself how it receives the result. */
const EXCLUDED = new Set(['response_type'])

const file = path.join(import.meta.dirname, '../src/generated/options.ts')
const manifest = path.join(import.meta.dirname, '../package.json')

const groups = optionGroups
  .map(({ title, options }) => ({
    title,
    options: Object.entries(options)
      .map(([name, schema]) => ({ name: toSnakeCase(name), schema: toOptionSchema(schema) }))
      .filter(({ name }) => !EXCLUDED.has(name)),
  }))
  .filter(({ options }) => options.length > 0)
const names = groups.flatMap(({ options }) => options.map(({ name }) => name))
/** Also `cache` and `cache_refresh`, of which links have one value only. */
const notInLinks = [...optionsByName]
  .filter(([name, { facts }]) => !EXCLUDED.has(toSnakeCase(name)) && [true, false].some((value) => isRefusedInLinks(facts.links, value)))
  .map(([name]) => toSnakeCase(name))

function kindOf(name: string, { type, items }: OptionSchema): string {
  if (type === 'array' && items?.type === 'string') return 'list'
  if (type === 'array') return 'cookies'
  if (type === 'object') return 'map'
  if (type === 'string') return 'text'
  if (type === 'boolean' || type === 'integer' || type === 'number') return type
  throw new Error(`option ${name} has the type ${type}, which the command line does not support. Add a kind for it to the CLI.`)
}

const compound = names.filter((name) => name.includes('_')).sort((a, b) => b.length - a.length)
const NAMES_IN_TEXT = new RegExp(`(?<![\\w-])(?:${compound.join('|')})(?![\\w-])`, 'g')
/** Spells option names in a text as flags. */
const spell = (text: string): string => text.replaceAll(NAMES_IN_TEXT, (name) => `--${name.replaceAll('_', '-')}`)

function toRow(name: string, schema: OptionSchema): string {
  const allowed = schema.enum ?? schema.items?.enum
  // Names of devices contain spaces and parentheses, so a shell completes their ids.
  const allowedTexts = allowed?.map((value) => (name === 'device' ? toDeviceId(String(value)) : String(value)))
  const fields = {
    name,
    kind: kindOf(name, schema),
    summary: spell(schema.description ?? ''),
    ...(allowedTexts && { values: allowedTexts }),
  }
  return `      ${JSON.stringify(fields)},\n`
}

const rows = groups.map(
  ({ title, options }) =>
    `  {\n    title: ${JSON.stringify(title)},\n    options: [\n${options.map(({ name, schema }) => toRow(name, schema)).join('')}    ],\n  },\n`,
)
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
const text = `// Generated from crds/src/options and package.json by \`npm run generate\`. Do not edit.

import type { OptionGroup } from '../arguments/flag.ts'

/** Version of this program. */
export const VERSION = ${JSON.stringify(version)}

/** Version of the API that this program knows. */
export const API_VERSION = ${JSON.stringify(API_VERSION)}

/** Scopes of API keys. */
export const SCOPES = ${JSON.stringify(SCOPES)}

/** Capture options that links must not have. */
export const NOT_IN_LINKS: readonly string[] = ${JSON.stringify(notInLinks)}

/** Options of the record: they are fields of a request beside its capture options. */
export const RECORD_OPTIONS: readonly string[] = ${JSON.stringify(Object.keys(RECORD_OPTIONS))}

/** Every capture option by the name that the API has, in groups. */
export const optionGroups: readonly OptionGroup[] = [
${rows.join('')}]
`

writeGenerated({ [file]: text })
