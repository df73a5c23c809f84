import t from 'tap'
import { SegmentCache } from '../../../../api-gateway/src/archive/segment-cache.ts'
import { readSegment } from '../../../../crds/src/records/archive.ts'

const text = (id: string): string => `{"id":"scr_${id.padEnd(26, '0')}","v":1}\n`
const put = (cache: SegmentCache, key: string, content: string) => cache.set(key, content, readSegment(content))

t.test('SegmentCache forgets what was asked for longest ago once it is full', async (t) => {
  const bytes = Buffer.byteLength(text('a'))
  const cache = new SegmentCache(2 * bytes)
  for (const key of ['a', 'b']) put(cache, key, text(key))
  t.equal(cache.get('a')?.[0]?.id, `scr_${'a'.padEnd(26, '0')}`)
  put(cache, 'c', text('c'))
  t.equal(cache.get('b'), undefined)
  t.ok(cache.get('a') && cache.get('c'))
  t.equal(cache.bytes, 2 * bytes)
})

t.test('SegmentCache counts a segment that is set again once', async (t) => {
  const cache = new SegmentCache(10_000)
  for (let i = 0; i < 3; i++) put(cache, 'a', text('a'))
  t.equal(cache.bytes, Buffer.byteLength(text('a')))
})

t.test('SegmentCache gives the lines of a segment that is too large to be kept', async (t) => {
  const cache = new SegmentCache(1)
  t.equal(put(cache, 'a', text('a') + text('b')).length, 2)
  t.equal(cache.bytes, 0)
})
