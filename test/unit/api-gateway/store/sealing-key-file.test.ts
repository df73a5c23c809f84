import path from 'node:path'
import t from 'tap'
import { SealingKeyFile } from '../../../../api-gateway/src/store/sealing-key-file.ts'
import { silentLog } from '../../../../crds/client/log.ts'
import { newOpeningKey, toSealingKey } from '../../../../crds/src/crypto/sealed.ts'

t.test('SealingKeyFile keeps only the public key of any valid file', async (t) => {
  const key = newOpeningKey('k1')
  const source = new SealingKeyFile(path.join(t.testdir({ 'public.json': JSON.stringify(key) }), 'public.json'), silentLog)
  t.throws(() => source.current(), { code: 'SERVICE_UNAVAILABLE' })
  await source.start()
  t.strictSame(source.current(), toSealingKey(key))
  source.stop()
})
