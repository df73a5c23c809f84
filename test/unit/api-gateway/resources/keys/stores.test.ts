import t from 'tap'
import { KubeKeys, LastUsedTimes, WRITE_EVERY_MILLISECONDS } from '../../../../../api-gateway/src/resources/keys/kube-keys.ts'
import { KubeError } from '../../../../../crds/client/kube-error.ts'
import { Store } from '../../../../../crds/client/lister.ts'
import { silentLog } from '../../../../../crds/client/log.ts'
import type { Patch } from '../../../../../crds/client/resource.ts'
import { keyHash, newKeyText } from '../../../../../crds/src/crypto/api-keys.ts'
import { apiKeyIdOf, newId } from '../../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../../crds/src/identifiers/names.ts'
import type { ApiKey } from '../../../../../crds/src/kinds/api-key.ts'
import { anAccount, anApiKey, at } from '../../../../support/fakes/builders.ts'
import { sendJson, startScriptedServer } from '../../../crds/client/scripted-server.ts'
import { anApiKey as aHashedKey, NOW } from '../../fakes.ts'

const iso = (second: number) => at(second).toISOString()

/** Uses over a copy of keys, and an API server that keeps what is written. */
function aDesk(...keys: ApiKey[]) {
  const lister = new Store<ApiKey>()
  for (const key of keys) lister.set(key)
  const written: string[] = []
  let failure: unknown
  const patch = async (name: string, { body }: Patch) => {
    if (failure !== undefined) throw failure
    const { status } = body as { status: { lastUsedTime: string } }
    written.push(`${name} ${status.lastUsedTime}`)
    return { ...lister.get(`default/${name}`)!, status }
  }
  const observe = (key: ApiKey) => void lister.set(key)
  const uses = new LastUsedTimes({ store: { patch }, keys: { lister, noteWritten: observe }, log: silentLog })
  const fail = (error: unknown) => {
    failure = error
  }
  return { uses, written, lister, fail }
}

t.test('LastUsedTimes writes the first use, and the next ones when ten minutes are over', async (t) => {
  const key = anApiKey({ name: 'ci' })
  const { uses, written } = aDesk(key)
  for (const second of [0, 1, 2]) uses.note(key, at(second))
  await uses.flush(WRITE_EVERY_MILLISECONDS)
  for (const second of [60, 602]) {
    uses.note(key, at(second))
    await uses.flush(WRITE_EVERY_MILLISECONDS)
  }
  t.strictSame(written, [`ci ${iso(2)}`], 'ten minutes are not over')
  uses.note(key, at(603))
  await uses.flush(WRITE_EVERY_MILLISECONDS)
  t.strictSame(written, [`ci ${iso(2)}`, `ci ${iso(603)}`])
})

t.test('LastUsedTimes leaves a use to the end that another replica has written shortly before', async (t) => {
  const key = anApiKey({ name: 'ci', status: { lastUsedTime: iso(0) } })
  const { uses, written } = aDesk(key)
  uses.note(key, at(30))
  await uses.flush(WRITE_EVERY_MILLISECONDS)
  t.strictSame(written, [])
  await uses.stop()
  t.strictSame(written, [`ci ${iso(30)}`])
})

t.test('LastUsedTimes never writes an older time than another replica', async (t) => {
  const key = anApiKey({ name: 'ci', status: { lastUsedTime: iso(60) } })
  const { uses, written } = aDesk(key)
  uses.note(key, at(30))
  await uses.stop()
  t.strictSame(written, [])
})

t.test('LastUsedTimes retries failed writes', async (t) => {
  const key = anApiKey({ name: 'ci' })
  const { uses, written, fail } = aDesk(key)
  uses.note(key, at(0))
  fail(new KubeError({ status: 0, reason: 'Refused', message: 'away' }))
  await uses.flush(WRITE_EVERY_MILLISECONDS)
  fail(undefined)
  await uses.flush(WRITE_EVERY_MILLISECONDS)
  t.strictSame(written, [`ci ${iso(0)}`])
})

t.test('LastUsedTimes forgets a key that is gone, and one that has taken its name', async (t) => {
  const [key, namesake] = [anApiKey({ name: 'ci' }), anApiKey({ name: 'ci' })]
  const { uses, written, lister } = aDesk(namesake)
  uses.note(key, at(0))
  uses.note(anApiKey({ name: 'gone' }), at(0))
  await uses.stop()
  t.strictSame(written, [])
  t.equal(lister.size, 1)
})

// A gateway that has just started, with empty caches. The API server still has a deleted key and a deleted Account, because finalizers keep them.

const deletionTimestamp = NOW.toISOString()
const text = newKeyText()
const made = aHashedKey(text, { accountName: 'acme' }, toObjectName(newId('key', NOW)))
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
