import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { soakFigures } from '../../bench/report/write-figures.ts'
import { help } from '../../soak/settings.ts'

t.test('the help of the soak run names each part and what it checks', async (t) => {
  t.match(help([{ name: 'year', shows: 'a year of records' }]), /year +a year of records/)
})

t.test('docs/benchmarks.md has a place for the figures of each soak part', async (t) => {
  const text = readFileSync(path.join(import.meta.dirname, '../../../docs/benchmarks.md'), 'utf8')
  const places = ['throughput', 'claim', 'many', 'leaders', 'steady', 'leader-frozen', 'store-full', 'node-lost', 'clocks-behind', 'year']
  for (const part of places) t.ok(text.includes(soakFigures(part)), part)
})
