import t from 'tap'
import { derivedId } from '../../../../crds/src/identifiers/ids.ts'
import { digestOf, hasOwnName, isRestored, readNamedRecord } from '../../../../crds/src/records/named-record.ts'
import { aScreenshot, at, completedStatus, NOON } from '../../../support/fakes/builders.ts'

const options = { fullPage: true, format: 'png' } as const

t.test('digestOf is equal for equal specs, in whatever order their fields are', async (t) => {
  const one = digestOf(aScreenshot({ spec: { accountName: 'default', options } }))
  t.match(one, /^[0-9a-f]{64}$/)
  t.equal(digestOf(aScreenshot({ name: 'x', spec: { options: { format: 'png', fullPage: true } } })), one, 'default is the default account')
  t.not(digestOf(aScreenshot({ spec: { accountName: 'acme', options } })), one)
  t.not(digestOf(aScreenshot({ spec: { options: { ...options, fullPage: false } } })), one)
  t.not(digestOf(aScreenshot({ spec: { options, externalIdentifier: 'x' } })), one)
})

t.test('hasOwnName tells names of people from those of the programs', async (t) => {
  t.equal(hasOwnName(aScreenshot()), false)
  t.equal(hasOwnName(aScreenshot({ name: 'home' })), true)
})

t.test('isRestored does not hold for a record of a runner', async (t) => {
  const restoredFrom = derivedId('scr', NOON, 'a')
  t.equal(isRestored({ status: completedStatus({ restoredFrom, attempt: 0 }) }), true)
  t.equal(isRestored({ status: completedStatus({ restoredFrom, attempt: 1 }) }), false)
  t.equal(isRestored({ status: completedStatus() }), false)
  t.equal(isRestored({}), false)
})

t.test('readNamedRecord treats other texts as absent', async (t) => {
  const named = { version: 1, id: derivedId('scr', NOON, 'a'), digest: 'a'.repeat(64) }
  t.strictSame(readNamedRecord(JSON.stringify(named), at(1)), named)
  for (const text of ['', '{}', JSON.stringify({ ...named, id: '../x' }), JSON.stringify({ ...named, digest: 'a' })]) {
    t.equal(readNamedRecord(text, at(1)), 'content')
  }
  t.equal(readNamedRecord(JSON.stringify(named), at(-200_000)), 'time')
})
