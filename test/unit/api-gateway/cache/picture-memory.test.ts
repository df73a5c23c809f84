import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import t from 'tap'
import { type Picture, PictureMemory } from '../../../../api-gateway/src/cache/find-picture.ts'
import { NOW } from '../fakes.ts'

const KIBIBYTE = 1_024
const MEBIBYTE = 1_024 * KIBIBYTE

/** A memory over files that all have the given content. It counts reads. */
function aMemory({ maxBytes = 10 * MEBIBYTE, content = Buffer.from('a picture') }: { maxBytes?: number; content?: Buffer } = {}) {
  let at = NOW
  const reads = { find: 0, open: 0 }
  const files = {
    content: content as Buffer | undefined | Error,
    async open(): Promise<Readable | undefined> {
      reads.open++
      if (this.content instanceof Error) throw this.content
      return this.content && Readable.from([this.content])
    },
  }
  const memory = new PictureMemory({ maxBytes, files, now: () => at })
  const picture: Picture = { id: 'scr_1', key: 'a', stored: { sizeBytes: content.length, etag: 'abc', lastModified: NOW }, capturedAt: NOW }
  const get = async (hash = 'a', changes: Partial<Picture> = {}) =>
    memory.get(hash, async () => {
      reads.find++
      return { ...picture, ...changes }
    })
  const later = (milliseconds: number): void => {
    at = new Date(at.getTime() + milliseconds)
  }
  return { memory, files, get, later, reads, picture, content }
}

/** A response whose client reads slowly. */
const aResponse = (destroyed = false) => Object.assign(new EventEmitter(), { destroyed }) as unknown as ServerResponse

t.test('PictureMemory reads the bucket once for concurrent requests, and again after three seconds', async (t) => {
  const { get, later, reads, content } = aMemory()
  for (const picture of await Promise.all([get(), get(), get()])) t.strictSame(picture?.bytes, content)
  later(2_999)
  t.strictSame((await get())?.bytes, content)
  t.strictSame(reads, { find: 1, open: 1 })
  later(1)
  await get()
  t.strictSame(reads, { find: 2, open: 2 })
})

t.test('PictureMemory counts the three seconds from the beginning of the read', async (t) => {
  const { memory, get, later, reads, picture } = aMemory()
  await memory.get('a', async () => {
    later(2_000)
    return picture
  })
  later(1_000)
  await get()
  t.equal(reads.find, 1)
})

t.test('PictureMemory reads again after the clock was set back', async (t) => {
  const { get, later, reads } = aMemory()
  await get()
  later(-1)
  await get()
  t.equal(reads.find, 2)
})

t.test('PictureMemory forgets a picture at the end of its retention', async (t) => {
  const { get, later, reads } = aMemory()
  await get('a', { keptUntil: new Date(NOW.getTime() + 1_000) })
  later(999)
  await get()
  t.equal(reads.find, 1)
  later(1)
  await get()
  t.equal(reads.find, 2)
})

t.test('PictureMemory remembers neither errors nor the absence of a picture', async (t) => {
  const { memory, get, content } = aMemory()
  const fail = () => memory.get('a', () => Promise.reject(new Error('store unavailable')))
  await t.rejects(Promise.all([fail(), fail()]), /store unavailable/)
  t.equal(await memory.get('a', async () => undefined), undefined)
  t.strictSame((await get())?.bytes, content)
})

t.test('PictureMemory leaves files above one mebibyte in the bucket', async (t) => {
  const least = aMemory({ content: Buffer.alloc(MEBIBYTE) })
  t.equal((await least.get())?.bytes?.length, MEBIBYTE)
  const above = aMemory({ content: Buffer.alloc(MEBIBYTE + 1) })
  t.match(await above.get(), { id: 'scr_1', bytes: undefined })
  await above.get()
  t.strictSame(above.reads, { find: 2, open: 0 })
})

t.test('PictureMemory leaves a file in the bucket that differs from its size or cannot be read', async (t) => {
  const { memory, get, files, reads } = aMemory()
  for (const content of [Buffer.from('a'), Buffer.from('a longer picture'), undefined, new Error('store unavailable')]) {
    files.content = content
    t.match(await get(), { id: 'scr_1', bytes: undefined })
  }
  t.strictSame(reads, { find: 4, open: 4 })
  t.equal(memory.heldBytes, 0)
})

t.test('PictureMemory keeps the pictures that were used last, within its limit', async (t) => {
  const { get, reads } = aMemory({ maxBytes: 250 * KIBIBYTE, content: Buffer.alloc(100 * KIBIBYTE) })
  for (const hash of ['a', 'b', 'a', 'c', 'a']) await get(hash)
  t.equal(reads.find, 3)
  await get('b')
  t.equal(reads.find, 4, 'b has made room for c')
})

t.test('PictureMemory without bytes keeps nothing', async (t) => {
  const { get, reads } = aMemory({ maxBytes: 0 })
  for (let count = 0; count < 2; count++) t.match(await get(), { id: 'scr_1', bytes: undefined })
  t.strictSame(reads, { find: 2, open: 0 })
})

t.test('PictureMemory leaves pictures in the bucket while slow clients hold as many bytes as it may have', async (t) => {
  const { memory, get } = aMemory({ maxBytes: 250 * KIBIBYTE, content: Buffer.alloc(100 * KIBIBYTE) })
  const responses = [aResponse(), aResponse(), aResponse()]
  const [a, b] = [(await get('a'))!.bytes!, (await get('b'))!.bytes!]
  memory.hold(a, responses[0]!)
  memory.hold(a, responses[1]!)
  memory.hold(b, responses[2]!)
  t.equal(memory.heldBytes, 200 * KIBIBYTE, 'two responses share one picture')
  t.equal((await get('c'))?.bytes, undefined)
  responses[0]!.emit('close')
  t.equal(memory.heldBytes, 200 * KIBIBYTE)
  responses[1]!.emit('close')
  responses[2]!.emit('close')
  t.equal(memory.heldBytes, 0)
  t.ok((await get('c'))?.bytes)
})

t.test('PictureMemory does not count a response whose client has left', async (t) => {
  const { memory, content } = aMemory()
  memory.hold(content, aResponse(true))
  t.equal(memory.heldBytes, 0)
})
