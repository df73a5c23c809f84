import t from 'tap'
import { JsonScan, MAX_DEPTH, MAX_VALUES } from '../../../../api-gateway/src/bodies/receive.ts'

const scan = (text: string | Buffer, chunkBytes = Number.POSITIVE_INFINITY) => {
  const bytes = Buffer.from(text as string)
  const json = new JsonScan()
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    const problem = json.add(bytes.subarray(start, start + chunkBytes))
    if (problem) return problem
  }
  return undefined
}
const listOf = (count: number, item: string) => `[${Array(count).fill(item).join(',')}]`
/** Fields of one object, each with one value. */
const fields = (count: number) => `{${Array.from({ length: count }, (_, n) => `"n${n}":${n}`).join(',')}}`

// The values of each text without the outermost list.
const items: [name: string, item: string, values: number][] = [
  ['numbers', '-1.5e+3', 1],
  ['literals', 'null', 1],
  ['texts', '"a"', 1],
  ['texts with quotes', '"\\"\\\\"', 1],
  ['empty lists', '[]', 1],
  ['empty objects', '{ }', 1],
  ['objects with a field', '{"a":"b"}', 2],
  ['objects with lists', '{"a" : [1, "b"] , "c":true}', 5],
]
for (const [name, item, values] of items) {
  t.test(`JsonScan counts ${name}: ${MAX_VALUES} values pass and one more does not, in chunks of any size`, async (t) => {
    const count = Math.floor((MAX_VALUES - 1) / values)
    const left = MAX_VALUES - 1 - count * values
    const most = `[${[...Array(count).fill(item), ...Array(left).fill('0')].join(',')}]`
    for (const size of [1, 7, 65_536]) {
      t.equal(scan(most, size), undefined)
      t.equal(scan(most.replace('[', '[0,'), size), 'values')
    }
  })
}

t.test('JsonScan does not count names of fields', async (t) => {
  t.equal(scan(fields(MAX_VALUES - 1)), undefined)
  t.equal(scan(fields(MAX_VALUES)), 'values')
})

t.test('JsonScan ends at the first level that is too deep', async (t) => {
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    t.equal(scan(`${open.repeat(MAX_DEPTH)}1${close.repeat(MAX_DEPTH)}`, 3), undefined)
    t.equal(scan(open.repeat(MAX_DEPTH + 1), 3), 'depth')
  }
  t.equal(scan(`[${listOf(100, `${'['.repeat(MAX_DEPTH - 2)}${']'.repeat(MAX_DEPTH - 2)}`)}]`), undefined, 'levels beside each other')
})

const texts = [
  '[[[{{{',
  '\\"[',
  '\\\\',
  'a\\\\\\"[[',
  '\\u005b[',
  `${'x'.repeat(100)}\\"${'['.repeat(100)}`,
  '中[😀{',
  `${'\\\\'.repeat(60)}`,
]
for (const text of texts) {
  t.test(`JsonScan sees no structure in the text "${text.slice(0, 20)}", wherever a chunk ends`, async (t) => {
    const whole = `{"a":"${text.repeat(40)}"}`
    t.doesNotThrow(() => JSON.parse(whole))
    for (let size = 1; size < 70; size++) t.equal(scan(whole, size), undefined, `chunks of ${size}`)
    // After the text, brackets count again.
    for (let size = 1; size < 70; size++) t.equal(scan(`[${whole},${'['.repeat(MAX_DEPTH)}`, size), 'depth')
  })
}

t.test('JsonScan passes a byte order mark of UTF-8, and notices UTF-16 and UTF-32', async (t) => {
  t.equal(scan('\ufeff{"a":1}'), undefined)
  const text = '{"a":1}'
  t.equal(scan(Buffer.from(text, 'utf16le')), 'encoding')
  t.equal(scan(Buffer.from(`\ufeff${text}`, 'utf16le')), 'encoding')
  t.equal(scan(Buffer.from(text, 'utf16le').swap16()), 'encoding')
  t.equal(scan(Buffer.from([0, 0, 0, 0x7b])), 'encoding')
  t.equal(scan(Buffer.from([0x7b, 0, 0, 0])), 'encoding')
})

t.test('JsonScan knows the size in UTF-8, in which an escape has three bytes at most', async (t) => {
  const text = '{"a":"\\u4e2d\\n\\u4e2d\\\\u4e2d","b":"u"}'
  for (let size = 1; size < 40; size++) {
    const json = new JsonScan()
    const bytes = Buffer.from(text)
    for (let start = 0; start < bytes.length; start += size) json.add(bytes.subarray(start, start + size))
    t.equal(json.utf8Bytes, bytes.length - 6, `chunks of ${size}`)
  }
})
