import t from 'tap'
import { KubeKeys } from '../../../../../api-gateway/src/resources/keys/kube-keys.ts'
import { silentLog } from '../../../../../crds/client/log.ts'
import { keyHash, newKeyText } from '../../../../../crds/src/crypto/key-text.ts'
import { apiKeyIdOf, newId } from '../../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../../crds/src/identifiers/names.ts'
import { anAccount } from '../../../../support/fakes/builders.ts'
import { sendJson, startScriptedServer } from '../../../crds/client/scripted-server.ts'
import { anApiKey, NOW } from '../../fakes.ts'

// A gateway that has just started, with empty caches. The API server still has a deleted key and a deleted Account, because finalizers keep them.

const deletionTimestamp = NOW.toISOString()
const text = newKeyText()
const made = anApiKey(text, { accountName: 'acme' }, toObjectName(newId('key', NOW)))
const key = { ...made, metadata: { ...made.metadata, deletionTimestamp } }
const account = anAccount({ name: 'acme', metadata: { deletionTimestamp } })

t.test('a deleted key was found in the API server when the index was empty, and its requests used up the lookups of others', async (t) => {
  const { http, exchanges } = await startScriptedServer(t, ({ path, response }) => {
    if (path.endsWith('/apikeys')) sendJson(response, { metadata: { resourceVersion: '9' }, items: [key] })
    else sendJson(response, path.includes('/accounts/') ? account : key)
  })
  const keys = new KubeKeys({ http, log: silentLog, metrics: {} })
  // As in the replica that deleted them: late events must not restore them.
  keys.keys.noteDeleted(key)
  keys.accounts.noteDeleted(account)
  for (let count = 0; count < 30; count++) {
    t.strictSame(await keys.findByHash(keyHash(text)), [])
    t.equal(await keys.findById(apiKeyIdOf(key.metadata)), undefined)
    t.equal(await keys.findAccount('acme'), undefined)
  }
  t.equal(exchanges.length, 4, 'a list for each label, one key, one account')
})
