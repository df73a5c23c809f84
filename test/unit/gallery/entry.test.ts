import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { optionNames } from '../../../crds/generate/options-page.ts'
import { CaptureOptions } from '../../../crds/src/options/catalog.ts'
import { contradictions } from '../../../crds/src/options/contradictions.ts'
import { PrivateOptions } from '../../../crds/src/options/private.ts'
import { toSnakeCase } from '../../../crds/src/text/snake-case.ts'
import { atOrigin, entries, splitPrivate, unseen } from '../../gallery/entry.ts'
import { scenes, UNSEEN } from '../../gallery/scenes.ts'

const ORIGIN = 'http://127.0.0.1:8080'
const shown = entries.map(({ name }) => toSnakeCase(name))

t.test('gallery covers every option of the catalog with an image or with the reason why there is none', async (t) => {
  t.strictSame([...shown, ...unseen.map(({ name }) => toSnakeCase(name))].sort(), [...optionNames].sort())
  t.ok(shown.length > 150, `${shown.length} options have a picture`)
})

t.test('gallery has only options of the catalog', async (t) => {
  const unknown = [...Object.keys(scenes), ...Object.keys(UNSEEN)].filter((name) => !optionNames.includes(toSnakeCase(name)))
  t.strictSame(unknown, [])
})

t.test('gallery shows each option with a value that only the second image has', async (t) => {
  const withoutValue = entries.filter(({ name, after }) => after[name] === undefined).map(({ name }) => name)
  t.strictSame(withoutValue, [], 'each option has an example in options/examples.ts or a scene')
  const unchanged = entries.filter(({ name, before, after }) => isDeepStrictEqual(before[name], after[name])).map(({ name }) => name)
  t.strictSame(unchanged, [], 'the first image has another value or none')
})

t.test('gallery uses only values that the API accepts', async (t) => {
  const refused = entries.flatMap(({ name, path, before, after }) =>
    [before, after].flatMap((values) => findObstacles(path, values).map((obstacle) => `${name}: ${obstacle}: ${JSON.stringify(values)}`)),
  )
  t.strictSame(refused, [])
})

/** Reasons why the API would reject a request with these values. */
function findObstacles(path: string, values: (typeof entries)[number]['after']): string[] {
  const { options, privateOptions } = splitPrivate(atOrigin(values, ORIGIN))
  const isLegal = CaptureOptions.safeParse(options).success && PrivateOptions.safeParse(privateOptions).success
  return [
    ...(path === 'about:html' && values.html === undefined && values.markdown === undefined ? ['no page'] : []),
    ...(isLegal ? [] : ['a value that the schema rejects']),
    ...contradictions.filter(({ holds }) => holds({ ...options, ...privateOptions })).map(({ message }) => message),
  ]
}
