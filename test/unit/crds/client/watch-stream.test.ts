import t from 'tap'
import { type MalformedWatchError, readWatchEvents } from '../../../../crds/client/watch-stream.ts'
import { aThing, type Thing } from './scripted-server.ts'

const line = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`
async function read(chunks: (string | Uint8Array)[]): Promise<{ seen: string[]; error?: unknown }> {
  const seen: string[] = []
  const body = (async function* () {
    for (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
  })()
  try {
    for await (const events of readWatchEvents<Thing>(body))
      seen.push(...events.map(({ object: { metadata } }) => `${metadata.name}@${metadata.resourceVersion}`))
    return { seen }
  } catch (error) {
    return { seen, error }
  }
}

t.test('readWatchEvents finds the same events for all chunk boundaries', async (t) => {
  const text = Buffer.from(line('ADDED', aThing('ä–€😀', 1)) + line('MODIFIED', aThing('b', 2)) + line('DELETED', aThing('c', 3)))
  const differing: number[] = []
  for (let size = 1; size <= text.length; size++) {
    const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, n) => text.subarray(n * size, (n + 1) * size))
    const { seen, error } = await read(chunks)
    if (error || seen.join() !== 'ä–€😀@1,b@2,c@3') differing.push(size)
  }
  t.strictSame(differing, [])
})

t.test('readWatchEvents drops an incomplete last line', async (t) => {
  t.strictSame(await read([line('ADDED', aThing('a', 1)), line('ADDED', aThing('b', 2)).slice(0, 20)]), { seen: ['a@1'] })
})

t.test('readWatchEvents yields the events before a malformed line', async (t) => {
  for (const bad of [
    '{"type":"ADD\n',
    '[]\n',
    'null\n',
    '{"type":"NEWS","object":{"metadata":{"resourceVersion":"9"}}}\n',
    '{"type":"ADDED","object":{}}\n',
  ]) {
    const { seen, error } = await read([line('ADDED', aThing('a', 1)) + bad + line('ADDED', aThing('b', 2))])
    t.strictSame(seen, ['a@1'], bad)
    t.equal((error as MalformedWatchError).name, 'MalformedWatchError', bad)
  }
})

t.test('readWatchEvents throws the error of an ERROR event', async (t) => {
  const { seen, error } = await read([
    line('ADDED', aThing('a', 1)) + line('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' }),
  ])
  t.strictSame(seen, ['a@1'])
  t.match(error, { name: 'KubeError', status: 410, reason: 'Expired', message: 'the watch ended: too old' })
})
