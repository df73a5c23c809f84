import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { installClient } from '../clients/package.ts'
import { cluster } from '../support/cluster/environment.ts'
import { decode, isNear } from '../support/picture.ts'
import { page } from '../support/servers/pages.ts'

// The packed TypeScript client against the deployed service, whose runners capture real pages.

const installed = await installClient()
t.teardown(() => installed.remove())
const { CaptureFailedError, Tintype } = await installed.load()
const tintype = new Tintype({ baseUrl: cluster.url, apiKey: cluster.apiKey })
const small = { viewport_width: 400, viewport_height: 300 }
const RED = [255, 0, 0, 255]
const LIME = [0, 255, 0, 255]

t.test('the client captures a page to a file', async (t) => {
  const file = path.join(installed.directory, 'page.png')
  const { bytes, screenshot } = await tintype.capture({ url: page('/quadrants'), ...small })
  await writeFile(file, bytes)
  const picture = await decode(await readFile(file))
  t.strictSame([picture.format, picture.width, picture.height], ['png', 400, 300])
  t.ok(isNear(picture.at(10, 10), RED) && isNear(picture.at(390, 10), LIME))
  t.match(screenshot, { status: 'completed', file_size_bytes: bytes.length, width: 400, height: 300 })
})

t.test('the client streams a file and reads an artifact', async (t) => {
  const { stream, screenshot } = await tintype.captureStream({ url: page('/quadrants'), ...small, format: 'webp', save_html: true })
  const picture = await decode(Buffer.from(await new Response(stream).arrayBuffer()))
  t.equal(picture.format, 'webp')
  t.match(new TextDecoder().decode(await tintype.screenshots.download(screenshot.id, { artifact: 'html' })), /<html/i)
})

t.test('the client rejects with the reason of a failed capture', async (t) => {
  const error = await tintype
    .capture({ url: page('/quadrants'), ...small, wait_for_selector: '#nothing', timeout: 1_000 })
    .catch((reason) => reason)
  t.ok(error instanceof CaptureFailedError, String(error))
  t.match(error, { code: 'CAPTURE_FAILED', screenshot: { status: 'failed', error: { code: error.captureCode } } })
})

t.test('the client waits for a batch, and reads its files', async (t) => {
  const created = await tintype.batches.create({ urls: [page('/quadrants'), page('/dark')], ...small })
  const progress: number[] = []
  const batch = await tintype.batches.wait(created.batch_id, { onProgress: ({ pending }) => progress.push(pending) })
  t.equal(batch.completed, 2)
  t.equal(progress.at(-1), 0)
  for (const { id, file_size_bytes } of batch.screenshots) t.equal((await tintype.screenshots.download(id)).length, file_size_bytes)
})
