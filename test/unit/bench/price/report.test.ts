import t from 'tap'
import { priceTables } from '../../../bench/price/report.ts'

const aPrice = (node: number, gateway: number) => ({ 'runner: Node.js': node, 'api-gateway': gateway })

t.test('priceTables compares each side with the bare loop, and the releases with each other', async (t) => {
  const loop = { name: 'bare loop', lanes: 1, rounds: [{ 'runner: Node.js': 20 }, { 'runner: Node.js': 40 }] }
  const before = { name: 'abc', lanes: 1, rounds: [aPrice(30, 10), aPrice(60, 20)] }
  const now = { name: 'now', lanes: 1, rounds: [aPrice(20, 10), aPrice(50, 10)] }
  const tables = priceTables([loop, before, now, { ...now, lanes: 2 }])
  t.equal(tables.length, 2)
  t.strictSame(tables[0]?.head, ['program', 'bare loop', 'abc', 'now'])
  t.strictSame(tables[0]?.rows, [
    ['runner: Node.js', '30', '45', '35'],
    ['api-gateway', '0', '15', '10'],
    ['all', '30', '60', '45'],
    ['all, compared with the bare loop', '1.00', '2.00', '1.50'],
    ['all, compared with abc', '', '1.00', '0.75'],
  ])
})
