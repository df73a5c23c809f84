import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { LinkKeyFile } from '../../../../api-gateway/src/store/link-key-file.ts'
import { silentLog } from '../../../../crds/client/log.ts'
import { newLinkKey } from '../../../../crds/src/crypto/link-secret.ts'

t.test('LinkKeyFile starts without the file, and reads it when it appears', async (t) => {
  const [file, key] = [path.join(t.testdir(), 'key.json'), newLinkKey()]
  const source = new LinkKeyFile(file, silentLog)
  await source.start()
  t.throws(() => source.current(), { code: 'SERVICE_UNAVAILABLE' })
  await writeFile(file, JSON.stringify(key))
  while (!source.isLoaded) await new Promise((resolve) => setTimeout(resolve, 50))
  t.strictSame(source.current(), key)
  source.stop()
})
