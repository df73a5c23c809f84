import sharp from 'sharp'
import t from 'tap'
import { fingerprint } from '../../scenarios/harness/pictures.ts'
import { percentile, summarize } from '../../scenarios/harness/statistics.ts'
import { roundsTable, tableOf, toDifference } from '../../scenarios/harness/table.ts'
import { withEnds } from '../../scenarios/harness/undo.ts'

t.test('percentile interpolates linearly between two values', async (t) => {
  const table: [values: number[], percent: number, wanted: number][] = [
    [[7], 95, 7],
    [[1, 2], 50, 1.5],
    [[4, 1, 3, 2, 5], 50, 3],
    [[4, 1, 3, 2, 5], 0, 1],
    [[4, 1, 3, 2, 5], 100, 5],
    [[0, 10], 95, 9.5],
    [[1, 2, 3], 150, 3],
    [[1, 2, 3], -1, 1],
    [[10, 9, 100], 50, 10],
    [[], 50, Number.NaN],
  ]
  for (const [values, percent, wanted] of table) {
    const before = [...values]
    t.same(percentile(values, percent), wanted, `p${percent} of ${values}`)
    t.strictSame(values, before, 'the list does not change')
  }
  t.strictSame(summarize([1, 2, 3, 4, 5]), { p50: 3, p95: 4.8 })
})

t.test('withEnds returns the result of the action after its cleanup functions', async (t) => {
  const steps: string[] = []
  const result = await withEnds(async ({ teardown }) => {
    teardown(() => steps.push('undone'))
    return steps.push('done')
  })
  t.equal(result, 1)
  t.strictSame(steps, ['done', 'undone'])
})

t.test('withEnds runs cleanup functions in reverse order, also after a failed action and a failed cleanup', async (t) => {
  const steps: string[] = []
  t.comment('prints the error of the second cleanup')
  const failing = withEnds(async ({ teardown }) => {
    teardown(() => steps.push('first'))
    teardown(async () => {
      steps.push('second')
      throw new Error('a cleanup')
    })
    throw new Error('the act')
  })
  await t.rejects(failing, { message: 'the act' })
  t.strictSame(steps, ['second', 'first'])
})

t.test('tableOf rounds numbers and keeps texts', async (t) => {
  const table = tableOf('Title', [{ a: 1.6 }, { a: Number.NaN }], { a: ({ a }) => a, text: () => 'x' })
  t.strictSame(table, {
    title: 'Title',
    head: ['a', 'text'],
    rows: [
      ['2', 'x'],
      ['', 'x'],
    ],
  })
})

t.test('roundsTable ends with the medians of the rounds', async (t) => {
  const samples = [1, 2, 9].map((value, index) => ({ round: index + 1, value }))
  const { head, rows } = roundsTable('Title', samples, { value: [({ value }) => value, 1] })
  t.strictSame(head, ['round', 'value'])
  t.strictSame(rows.at(0), ['1', '1.0'])
  t.strictSame(rows.at(-1), ['median', '2.0'])
})

t.test('toDifference has a sign', async (t) => {
  t.strictSame([0, 1.6, -3, Number.NaN].map(toDifference), ['+0', '+2', '-3', ''])
})

const aPicture = (width: number, background: string, compressionLevel = 6): Promise<Buffer> =>
  sharp({ create: { width, height: 4, channels: 3, background } })
    .png({ compressionLevel })
    .toBuffer()

t.test('fingerprint is the same for two encodings of one image', async (t) => {
  t.equal(await fingerprint(await aPicture(4, '#123456', 0)), await fingerprint(await aPicture(4, '#123456', 9)))
})

t.test('fingerprint differs when one pixel or the size differs', async (t) => {
  const dot = await sharp({ create: { width: 1, height: 1, channels: 3, background: '#ff0001' } })
    .png()
    .toBuffer()
  const red = await aPicture(4, '#ff0000')
  const dotted = await sharp(red)
    .composite([{ input: dot, left: 1, top: 1 }])
    .png()
    .toBuffer()
  const prints = await Promise.all([red, dotted, await aPicture(5, '#ff0000')].map(fingerprint))
  t.equal(new Set(prints).size, 3)
})
