import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { type Content, hashOf, sizeOfContent, streamOf } from '../../../../capture-runner/src/runtime/content.ts'

const bytes = Buffer.from('the bytes of a file')
const file = join(t.testdir(), 'video.mp4')
writeFileSync(file, bytes)

for (const [where, content] of [
  ['in memory', bytes],
  ['on disk', { file, bytes: bytes.length }],
] as [string, Content][]) {
  t.test(`content ${where} has its size, its bytes, more than once, and its hash`, async (t) => {
    const { signal } = new AbortController()
    t.equal(sizeOfContent(content), 19)
    for (const _ of [1, 2]) t.strictSame(await buffer(streamOf(content)), bytes)
    t.equal(await hashOf(content, 'md5', signal), 'f201023c128c77f8d2186ba8cfce4d1b')
    t.equal(await hashOf(content, 'sha256', signal), '0f599b9451f725bfe1eb79476b36417380d4c36212d2644b43685e53d70ceb2e')
  })
}

t.test('hashOf fails for a file that is gone', async (t) => {
  await t.rejects(hashOf({ file: join(t.testdirName, 'none'), bytes: 1 }, 'md5', new AbortController().signal), { code: 'ENOENT' })
})
