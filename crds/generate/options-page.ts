import path from 'node:path'
import { contradictions } from '../src/options/contradictions.ts'
import { exampleOf, type OptionSchema, optionGroups, toOptionSchema } from '../src/options/groups.ts'
import type { LinkRule, Option, OptionGroup, PictureRule } from '../src/options/rules/declare.ts'
import { warnings } from '../src/options/warnings.ts'
import { toSnakeCase } from '../src/text/words.ts'

// Builds docs/options.md from the definitions of the options and from the names of the tests.

/** A test of an option. */
export interface Proof {
  /** In snake case. */
  option: string
  title: string
  /** Path from the root of the repository. */
  file: string
}

// `t.test('option dark_mode: …'`, with one option or a comma-separated list.
const NAMED_TEST = /\.test\(\s*(['"`])option ([a-z0-9_, ]+): ((?:\\.|(?!\1).)*)\1/g
// `// proves: dark_mode, device` on the line above a test with another name.
const MARKED_TEST = /^\s*\/\/ proves: ([a-z0-9_, ]+)\n\s*(?:await )?\w+\.test\(\s*(['"`])((?:\\.|(?!\2).)*)\2/gm

/** Finds the tests of options in the text of a test file. */
export function readProofs(file: string, text: string): Proof[] {
  const found = [
    ...[...text.matchAll(NAMED_TEST)].map(([, , names = '', title = '']) => ({ names, title })),
    ...[...text.matchAll(MARKED_TEST)].map(([, names = '', , title = '']) => ({ names, title })),
  ]
  return found.flatMap(({ names, title }) =>
    names.split(',').map((name) => ({ option: name.trim(), title: title.replaceAll('\\', ''), file })),
  )
}

/** Every option, in snake case. */
export const optionNames: readonly string[] = optionGroups.flatMap(({ options }) => Object.keys(options).map(toSnakeCase))

/** Options without a test. */
export const findUnproven = (proofs: readonly Proof[]): string[] =>
  optionNames.filter((name) => !proofs.some(({ option }) => option === name))

const UNIT = /milliseconds|seconds|CSS pixels|device pixels|pixels|meters|degrees|bytes/i
/** Enumerations with more values show only their number. */
const MAX_LISTED = 20

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('|', '\\|')
const code = (value: unknown): string => `\`${textOf(value)}\``

function typeOf({ type = 'string', items }: OptionSchema): string {
  return type === 'array' && items ? `list of ${typeOf(items)}s` : type === 'integer' ? 'whole number' : type
}

function rangeOf(schema: OptionSchema): string {
  const { enum: values, minimum, maximum, maxLength, maxItems, maxProperties, items, description = '' } = schema
  if (values) return values.length > MAX_LISTED ? `${values.length} values` : values.map(code).join(' ')
  if (maxItems !== undefined) return [`at most ${maxItems}`, ...(items?.enum ? [`of ${items.enum.map(code).join(' ')}`] : [])].join(' ')
  if (maxProperties !== undefined) return `at most ${maxProperties}`
  if (maxLength !== undefined) return `at most ${maxLength} characters`
  if (minimum === undefined || maximum === undefined) return ''
  const [clause = ''] = description.split(/[.:;]/, 1)
  const [unit = ''] = UNIT.exec(clause) ?? []
  return `${minimum} to ${maximum} ${unit.startsWith('CSS') ? unit : unit.toLowerCase()}`.trimEnd()
}

/** What to do about a contradiction. Responses say it. */
const REMEDY = /: (?:give|leave|lower|raise|set|swap|use) .*$/

/** Contradictions and warnings of an option, each in one sentence. */
function interactionsOf(name: string): string[] {
  const against = contradictions
    .filter(({ paths }) => paths.some((other) => other === name))
    .map(({ message }) => message.replace(REMEDY, ''))
  const without = warnings.filter(({ option }) => option === name).map(({ reason }) => reason)
  return [
    ...(against.length > 0 ? [`Refused: ${against.join('; ')}.`] : []),
    ...(without.length > 0 ? [`No effect ${without.join('; ')}.`] : []),
  ]
}

/** The description without the default and the bounds, which have their own columns. */
function describe({ description = '', minimum, maximum, maxLength, maxItems, maxProperties }: OptionSchema, absent: string): string {
  const bounds = [`, ${minimum} to ${maximum}`, `, at most ${maxLength} characters`, `, at most ${maxItems ?? maxProperties}`]
  return bounds.reduce((text, bound) => text.replace(new RegExp(`${bound}(?=[,.;])`), ''), description.replace(` Default: ${absent}.`, ''))
}

/** The usual rule, "yes", is an empty cell. */
const shown = (rule: string): string => (rule === 'yes' ? '' : rule.replace('_', ' '))
const linksOf = (rule: LinkRule): string => (typeof rule === 'object' ? `not ${code(rule.except)}` : shown(rule))
const pictureOf = (rule: PictureRule): string => (typeof rule === 'object' ? rule.when : shown(rule))

function writeRow(name: string, schema: Option, proofs: readonly Proof[]): string {
  const option = toOptionSchema(schema)
  const { links, picture, absent } = schema.facts
  const example = exampleOf(name)
  const files = new Set(proofs.filter((proof) => proof.option === toSnakeCase(name)).map(({ file }) => file))
  const cells = [
    code(toSnakeCase(name)),
    [typeOf(option), rangeOf(option)].filter(Boolean).join(', '),
    absent,
    describe(option, absent),
    linksOf(links),
    pictureOf(picture),
    example === undefined ? '' : code(JSON.stringify(example)),
    interactionsOf(name).join(' '),
    [...files].map((file) => `[${path.basename(file, '.test.ts')}](../${file})`).join(', '),
  ]
  return `| ${cells.join(' | ')} |`
}

const HEAD = [
  '| Option | Type and range | Default | What it does | Links | Changes the picture | Example | With other options | Proved by |',
  '|---|---|---|---|---|---|---|---|---|',
]

function writeGroup({ title, options, note }: OptionGroup, proofs: readonly Proof[]): string[] {
  const rows = Object.entries(options).map(([name, schema]) => writeRow(name, schema, proofs))
  if (rows.length === 0) return []
  return [`## ${title}`, '', ...(note === undefined ? [] : [note, '']), ...HEAD, ...rows, '']
}

/** Writes the page. */
export function buildOptionsPage(proofs: readonly Proof[]): string {
  const groups = optionGroups.flatMap((group) => writeGroup(group, proofs))
  return [
    '<!-- Generated from crds/src/options by `npm run generate`: edit the options there. -->',
    '# Capture options',
    '',
    `This page lists the ${optionNames.length} options of a capture. All are optional. Put them into \`options\` of POST /v1/screenshots and POST /v1/screenshots/batch,`,
    'or with kubectl into `spec.options`, by the same names in camel case.',
    '',
    '**With other options** says which requests are refused, and when an option has no effect, which adds a warning to the record. **Proved by** links the',
    'test files that show the option in a real browser: each test has the name of its option in its title or in a comment above it.',
    '',
    '**Links** says whether [signed links](links.md) may have the option:',
    '',
    '- empty: yes;',
    '- `own markup`: yes, but if the [link policy](api.md#api-keys) of the API key has `allowed_hosts`, it must also have `allow_own_markup: true`;',
    '- not a value: links may have every other value.',
    '',
    '**Changes the picture** decides whether the [cache](#cache) shares a picture between requests that differ only in the option:',
    '',
    '- empty: yes, and the cache keeps a picture for each value;',
    '- `no`: such requests share one picture;',
    '- `separate`: no, but the cache keeps one for each value, because the record, other files, or whether the capture fails depends on it.',
    '',
    ...groups,
  ].join('\n')
}
