import t from 'tap'
import { optionNames } from '../../../crds/generate/options-page.ts'
import { CaptureOptions } from '../../../crds/src/options/catalogue.ts'
import { contradictions } from '../../../crds/src/options/contradictions.ts'
import { PrivateOptions } from '../../../crds/src/options/private.ts'
import { toSnakeCase } from '../../../crds/src/text/snake-case.ts'
import { atOrigin, entries, splitPrivate, unseen } from '../../gallery/entry.ts'
import { scenes, UNSEEN } from '../../gallery/scenes.ts'

const ORIGIN = 'http://127.0.0.1:8080'
const shown = entries.map(({ name }) => toSnakeCase(name))

t.test('gallery has every option of the catalogue, as a picture or with the reason why there is none', async (t) => {
  t.strictSame([...shown, ...unseen.map(({ name }) => toSnakeCase(name))].sort(), [...optionNames].sort())
  t.ok(shown.length > 150, `${shown.length} options have a picture`)
})

t.test('gallery knows no option that the catalogue does not', async (t) => {
  for (const name of [...Object.keys(scenes), ...Object.keys(UNSEEN)]) t.ok(optionNames.includes(toSnakeCase(name)), name)
})

t.test('gallery shows each option with a value that it has only in the second picture', async (t) => {
  for (const { name, before, after } of entries) {
    t.not(after[name], undefined, `${name} wants an example in options/examples.ts, or a scene`)
    t.notSame(before[name], after[name], name)
  }
})

t.test('gallery asks for nothing that a request could not ask for', async (t) => {
  for (const { name, path, before, after } of entries) {
    for (const values of [before, after]) {
      if (path === 'about:html' && values.html === undefined && values.markdown === undefined) t.fail(`${name} has no page`)
      const { options, privateOptions } = splitPrivate(atOrigin(values, ORIGIN))
      t.ok(
        CaptureOptions.safeParse(options).success && PrivateOptions.safeParse(privateOptions).success,
        `${name}: ${JSON.stringify(values)}`,
      )
      t.strictSame(
        contradictions.filter(({ holds }) => holds({ ...options, ...privateOptions })).map(({ message }) => message),
        [],
        name,
      )
    }
  }
})
