import t from 'tap'
import { Turns } from '../../../../api-gateway/src/store/turns.ts'

/** Requests turns, and notes who got one. */
function takers(turns: Turns) {
  const got: string[] = []
  const ends: Record<string, (() => void)[]> = {}
  const request = async (account: string) => {
    const end = await turns.take(account)
    got.push(account)
    ends[account] = [...(ends[account] ?? []), end]
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  return { got, ends, request, settled }
}

t.test('an account with one request does not wait behind hundreds of another one', async (t) => {
  const { got, ends, request, settled } = takers(new Turns(2))
  for (let n = 0; n < 300; n++) void request('busy')
  void request('other')
  await settled()
  t.strictSame(got, ['busy', 'busy'])
  ends.busy?.[0]?.()
  await settled()
  t.strictSame(got, ['busy', 'busy', 'other'])
})

t.test('an account alone gets all turns, in the order of its requests', async (t) => {
  const turns = new Turns(2)
  const order: number[] = []
  const ends: (() => void)[] = []
  for (let n = 0; n < 5; n++)
    void turns.take('one').then((end) => {
      order.push(n)
      ends.push(end)
    })
  for (let n = 0; n < 5; n++) {
    await new Promise((resolve) => setImmediate(resolve))
    ends[n]?.()
  }
  t.strictSame(order, [0, 1, 2, 3, 4])
})

t.test('a turn ends once', async (t) => {
  const { got, ends, request, settled } = takers(new Turns(1))
  for (let n = 0; n < 3; n++) void request('one')
  await settled()
  ends.one?.[0]?.()
  ends.one?.[0]?.()
  await settled()
  t.equal(got.length, 2)
})
