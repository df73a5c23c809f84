import t from 'tap'
import { mergeRecords } from '../../../../../api-gateway/src/resources/screenshots/list-page.ts'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import { aScreenshot } from '../../fakes.ts'

const shot = (n: number, place: string): Screenshot =>
  aScreenshot({ id: newId('scr', new Date(Date.UTC(2026, 10, 21, 10, n)), Buffer.alloc(10, n)), url: `https://${place}.example/${n}` })

async function merged(live: readonly number[], archived: readonly number[], order: 'asc' | 'desc' = 'desc'): Promise<string[]> {
  async function* archive() {
    for (const n of archived) yield shot(n, 'a')
  }
  const seen: string[] = []
  const records = mergeRecords(
    live.map((n) => shot(n, 'l')),
    archive(),
    order,
  )
  for await (const { spec } of records) seen.push(`${spec.url.slice(8, 9)}${spec.url.split('/').at(-1)}`)
  return seen
}

const cases: [string, number[], number[], string[]][] = [
  ['nothing', [], [], []],
  ['live alone', [3, 2], [], ['l3', 'l2']],
  ['archived alone', [], [3, 2], ['a3', 'a2']],
  ['both, newest first', [9, 5, 1], [7, 5, 3], ['l9', 'a7', 'l5', 'a3', 'l1']],
  ['one in both once, the live one', [5], [5], ['l5']],
]
for (const [what, live, archived, wanted] of cases) {
  t.test(`mergeRecords gives ${what}`, async (t) => t.strictSame(await merged(live, archived), wanted))
}

t.test('mergeRecords gives both, oldest first, when they come so', async (t) => {
  t.strictSame(await merged([1, 5, 9], [3, 5, 7], 'asc'), ['l1', 'a3', 'l5', 'a7', 'l9'])
})
