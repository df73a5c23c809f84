import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import type { Flag } from '../../../../api-gateway/cli/src/arguments/flag.ts'
import { toFlagName } from '../../../../api-gateway/cli/src/arguments/flag.ts'
import { COMMON_WORDS, parseFlags } from '../../../../api-gateway/cli/src/arguments/parse.ts'
import { captureFlags, toCaptureOptions } from '../../../../api-gateway/cli/src/commands/capture-flags.ts'
import { commonFlags } from '../../../../api-gateway/cli/src/commands/context.ts'
import { shot } from '../../../../api-gateway/cli/src/commands/shot.ts'
import { UsageError } from '../../../../api-gateway/cli/src/common/errors.ts'
import { exampleOf, optionGroups } from '../../../../crds/src/options/groups.ts'
import { toSnakeCase } from '../../../../crds/src/text/words.ts'

const flags: Flag[] = [
  { name: 'output', short: 'o', kind: 'text', summary: '' },
  { name: 'full-page', kind: 'boolean', summary: '', isNegatable: true },
  { name: 'json', kind: 'boolean', summary: '' },
  { name: 'delay', kind: 'integer', summary: '' },
  { name: 'latitude', kind: 'number', summary: '' },
  { name: 'hide-selectors', kind: 'list', summary: '' },
  { name: 'headers', kind: 'map', summary: '' },
  { name: 'cookies', kind: 'cookies', summary: '' },
  { name: 'html', kind: 'text', summary: '' },
]
const parse = (...args: string[]) => {
  const { values, positionals } = parseFlags(flags, args)
  return { ...Object.fromEntries(values), ...(positionals.length === 0 ? {} : { positionals }) }
}
const problemOf = (args: string[], known = flags): string => {
  try {
    parseFlags(known, args)
  } catch (error) {
    if (error instanceof UsageError) return error.message
    throw error
  }
  return 'no error'
}

t.test('parseFlags reads switches, their negation and short flags', async (t) => {
  t.strictSame(parse('--full-page', 'a', '-o', 'x.png', 'b'), { output: 'x.png', 'full-page': true, positionals: ['a', 'b'] })
  t.strictSame(parse('--no-full-page'), { 'full-page': false })
  t.strictSame(parse('--full-page=false'), { 'full-page': false })
  t.strictSame(parse('--full-page', '--no-full-page'), { 'full-page': false }, 'the last one counts')
  t.strictSame(parse('-o', '-'), { output: '-' }, 'a dash is a value')
  t.strictSame(parse('--', '--json'), { positionals: ['--json'] })
})

t.test('parseFlags reads numbers, also negative ones', async (t) => {
  t.strictSame(parse('--delay', '250', '--latitude', '-16.4'), { delay: 250, latitude: -16.4 })
  t.strictSame(parse('--latitude=-.5'), { latitude: -0.5 })
  t.equal(problemOf(['--delay', '1.5']), '--delay must be a whole number, but is "1.5".')
  t.equal(problemOf(['--delay', '']), '--delay must be a whole number, but is "".')
  t.equal(problemOf(['--latitude', 'north']), '--latitude must be a number, but is "north".')
})

t.test('parseFlags collects repeated lists, maps and cookies', async (t) => {
  t.strictSame(parse('--hide-selectors', '.a, .b', '--hide-selectors', '#c'), { 'hide-selectors': ['.a, .b', '#c'] })
  const headers = { 'X-A': 'b=c', token: 'x:y', Z: '1' }
  t.strictSame(parse('--headers', 'X-A: b=c', '--headers', 'token=x:y', '--headers', '{"Z": "1"}'), { headers })
  t.strictSame(parse('--cookies', 'a=b; Path=/', '--cookies', '{"name":"c","value":"d"}'), {
    cookies: ['a=b; Path=/', { name: 'c', value: 'd' }],
  })
  t.match(problemOf(['--headers', 'nothing']), /needs NAME=VALUE or "NAME: VALUE", but is "nothing"/)
  t.match(problemOf(['--cookies', '{"name":']), /--cookies is not valid JSON/)
})

