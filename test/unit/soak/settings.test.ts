import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { soakFigures } from '../../bench/report/write-figures.ts'
import { help, parseSettings } from '../../soak/settings.ts'

t.test('parseSettings takes all parts and full sizes by default', async (t) => {
  t.match(parseSettings([]), { names: [], rate: undefined, batch: 1, fill: 0, minutes: 20, live: 10_000, records: 1_000_000, write: false })
  t.match(parseSettings(['steady', '--minutes', '2', '--write']), { names: ['steady'], minutes: 2, write: true })
  t.match(parseSettings(['outage', '--rate', '5']), { rate: 5 })
  t.match(parseSettings(['steady', '--fill', '15']), { fill: 15, minutes: 20 })
  t.match(parseSettings(['cluster-upgrade', '--from', 'HEAD~1']), { names: ['cluster-upgrade'], from: 'HEAD~1' })
  t.equal(parseSettings(['--help']), undefined)
})

t.test('parseSettings rejects invalid sizes', async (t) => {
  for (const args of [
    ['--rate', '0'],
    ['--batch', '0'],
    ['--batch', '2.5'],
    ['--batch', '101'],
    ['--minutes', 'long'],
    ['--fill=-1'],
    ['--fill', 'full'],
    ['--speed', '3'],
  ])
    t.throws(() => parseSettings(args), args.join(' '))
})

t.test('the help of the soak run names each part and what it checks', async (t) => {
  t.match(help([{ name: 'year', shows: 'a year of records' }]), /year +a year of records/)
})

t.test('docs/benchmarks.md has a place for the figures of each soak part', async (t) => {
  const text = readFileSync(path.join(import.meta.dirname, '../../../docs/benchmarks.md'), 'utf8')
  const places = ['throughput', 'claim', 'many', 'leaders', 'steady', 'leader-frozen', 'store-full', 'node-lost', 'clocks-behind', 'year']
  for (const part of places) t.ok(text.includes(soakFigures(part)), part)
})
