import t from 'tap'
import { RetryableError } from '../../../../../operator/src/controller-runtime/errors.ts'
import { Charges } from '../../../../../operator/src/controllers/quota/charges.ts'
import { aScreenshot } from '../../../../support/fakes/builders.ts'

const shot = (uid: string) => aScreenshot({ name: `mine-${uid}`, metadata: { uid }, spec: { accountName: 'acme' } })

t.test('Charges charges a Screenshot once, however often it is requested', async (t) => {
  const asked: string[] = []
  const charges = new Charges()
  charges.onRequest = (account) => asked.push(account)
  const outcomes = [charges.request(shot('a')), charges.request(shot('a')), charges.request(shot('b'))]
  const pending = charges.pendingOf('acme')
  t.match(pending, [
    { uid: 'a', name: 'mine-a' },
    { uid: 'b', name: 'mine-b' },
  ])
  charges.resolve('acme', pending[0]!, 'charged')
  charges.resolve('acme', pending[1]!, 'quota')
  t.strictSame(await Promise.all(outcomes), ['charged', 'charged', 'quota'])
  t.strictSame(charges.pendingOf('acme'), [])
  t.strictSame(asked, ['acme', 'acme', 'acme'])
})

t.test('Charges rejects all pending charges at the end of the term', async (t) => {
  const charges = new Charges()
  const outcome = charges.request(shot('a'))
  charges.rejectAll()
  await t.rejects(outcome, RetryableError)
  t.strictSame(charges.pendingOf('acme'), [])
})
