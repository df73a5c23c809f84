import { createHmac } from 'node:crypto'
import t from 'tap'
import { hexSignature, newSigningSecret, standardSignature } from '../../../../crds/src/crypto/webhook-signature.ts'

t.test('newSigningSecret returns a prefix and 33 random bytes in base64 without padding', async (t) => {
  const secret = newSigningSecret()
  t.match(secret, /^whsec_[A-Za-z0-9+/]{44}$/)
  t.equal(Buffer.from(secret.slice(6), 'base64').length, 33)
  t.not(newSigningSecret(), secret)
})

t.test('hexSignature uses the whole text of the secret as key', async (t) => {
  const expected = createHmac('sha256', Buffer.from('whsec_abc', 'utf8')).update('{"a":1}').digest('hex')
  t.equal(hexSignature('{"a":1}', 'whsec_abc'), expected)
  t.equal(hexSignature(Buffer.from('{"a":1}'), 'whsec_abc'), expected)
  t.match(expected, /^[0-9a-f]{64}$/)
})

// The example of the library tests in https://github.com/standard-webhooks/standard-webhooks.
t.test('standardSignature matches the Standard Webhooks specification', async (t) => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const signature = standardSignature('{"test": 2432232314}', secret, 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330)
  t.equal(signature, 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  t.equal(standardSignature('{"test": 2432232314}', secret.slice(6), 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330), signature)
})

t.test('standardSignature uses the text as key if it is not base64', async (t) => {
  const secret = 'a secret, that I made: up?'
  const expected = createHmac('sha256', secret).update('evt_1.1.{}').digest('base64')
  t.equal(standardSignature('{}', secret, 'evt_1', 1), `v1,${expected}`)
})

t.test('the two signatures of one secret have different keys', async (t) => {
  const secret = newSigningSecret()
  const hex = Buffer.from(hexSignature('evt_1.1.{}', secret), 'hex').toString('base64')
  t.not(standardSignature('{}', secret, 'evt_1', 1), `v1,${hex}`)
})
