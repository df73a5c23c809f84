import t from 'tap'
import { attemptMilliseconds, CaptureOrder, Identity, SignedRequest } from '../../../../crds/src/dispatch/dispatch.ts'
import type { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import { NOON } from '../../../support/fakes/builders.ts'

const cases: { name: string; options: CaptureOptions | undefined; milliseconds: number }[] = [
  { name: 'the default timeout and what surrounds it', options: undefined, milliseconds: 98_000 },
  { name: 'no wait for visual stability', options: { stabilityTimeout: 0 }, milliseconds: 90_000 },
  { name: 'the longer wait for visual stability of a comparison', options: { compareTo: `scr_${'0'.repeat(26)}` }, milliseconds: 105_000 },
  { name: 'a timeout of its own', options: { timeout: 1_000 }, milliseconds: 69_000 },
  { name: 'a delay', options: { delay: 5_000 }, milliseconds: 103_000 },
  { name: 'a tall picture', options: { fullPage: true }, milliseconds: 148_000 },
  { name: 'the tallest picture', options: { fullPage: true, fullPageMaxHeight: 50_000 }, milliseconds: 188_000 },
  { name: 'a picture with a time of its own', options: { fullPage: true, captureTimeout: 5_000 }, milliseconds: 73_000 },
  { name: 'each selector that is waited for', options: { waitForSelector: '#a', click: '#b', timeout: 10_000 }, milliseconds: 98_000 },
  { name: 'the default video of 150 frames', options: { format: 'mp4' }, milliseconds: 128_000 },
  { name: 'the longest video', options: { format: 'webm', videoDuration: 120 }, milliseconds: 668_000 },
  { name: 'the longest waits', options: { timeout: 180_000, delay: 60_000, waitForSelector: '#a', click: '#b' }, milliseconds: 668_000 },
]
for (const { name, options, milliseconds } of cases) {
  t.test(`attemptMilliseconds leaves room for ${name}`, async (t) => t.equal(attemptMilliseconds(options), milliseconds))
}

t.test('attemptMilliseconds leaves room for a run that later ones are compared with, and is never more than 15 minutes', async (t) => {
  t.equal(attemptMilliseconds(undefined, true), 105_000)
  t.equal(attemptMilliseconds({ timeout: 10_000_000 }), 900_000)
})

const order = {
  uid: 'u',
  name: 'scr-1',
  namespace: 'default',
  accountName: 'default',
  attempt: 1,
  url: 'https://example.com/',
  upload: { url: 'http://minio/x', headers: { 'if-none-match': '*' }, maxBytes: 1 },
  deadline: NOON.getTime(),
}
const identity = {
  publicKey: { kty: 'OKP', crv: 'X25519', x: 'abc' },
  token: 't',
  sandbox: { chromiumSandbox: true, jail: true, detail: '' },
  version: '0.1.0',
}

t.test('CaptureOrder accepts a valid order and refuses incomplete ones', async (t) => {
  t.ok(CaptureOrder.safeParse(order).success)
  t.ok(CaptureOrder.safeParse({ ...order, options: { format: 'png' } }).success)
  const bad = [{ attempt: 0 }, { uid: undefined }, { upload: undefined }, { deadline: 1.5 }, { options: { nonsense: 1 } }]
  for (const change of bad) t.notOk(CaptureOrder.safeParse({ ...order, ...change }).success, JSON.stringify(change))
})

t.test('Identity accepts only X25519 keys', async (t) => {
  t.ok(Identity.safeParse(identity).success)
  t.notOk(Identity.safeParse({ ...identity, publicKey: { kty: 'OKP', crv: 'Ed25519', x: 'abc' } }).success)
  t.notOk(Identity.safeParse({ ...identity, publicKey: { kty: 'RSA', n: 'x', e: 'y' } }).success)
})

t.test('SignedRequest limits the length of the id that a runner stores', async (t) => {
  const signed = { method: 'POST', path: '/captures', sha256: 'x', jti: 'u/1' }
  t.ok(SignedRequest.safeParse(signed).success)
  t.notOk(SignedRequest.safeParse({ ...signed, jti: 'x'.repeat(129) }).success)
})
