import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { List, type Page } from '../../../../api-gateway/client/src/common/list.ts'

/** A list of `total` numbers in pages, which counts the pages that were read. */
function aList(total: number, size: number) {
  const counts = { read: 0 }
  const read = async (start: number): Promise<Page<number>> => {
    counts.read += 1
    const end = Math.min(start + size, total)
    return { data: Array.from({ length: end - start }, (_, index) => start + index), next: end < total ? () => read(end) : undefined }
  }
  return { list: new List(() => read(0)), counts }
}

t.test('a List of 10,000 items reads each page only when the one before it is used up', async (t) => {
  const { list, counts } = aList(10_000, 100)
  let [count, furthestAhead] = [0, 0]
  for await (const item of list) {
    if (item !== count) t.fail(`item ${item} at place ${count}`)
    count += 1
    furthestAhead = Math.max(furthestAhead, counts.read * 100 - item)
  }
  t.equal(count, 10_000)
  t.equal(counts.read, 100)
  t.ok(furthestAhead <= 100, `never more than one page ahead: ${furthestAhead} items`)
})

t.test('a List holds at most two pages, whatever its length', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const pages: WeakRef<readonly object[]>[] = []
  const read = async (): Promise<Page<object>> => {
    const data = Array.from({ length: 100 }, () => ({}))
    pages.push(new WeakRef(data))
    return { data, next: pages.length < 100 ? read : undefined }
  }
  let [count, most] = [0, 0]
  for await (const _ of new List(read)) {
    count += 1
    if (count % 500 !== 0) continue
    await new Promise((resolve) => setImmediate(resolve))
    collect()
    most = Math.max(most, pages.filter((page) => page.deref() !== undefined).length)
  }
  t.equal(count, 10_000)
  t.ok(most <= 2, `${most} pages held`)
})

t.test('a List stops reading when the loop ends early', async (t) => {
  const { list, counts } = aList(1_000, 10)
  for await (const item of list) if (item === 12) break
  t.equal(counts.read, 2)
})

t.test('a List reads on after empty pages', async (t) => {
  const second = async () => ({ data: [1], next: undefined })
  const list = new List<number>(async () => ({ data: [], next: async () => ({ data: [], next: second }) }))
  t.strictSame(await list.toArray(), [1])
})

t.test('each iteration of a List starts at the first page', async (t) => {
  const { list, counts } = aList(25, 10)
  t.equal((await list.toArray()).length, 25)
  t.equal((await list.toArray()).length, 25)
  t.equal(counts.read, 6)
})

t.test('a List hands out its pages', async (t) => {
  const sizes: number[] = []
  for await (const page of aList(25, 10).list.pages()) sizes.push(page.length)
  t.strictSame(sizes, [10, 10, 5])
})

t.test('a List rejects with the error of its page', async (t) => {
  const list = new List<number>(async () => ({ data: [1], next: () => Promise.reject(new Error('gone')) }))
  const seen: number[] = []
  const iterate = async () => {
    for await (const item of list) seen.push(item)
  }
  await t.rejects(iterate(), { message: 'gone' })
  t.strictSame(seen, [1])
})
