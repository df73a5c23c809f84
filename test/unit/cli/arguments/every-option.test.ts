import t from 'tap'
import { toFlagName } from '../../../../api-gateway/cli/src/arguments/flag.ts'
import { parseFlags } from '../../../../api-gateway/cli/src/arguments/parse.ts'
import { captureFlags, toCaptureOptions } from '../../../../api-gateway/cli/src/commands/capture-flags.ts'
import { commonFlags } from '../../../../api-gateway/cli/src/commands/context.ts'
import { shot } from '../../../../api-gateway/cli/src/commands/shot.ts'
import { exampleOf } from '../../../../crds/src/options/examples.ts'
import { optionGroups } from '../../../../crds/src/options/groups.ts'
import { toSnakeCase } from '../../../../crds/src/text/snake-case.ts'

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
  t.strictSame(
    words.filter((word, index) => words.indexOf(word) !== index),
    [],
  )
})
