import t from 'tap'
import { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import { renameKeys, toCamelCase, toSnakeCase } from '../../../../crds/src/text/snake-case.ts'

t.test('toSnakeCase and toCamelCase are inverse for every option', async (t) => {
  const names = Object.keys(CaptureOptions.shape)
  t.strictSame(
    names.map((name) => toCamelCase(toSnakeCase(name))),
    names,
  )
  t.strictSame(
    names.map(toSnakeCase).filter((name) => !/^[a-z]+(_[a-z]+)*$/.test(name)),
    [],
  )
  t.equal(toSnakeCase('viewportWidth'), 'viewport_width')
})

t.test('renameKeys renames the keys of an object, but not of nested objects', async (t) => {
  t.strictSame(renameKeys({ extraHeaders: { fooBar: 1 }, list: ['aB'] }, toSnakeCase), { extra_headers: { fooBar: 1 }, list: ['aB'] })
})
