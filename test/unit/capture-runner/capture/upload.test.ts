import t from 'tap'
import { upload } from '../../../../capture-runner/src/capture/upload.ts'
import { eventually } from '../../../support/eventually.ts'
import { BUFFERED_BYTES, startEndlessServer } from '../../../support/servers/endless-server.ts'

t.test('upload reads at most a few KiB of an endless response', async (t) => {
  for (const [status, outcome] of [
    ['200 OK', { fileSizeBytes: 7 }],
    ['403 Forbidden', { code: 'STORAGE_FAILED' }],
  ] as const) {
    const server = await startEndlessServer(t, `HTTP/1.1 ${status}\r\netag: "a"\r\n\r\n`, 'x')
    const stored = upload(Buffer.from('picture'), { url: `${server.url}/1.png`, headers: {}, maxBytes: 100 }, AbortSignal.timeout(60_000))
    if ('code' in outcome) await t.rejects(stored, outcome)
    else t.match(await stored, outcome)
    await eventually('the client closed the connection', async () => server.closed() === 1)
    t.ok(server.bytes() < BUFFERED_BYTES, `${server.bytes()} bytes were taken`)
  }
})