t.test('parseFlags reads a page from a file', async (t) => {
  const file = path.join(t.testdir(), 'page.html')
  writeFileSync(file, '<h1>Hello</h1>')
  t.strictSame(parse('--html', `@${file}`), { html: '<h1>Hello</h1>' })
  t.match(problemOf(['--html', `@${file}.none`]), /cannot read the file of --html/)
})

t.test('parseFlags explains mistakes', async (t) => {
  t.equal(problemOf(['--ful-page']), 'unknown option --ful-page. Did you mean --full-page?')
  t.equal(problemOf(['--selectors']), 'unknown option --selectors. Did you mean --hide-selectors?')
  t.equal(problemOf(['--nothing-like-it']), 'unknown option --nothing-like-it. Add --help to list the options.')
  t.equal(problemOf(['-x']), 'unknown option -x. Add --help to list the options.')
  t.equal(problemOf(['--output']), '--output needs a value.')
  t.equal(problemOf(['--output', '--json']), '--output needs a value. For a value that begins with -, write --output=--json.')
  t.strictSame(parse('--output=--json'), { output: '--json' })
  t.equal(problemOf(['--json=maybe']), '--json is a switch and takes no value, but has "maybe".')
})

t.test('parseFlags understands common words for options', async (t) => {
  const known = ['dark-mode', 'viewport-width', 'viewport-height', 'delay', 'wait-for-selector', 'device-scale-factor', 'full-page']
  const own: Flag[] = [
    ...known.map((name): Flag => ({ name, kind: 'text', summary: '' })),
    { name: 'output', short: 'o', kind: 'text', summary: '' },
  ]
  const suggested = (word: string): string => problemOf([`--${word}`], own).replace(/^unknown option --\S+\. /, '')
  for (const [word, flag] of [
    ['dark', '--dark-mode'],
    ['width', '--viewport-width'],
    ['height', '--viewport-height'],
    ['wait', '--delay or --wait-for-selector'],
    ['file', '-o'],
    ['retina', '--device-scale-factor'],
  ] as const)
    t.equal(suggested(word), `Did you mean ${flag}?`)
  t.match(problemOf(['--dark']), /unknown option --dark. Add --help/, 'a command without the option does not suggest it')
})

t.test('every option that a common word suggests exists', async (t) => {
  const names = shot.flags!.map(({ name }) => name)
  for (const meant of Object.values(COMMON_WORDS).flat()) t.ok(names.includes(meant), meant)
  for (const word of Object.keys(COMMON_WORDS)) t.ok(word === 'output' || !names.includes(word), word)
})

// Every option of the catalog as a flag. The values are the examples of the documentation.

const names = optionGroups.flatMap(({ options }) => Object.keys(options))

/** An example as a person would type it. */
function toArguments(flag: string, example: unknown): string[] {
  if (example === true) return [`--${flag}`]
  if (example === false) return [`--no-${flag}`]
  if (Array.isArray(example))
    return example.flatMap((item) => [`--${flag}`, typeof item === 'object' ? JSON.stringify(item) : String(item)])
  if (typeof example === 'object') return Object.entries(example as object).flatMap(([name, value]) => [`--${flag}`, `${name}: ${value}`])
  return [`--${flag}`, String(example)]
}

for (const name of names.map(toSnakeCase)) {
  const camel = names.find((other) => toSnakeCase(other) === name)!
  // The program chooses the response type itself, and does not send `async`.
  if (name === 'response_type' || name === 'async') continue
  t.test(`--${toFlagName(name)} becomes ${name} of the request`, async (t) => {
    const example = exampleOf(camel)
    const parsed = parseFlags(captureFlags, toArguments(toFlagName(name), example))
    t.strictSame(toCaptureOptions(parsed), { [name]: example })
    t.strictSame(parsed.positionals, [])
  })
}

t.test('response_type is the only option without a flag', async (t) => {
  const flags = new Set(captureFlags.map(({ name }) => name))
  t.strictSame(
    names.map(toSnakeCase).filter((name) => !flags.has(toFlagName(name))),
    ['response_type'],
  )
})

t.test('no flag of shot has the name of a capture option, and no negation hides a flag', async (t) => {
  const flags = [...shot.flags!, ...commonFlags]
  const words = flags.flatMap(({ name, isNegatable }) => (isNegatable ? [name, `no-${name}`] : [name]))
  t.strictSame([...new Set(words)], words)
})
