import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { applyChanges } from '../../../../crds/storage/follow-changes.ts'
import { startHttpsReceiver } from '../../../support/servers/https-receiver.ts'

const log = pino({ level: 'silent' })
const directory = await mkdtemp(path.join(tmpdir(), 'tintype-follow-'))
t.teardown(() => rm(directory, { recursive: true, force: true }))

/** Replaces the files of a volume as the kubelet does. */
function mount(volume: string, version: number, files: Record<string, string>): void {
  const target = path.join(volume, `..${version}`)
  mkdirSync(target, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(target, name), text)
  symlinkSync(target, path.join(volume, '..new'))
  renameSync(path.join(volume, '..new'), path.join(volume, '..data'))
}

t.test('keys of a changed Secret are used without a restart, also by those who have the object already', async (t) => {
  const volume = path.join(directory, 'keys')
  const [requests, signer] = [
    { accessKey: 'old', secretKey: 'old-secret' },
    { accessKey: 'sign', secretKey: 'sign-secret' },
  ]
  const files = { 'access-key': 'old', 'secret-key': 'old-secret', 'signer-access-key': 'sign', 'signer-secret-key': 'sign-secret' }
  mount(volume, 1, files)
  applyChanges({ directory: volume, keys: [requests], signer, log }, undefined)
  t.strictSame([requests.accessKey, signer.accessKey], ['old', 'sign'])
  mount(volume, 2, { ...files, 'access-key': 'new\n', 'secret-key': 'new-secret', 'signer-secret-key': 'changed' })
  applyChanges({ directory: volume, keys: [requests], signer, log }, undefined)
  t.strictSame(requests, { accessKey: 'new', secretKey: 'new-secret' })
  t.strictSame(signer, { accessKey: 'sign', secretKey: 'changed' })
  mount(volume, 3, { ...files, 'access-key': '' })
  applyChanges({ directory: volume, keys: [requests], log }, undefined)
  t.equal(requests.accessKey, 'new', 'an empty key changes nothing')
})

t.test('a store with a certificate of a new authority is reached without a restart', async (t) => {
  const receiver = await startHttpsReceiver({ directory: path.join(directory, 'authority') })
  t.teardown(() => receiver.close())
  const caFile = path.join(directory, 'ca.crt')
  writeFileSync(caFile, '')
  const last = applyChanges({ keys: [], caFile, log }, undefined)
  await t.rejects(fetch(receiver.url))
  writeFileSync(caFile, receiver.ca)
  t.equal(applyChanges({ keys: [], caFile, log }, last), receiver.ca)
  t.equal((await fetch(receiver.url)).status, 200)
})
