import { createCipheriv, createDecipheriv, pbkdf2Sync } from 'node:crypto'
import t from 'tap'
import { encryptForMinio } from '../../../../../operator/src/stores/minio/encryption.ts'

const open = (key: Buffer, nonce: Buffer, sealed: Buffer, associated: Buffer): string => {
  const cipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 })
  cipher.setAAD(associated).setAuthTag(sealed.subarray(-16))
  return Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]).toString()
}

t.test('encryptForMinio arranges its parts as MinIO expects them', async (t) => {
  const sealed = encryptForMinio('root password', '{"secretKey":"s"}')
  t.equal(sealed.length, 32 + 1 + 8 + '{"secretKey":"s"}'.length + 16)
  t.equal(sealed[32], 2, 'PBKDF2 with AES-GCM')
})

t.test('encryptForMinio produces a text that only the same key opens', async (t) => {
  const sealed = encryptForMinio('root password', 'text')
  const read = (password: string) => {
    const key = pbkdf2Sync(password, sealed.subarray(0, 32), 8_192, 32, 'sha256')
    // The tag of an empty text of fragment 0 is associated with every fragment; the last one is marked.
    const nonce = (sequence: number) => Buffer.concat([sealed.subarray(33, 41), Buffer.of(sequence, 0, 0, 0)])
    const binding = sealTag(key, nonce(0))
    return open(key, nonce(1), sealed.subarray(41), Buffer.concat([Buffer.of(0x80), binding]))
  }
  t.equal(read('root password'), 'text')
  t.throws(() => read('another'))
})

t.test('encryptForMinio never produces the same bytes twice', async (t) => {
  t.notSame(encryptForMinio('k', 'text'), encryptForMinio('k', 'text'))
})

t.test('encryptForMinio rejects a text that needs more than one fragment', async (t) => {
  t.throws(() => encryptForMinio('k', 'x'.repeat(16_385)), RangeError)
})

function sealTag(key: Buffer, nonce: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.final()
  return cipher.getAuthTag()
}
