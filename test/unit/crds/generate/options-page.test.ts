import t from 'tap'
import { buildOptionsPage, findUnproven, optionNames, readProofs } from '../../../../crds/generate/options-page.ts'
import { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import { exampleOf } from '../../../../crds/src/options/groups.ts'
import { cacheGroup } from '../../../../crds/src/options/output/cache.ts'
import { deliveryGroup } from '../../../../crds/src/options/output/delivery.ts'
import { PrivateOptions } from '../../../../crds/src/options/private.ts'
import { toSnakeCase } from '../../../../crds/src/text/words.ts'
import { assertEvery } from '../../../support/accepts.ts'

const shapes = { ...CaptureOptions.shape, ...PrivateOptions.shape, ...deliveryGroup.options, ...cacheGroup.options }

t.test('readProofs finds tests by their names in all types of quotes', async (t) => {
  const text = `t.test('option dark_mode: makes it dark', async () => {})
    await t.test("option click: does it's work", async () => {})
  t.test(\`option a, b_2: both\`, f)`
  t.strictSame(readProofs('x.test.ts', text), [
    { option: 'dark_mode', title: 'makes it dark', file: 'x.test.ts' },
    { option: 'click', title: "does it's work", file: 'x.test.ts' },
    { option: 'a', title: 'both', file: 'x.test.ts' },
    { option: 'b_2', title: 'both', file: 'x.test.ts' },
  ])
})

t.test('readProofs finds tests with other names by the comment above them', async (t) => {
  const text = `// proves: format, device\nt.test('every format is what it says', f)\n\n// proves nothing\nt.test('another', f)`
  t.strictSame(readProofs('x', text), [
    { option: 'format', title: 'every format is what it says', file: 'x' },
    { option: 'device', title: 'every format is what it says', file: 'x' },
  ])
})

t.test('findUnproven returns the options without a test', async (t) => {
  const proofs = optionNames.slice(1).map((option) => ({ option, title: '', file: '' }))
  t.strictSame(findUnproven(proofs), [optionNames[0]])
})

t.test('optionNames contains every option once', async (t) => {
  t.strictSame([...optionNames].toSorted(), Object.keys(shapes).map(toSnakeCase).toSorted())
})

t.test('every option has a valid example', async (t) => {
  const examples = Object.entries(shapes).map(([name, schema]) => ({ name, schema, example: exampleOf(name) }))
  assertEvery(t, examples, ({ schema, example }) => example !== undefined && schema.safeParse(example).success)
})

t.test('buildOptionsPage shows an option with its type, range, unit, default, interactions, example and proof', async (t) => {
  const page = buildOptionsPage([{ option: 'image_quality', title: 'sets the quality', file: 'test/x.test.ts' }])
  const row = page.split('\n').find((line) => line.startsWith('| `image_quality`')) ?? ''
  t.match(row, /\| whole number, 0 to 100 \| 90 \|/)
  t.match(row, '| No effect on png; on pdf; on mp4, webm and gif. |')
  t.match(row, '[x](../test/x.test.ts)')
  t.match(page, /`viewport_width` \| whole number, 1 to 7680 CSS pixels \| 1920 \|/)
  t.match(page, /`page_zoom` \| number, 0.25 to 5 \| 1 \|/, 'a later clause has the word for a unit')
  t.match(page, /`authorization`/)
})

t.test('buildOptionsPage shows whether links may have an option, and whether it changes the picture', async (t) => {
  const rows = buildOptionsPage([]).split('\n')
  const cellsOf = (name: string) => {
    const row = rows.find((row) => row.startsWith(`| ${name} |`))
    return row?.split(/(?<!\\) ?\| ?/).slice(5, 7)
  }
  t.strictSame(cellsOf('Option'), ['Links', 'Changes the picture'])
  t.strictSame(cellsOf('`viewport_width`'), ['', ''])
  t.strictSame(cellsOf('`html`'), ['own markup', ''])
  t.strictSame(cellsOf('`cache_refresh`'), ['not `true`', 'no'])
  t.strictSame(cellsOf('`save_har`'), ['', 'separate'])
  t.match(cellsOf('`timeout`')?.[1], /^with `best_attempt`/)
})
