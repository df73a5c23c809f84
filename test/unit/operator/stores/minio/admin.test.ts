import t from 'tap'
import { putPolicy } from '../../../../../operator/src/stores/minio/admin.ts'
import { eventually } from '../../../../support/eventually.ts'
import { BUFFERED_BYTES, startEndlessServer } from '../../../../support/servers/endless-server.ts'

t.test('MinIO calls read only the start of an endless error response', async (t) => {
  const server = await startEndlessServer(t, 'HTTP/1.1 403 Forbidden\r\n\r\n', 'no ')
  const root = { endpoint: server.url, region: 'us-east-1', accessKey: 'root', secretKey: 'secret' }
  await t.rejects(putPolicy(root, 'gateway', {}), {
    reason: 'StorageRefused',
    message: /responded with 403 to add-canned-policy: (no ){150}/,
  })
  await eventually('the client closed the connection', async () => server.closed() === 1)
  t.ok(server.bytes() < BUFFERED_BYTES, `${server.bytes()} bytes were taken`)
})
